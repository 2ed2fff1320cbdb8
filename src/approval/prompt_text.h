// The prompt as lines of text, for a terminal of a given width.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "approval/prompt.h"

namespace hutch::approval {

struct Surroundings {
  std::size_t columns = 80;
  std::size_t others = 0;  // questions that wait behind this one
  std::chrono::seconds left{60};
};

// No line is wider than the terminal. What came out of the sandbox has its control and bidirectional characters spelt
// out.
std::vector<std::string> prompt_lines(const Prompt& prompt, const Surroundings& around);

}  // namespace hutch::approval
