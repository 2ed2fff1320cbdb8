// hutch memory.
#pragma once

#include "cli/options/host_arguments.h"

namespace hutch::cli {

// The exit code.
int memory(const MemoryArguments& arguments);

}  // namespace hutch::cli
