// hutch serve, hutch daemon and hutch mcp.
#pragma once

#include "cli/arguments.h"

namespace hutch::cli {

// The exit code of each.
int serve(const ServeArguments& arguments);
int daemon(const DaemonArguments& arguments);
int mcp(const McpArguments& arguments);

}  // namespace hutch::cli
