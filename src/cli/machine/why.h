// hutch why: what was refused in a run, and by which rule.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

// The exit code: 0, or 125 after one line on standard error.
int why(const WhyArguments& arguments);

}  // namespace hutch::cli
