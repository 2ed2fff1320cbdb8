// hutch serve and hutch daemon.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code of each.
int serve(const ServeArguments& arguments);
int daemon(const DaemonArguments& arguments);

}  // namespace hutch::cli
