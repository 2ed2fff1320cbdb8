// The mounts whose changes a supervisor makes: read-only in the sandbox's own tree, writable in a copy of it.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/plan.h"

namespace hutch::guest {

// A copy of the whole tree, attached nowhere, that can be written where the plan says so. In the tree itself what is
// supervised becomes read-only.
Result<UniqueFd> split_off_writable(const plan::SandboxPlan& plan);
// The roots of the supervised mounts, by O_PATH, before a command could have one moved; none where a message could not
// carry as many.
Result<std::vector<UniqueFd>> open_supervised(const plan::SandboxPlan& plan);

}  // namespace hutch::guest
