// hutch events.
#pragma once

#include "cli/options/host_arguments.h"

namespace hutch::cli {

// The exit code.
int events(const EventsArguments& arguments);

}  // namespace hutch::cli
