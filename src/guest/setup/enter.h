// Applying a plan: namespaces, the tree of mounts, and the walls that are built from inside.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/plan.h"
#include "sys/process/lockdown.h"

namespace hutch::guest {

// All namespaces but those of cgroups and of the network, with this process's own ids in the new user namespace. Needs
// no plan.
Status enter_namespaces();

// The same without a map of ids, which is for the host to make.
Status enter_unmapped_namespaces();

// Mounts can be restricted further by whoever owns a mount namespace of copies; bubblewrap's own is out of reach
// without capabilities.
Status enter_user_and_mounts();

// Which shows what is below the cgroup that this process is in by then.
Status enter_cgroup_namespace();

// In the new namespaces, as their first process: hostname, loopback, the new root and nothing but it.
// `given` is what came along with the plan.
Status make_place(const plan::SandboxPlan& plan, UniqueFd given);

// For root: the same namespaces but that of users, whose ids are the machine's.
Status enter_namespaces_of_root();

// In there, as their first process: the plan's few mounts over the machine's files. Then this process is the plan's
// user for good, without a capability and without a way to any; of a virtual machine's installation root, with those
// that it takes alone.
Status become_os_user(const plan::SandboxPlan& plan);

// Bounds the counts of the user namespace that this process is in and has the capabilities of. Files of /proc/sys/user
// belong to the namespace of the process that opens them (namespaces(7)).
Status limit_user_counts(const plan::SandboxPlan& plan);

// The same end for a place that bubblewrap made, in namespaces of copies: checks that what it mounted is what was
// planned, and restricts what its options cannot.
Status finish_place(const plan::SandboxPlan& plan);

// No capability but those of the plan's rights, no new privileges, Landlock, not traceable.
Status lock_down(const plan::SandboxPlan& plan, int landlock_abi, sys::SignalScope signals);

}  // namespace hutch::guest
