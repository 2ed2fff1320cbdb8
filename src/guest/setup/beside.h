// A guest in the namespaces of a sandbox that runs: root of its image beside the agent's own processes.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "plan/plan.h"

namespace hutch::guest {

// The user and mount namespaces of that sandbox are descriptors 3 and 4; from this one on nothing is needed.
inline constexpr int kBesideFirstFree = 5;

// Moves this process, with every capability over it, into the namespaces of the sandbox whose init `init` is, by the
// number that this process knows it by. In its pid namespace are the children alone (setns(2)).
Status enter_running(pid_t init);

// Mounts of its own, which show what the sandbox shows and may be written where the image is, and in the plan's own
// tmpfs alone: no file of the host, and no device or setting of the kernel. Makes the plan's directories.
Status make_own_view(const plan::SandboxPlan& plan);

}  // namespace hutch::guest
