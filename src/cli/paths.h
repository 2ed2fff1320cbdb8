// hutch paths.
#pragma once

#include "cli/arguments.h"

namespace hutch::cli {

// The exit code.
int paths(const PathsArguments& arguments);

}  // namespace hutch::cli
