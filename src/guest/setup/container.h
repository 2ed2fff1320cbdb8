// The guest as the first process of an engine's container: what the engine leaves open.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/plan.h"

namespace hutch::guest {

// The stream to the host as descriptor 0, by the name that the host left for it.
Result<UniqueFd> connect_to_host();

// As root of the container, before anything else runs in it: the names that the plan has beside its mounts, the owners
// of what is the commands' own, and whether every mount is as it was planned.
Status finish_container(const plan::SandboxPlan& plan);

// Becomes the user of the commands, with no capability left.
Status become_commands_user(const plan::SandboxPlan& plan);

}  // namespace hutch::guest
