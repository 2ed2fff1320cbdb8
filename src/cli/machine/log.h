// hutch log: the runs of the past, and what happens from now on.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code: 0, or 125 after one line on standard error.
int log(const LogArguments& arguments);

}  // namespace hutch::cli
