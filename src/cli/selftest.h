// hutch selftest: the attacks that hutch has to hold.
#pragma once

#include "cli/arguments.h"

namespace hutch::cli {

// Becomes the program that runs the attacks. Returns only where that failed: an exit code.
int selftest(const SelftestArguments& arguments);

}  // namespace hutch::cli
