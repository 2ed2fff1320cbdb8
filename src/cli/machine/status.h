// hutch status: what a sandbox here may do, in a line.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

int status(const StatusArguments& arguments);

}  // namespace hutch::cli
