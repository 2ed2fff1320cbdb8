// hutch ps, logs, attach, wait and kill.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code.
int process(const ProcessArguments& arguments);

}  // namespace hutch::cli
