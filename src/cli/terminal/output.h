// What every verb of the command line says in the same way.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::cli {

// hutch's own failure, as distinct from the command's.
inline constexpr int kOwnFailure = 125;

// To standard output; the exit code.
int print(const std::string& text);

// One line on standard error; the exit code.
int complain(const Error& error);

// A command's own exit code, unless it succeeded and some of its output was lost, which is told: `lost` says why.
int code_with_output(int code, std::string_view lost);

}  // namespace hutch::cli
