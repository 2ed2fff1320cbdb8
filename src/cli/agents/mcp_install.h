// hutch mcp install, remove and list: hutch in the configuration of its clients.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code.
int mcp_install(const McpArguments& arguments);

}  // namespace hutch::cli
