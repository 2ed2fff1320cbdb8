// hutch exec and hutch shell.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code.
int exec(const ExecArguments& arguments);

}  // namespace hutch::cli
