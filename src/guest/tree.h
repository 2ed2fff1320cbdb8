// The tree of mounts of a plan: building it, and checking one that somebody else built.
#pragma once

#include "base/result.h"
#include "plan/plan.h"

namespace hutch::guest {

// Makes every mount of the plan and leaves the process in them, the old root gone.
Status build_tree(const plan::SandboxPlan& plan);

// Whether every bind of the plan shows the file that was planned.
Status verify_tree(const plan::SandboxPlan& plan);

// The devices of /dev work, but their names, modes and times cannot be changed.
Status restrict_devices();

// The plan's names in /proc become read-only or unreadable.
Status restrict_proc(const plan::SandboxPlan& plan);

}  // namespace hutch::guest
