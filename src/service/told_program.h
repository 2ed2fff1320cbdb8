// A program of the host's that takes its time: its words go on while it works, the last of them are why it failed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hutch::service {

// Runs it to its end with nothing to read; what it prints on both streams is told a line at a time, made harmless to
// print and of bounded length. An error names the program and its last lines.
Status run_told(const std::string& program, std::vector<std::string> arguments, std::vector<std::string> environment,
                const std::function<void(const std::string& line)>& tell);

}  // namespace hutch::service
