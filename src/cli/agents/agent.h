// hutch agent.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code.
int agent(const AgentArguments& arguments);

}  // namespace hutch::cli
