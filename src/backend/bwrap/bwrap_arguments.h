// A plan as arguments of bubblewrap. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace hutch::backend {

// All options, without the command. A path with a NUL byte, or a step that bwrap(1) has no option for, is an error.
Result<std::vector<std::string>> bwrap_arguments(const plan::SandboxPlan& plan);

}  // namespace hutch::backend
