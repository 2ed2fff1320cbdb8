// hutch selftest: the attacks that hutch must withstand.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// Executes the program that runs the attacks. Returns an exit code only if that failed.
int selftest(const SelftestArguments& arguments);

}  // namespace hutch::cli
