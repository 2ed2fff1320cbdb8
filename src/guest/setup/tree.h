// The tree of mounts of a plan: building it, and checking one that somebody else built.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/plan.h"

namespace hutch::guest {

// Makes every mount of the plan, of which `given` is the one that came along with it, and leaves the process in them,
// the old root gone.
Status build_tree(const plan::SandboxPlan& plan, UniqueFd given);

// Makes further mounts in the tree whose root `root` is.
Status add_mounts(int root, std::span<const plan::MountStep> steps);

// The same in the machine's own tree, where one of the mounts may lie over the source of another.
Status add_mounts_over_host(int root, std::span<const plan::MountStep> steps);

// A mount that hides what `step` says, attached nowhere.
Result<UniqueFd> make_cover(const plan::MountStep& step);

// Likewise one with something in it: all that the steps make at the target of the first one, which lies where it is
// seen in the tree whose root `root` is. Its binds show what was at their sources before; what was not is left out.
Status add_cover(int root, std::span<const plan::MountStep> steps);

// The names of the steps that no mount is made for: directories, links, files, accounts.
Status make_names(int root, std::span<const plan::MountStep> steps);

// A directory or file at `target`, for a mount to lie on, in one of the file systems that `own` are the roots of: they
// are the sandbox's own, and sealed. Somewhere else nothing is made: EROFS.
Result<UniqueFd> make_mount_point(int root, const std::string& target, plan::MakeTarget make,
                                  std::span<const std::string> own);

// Removes one again.
Status remove_mount_point(int root, const std::string& target, std::span<const std::string> own);

// Whether every bind of the plan shows the file that was planned.
Status verify_tree(const plan::SandboxPlan& plan);

// Whether every mount that hides or protects a file of the host's, or one of /proc, lies where it was planned. A name
// that is replaced or removed outside loses the mounts that lie on it, in every mount namespace (rename(2), unlink(2)).
// In what is `hidden` by now it may be gone.
Status check_covers(const plan::SandboxPlan& plan, std::span<const std::string> hidden = {});

// The same, and a descriptor on which poll(2) tells when a mount changes from then on (proc_pid_mountinfo(5)).
Result<UniqueFd> watch_covers(const plan::SandboxPlan& plan);

// What the plan seals becomes read-only, in a tree that somebody else built. Mounts that were read-only when a user
// namespace took them over would stay so for ever (mount_namespaces(7)), and no mount point could be made there later.
Status seal_mounts(const plan::SandboxPlan& plan);

// The devices of /dev work, but their names, modes and times cannot be changed.
Status restrict_devices();

// Limits the terminals that /dev/pts holds to a sandbox's share.
Status limit_terminals();

// The plan's names in /proc become read-only or unreadable.
Status restrict_proc(const plan::SandboxPlan& plan);

}  // namespace hutch::guest
