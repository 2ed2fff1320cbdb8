// hutch tool.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code.
int tool(const ToolArguments& arguments);

}  // namespace hutch::cli
