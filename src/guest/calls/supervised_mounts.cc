// The mounts whose changes a supervisor makes.
#include "guest/calls/supervised_mounts.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/mount_table.h"
#include "sys/files/mounts.h"
#include "wire/access.h"

namespace hutch::guest {

namespace {

constexpr sys::MountFlags kSupervised = {.read_only = true, .no_devices = true};

bool has_own_below(const plan::SandboxPlan& plan, const std::string& target);
bool came_along(const plan::SandboxPlan& plan, const std::string& target, const std::string& point);
Status restrict_what_came_along(int root, const plan::SandboxPlan& plan, const std::string& target);

}  // namespace

Result<UniqueFd> split_off_writable(const plan::SandboxPlan& plan) {
  const UniqueFd root = TRY(sys::open_exact("/"));
  UniqueFd copy = TRY(sys::clone_tree(root.get(), "/"));
  for (const std::string& target : plan.supervised) {
    const UniqueFd mount = TRY(sys::open_beneath(root.get(), target));
    // With the host's own mounts below it. Mounts of the sandbox's own stay as they are: then each for itself.
    if (!has_own_below(plan, target)) {
      TRY(sys::restrict_tree(mount.get(), target, kSupervised));
      continue;
    }
    TRY(sys::restrict_mount(mount.get(), target, kSupervised));
    TRY(restrict_what_came_along(root.get(), plan, target));
  }
  return copy;
}

Result<std::vector<UniqueFd>> open_supervised(const plan::SandboxPlan& plan) {
  std::vector<UniqueFd> roots;
  if (plan.supervised.size() > wire::kSupervisedRootsMax) return roots;
  const UniqueFd root = TRY(sys::open_exact("/"));
  for (const std::string& target : plan.supervised) roots.push_back(TRY(sys::open_beneath(root.get(), target)));
  return roots;
}

namespace {

bool has_own_below(const plan::SandboxPlan& plan, const std::string& target) {
  return std::ranges::any_of(plan.mounts, [&](const plan::MountStep& step) {
    return step.target != target && step.kind != plan::MountKind::kBind && is_within(step.target, target);
  });
}

// Nothing that the plan puts further down has the mount in it.
bool came_along(const plan::SandboxPlan& plan, const std::string& target, const std::string& point) {
  if (point == target || !is_within(point, target)) return false;
  return std::ranges::none_of(plan.mounts, [&](const plan::MountStep& step) {
    return step.target != target && is_within(step.target, target) && is_within(point, step.target);
  });
}

Status restrict_what_came_along(int root, const plan::SandboxPlan& plan, const std::string& target) {
  const UniqueFd list = TRY(sys::open("/proc/self/mountinfo", sys::Open::kRead));
  for (const sys::MountEntry& mount : TRY(sys::mount_table(list.get()))) {
    if (!came_along(plan, target, mount.point)) continue;
    const auto top = sys::open_beneath(root, mount.point);
    // Below another mount, or in a directory that is closed to the guest, and so to what it starts.
    const int why = top ? 0 : top.error().sys_errno;
    if (why == ENOENT || why == ENOTDIR || why == EACCES) continue;
    if (!top) return fail(top.error());
    // With those that lie on each other at one place the last one is opened; what is below them nobody reaches.
    if (TRY(sys::is_mount_root(top->get()))) TRY(sys::restrict_mount(top->get(), mount.point, kSupervised));
  }
  return {};
}

}  // namespace

}  // namespace hutch::guest
