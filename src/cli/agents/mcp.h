// hutch mcp.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code.
int mcp(const McpArguments& arguments);

}  // namespace hutch::cli
