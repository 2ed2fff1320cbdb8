// A plan as arguments of bubblewrap. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace hutch::backend {

struct BwrapArguments {
  std::vector<std::string> words;  // all options, without the command
  // What descriptors from `first_file_fd` on have to read as, one for each. Views of the plan.
  std::vector<std::string_view> files;
};

// A path with a NUL byte, or a cover of a file that the plan does not make, is an error.
Result<BwrapArguments> bwrap_arguments(const plan::SandboxPlan& plan, int first_file_fd);

}  // namespace hutch::backend
