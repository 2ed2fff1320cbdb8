// Applying a plan: namespaces and the walls that are built from inside.
#include "guest/setup/enter.h"

#include <cerrno>

#include "base/text.h"
#include "guest/setup/tree.h"
#include "plan/setup/os_user.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/mounts.h"
#include "sys/files/tree.h"
#include "sys/process/lockdown.h"
#include "sys/process/process.h"

namespace hutch::guest {

namespace {

// A process may not make user namespaces of its own, whatever a later kernel adds to make them with.
Status forbid_user_namespaces() { return sys::write_file("/proc/sys/user/max_user_namespaces", "0"); }

// What may be read of a device or written to it is for its mode to say; its own mode, owner and times stay as they are.
Status seal_devices() {
  const UniqueFd devices = TRY(sys::open_exact("/dev"));
  const UniqueFd tree = TRY(sys::clone_tree(devices.get(), "/dev"));
  TRY(sys::restrict_tree(tree.get(), "/dev", {.read_only = true}));
  return sys::attach(tree.get(), devices.get(), "/dev");
}

// Looked at by whoever is that user already: root's `service init` writes the marker, and then looks for such
// processes. One of the two finds the other.
Status check_is_no_daemons(std::uint32_t user) {
  if (!TRY(sys::status_of(plan::daemon_marker(user)))) return {};
  return fail({Code::kConflict, 0, "hutch's daemon is that user by now (hutch service init)"});
}

}  // namespace

Status limit_user_counts(const plan::SandboxPlan& plan) {
  for (const plan::UserCount& count : plan.user_counts) {
    TRY(sys::write_file(cat({"/proc/sys/user/", count.name}), std::to_string(count.most)));
  }
  return {};
}

Status enter_namespaces() {
  const std::uint32_t uid = sys::user_id();
  const std::uint32_t gid = sys::group_id();
  TRY(enter_unmapped_namespaces());
  return sys::map_ids(uid, gid);
}

Status enter_unmapped_namespaces() {
  if (sys::user_id() == 0) TRY(sys::drop_groups());
  return sys::enter_new_namespaces(sys::NamespaceSet::kMost);
}

Status enter_user_and_mounts() {
  const std::uint32_t uid = sys::user_id();
  const std::uint32_t gid = sys::group_id();
  TRY(sys::enter_new_namespaces(sys::NamespaceSet::kUserAndMounts));
  return sys::map_ids(uid, gid);
}

Status enter_cgroup_namespace() { return sys::enter_new_namespaces(sys::NamespaceSet::kCgroup); }

Status make_place(const plan::SandboxPlan& plan, UniqueFd given) {
  TRY(sys::set_hostname(plan.hostname));
  sys::set_umask(0);
  TRY_CTX(build_tree(plan, std::move(given)), "build the root");
  sys::set_umask(022);
  TRY(forbid_user_namespaces());
  TRY(limit_user_counts(plan));
  return restrict_proc(plan);
}

Status enter_namespaces_of_root() {
  TRY(sys::enter_new_namespaces(sys::NamespaceSet::kMostButUser));
  // Without a user namespace of their own mounts are shared with the machine's (mount_namespaces(7)).
  return sys::make_all_private();
}

Status become_os_user(const plan::SandboxPlan& plan) {
  TRY(sys::set_hostname(plan.hostname));
  const UniqueFd root = TRY(sys::open_exact("/"));
  TRY_CTX(seal_devices(), "/dev");
  sys::set_umask(0);
  TRY(add_mounts_over_host(root.get(), plan.mounts));
  TRY(restrict_proc(plan));
  if (plan.rights == plan::Rights::kImageRoot) {
    sys::set_umask(022);
    TRY(sys::keep_only_install_rights());
  } else {
    // Files that it makes where its group is the other side's are for both.
    sys::set_umask(002);
    TRY_CTX(sys::become_user(plan.uid, plan.gid, plan.groups), "become the OS user");
    TRY(check_is_no_daemons(plan.uid));
  }
  // After that: whoever becomes another user is not told of its parent's death any more (prctl(2), PR_SET_PDEATHSIG).
  TRY(sys::die_with_parent());
  TRY(sys::no_new_privileges());
  return sys::not_dumpable();
}

Status finish_place(const plan::SandboxPlan& plan) {
  TRY_CTX(verify_tree(plan), "check what bwrap mounted");
  TRY(seal_mounts(plan));
  TRY(restrict_devices());
  // For root, bubblewrap has covered /proc/sys read-only, and this process cannot remove the cover. Only the filter
  // then forbids user namespaces (BwrapBackend::guarantees); serve_network() bounds the counts from outside, where
  // there is a network to make.
  TRY(limit_terminals());
  const Status forbidden = forbid_user_namespaces();
  if (!forbidden && forbidden.error().sys_errno != EROFS) return forbidden;
  if (forbidden) TRY(limit_user_counts(plan));
  return restrict_proc(plan);
}

Status lock_down(const plan::SandboxPlan& plan, int landlock_abi, sys::SignalScope signals) {
  switch (plan.rights) {
    case plan::Rights::kNone: TRY(sys::drop_capabilities()); break;
    case plan::Rights::kImageRoot: TRY(sys::keep_only_install_rights()); break;
    case plan::Rights::kFileServer: TRY(sys::keep_only_change_of_root()); break;
  }
  TRY(sys::no_new_privileges());
  TRY(sys::enter_landlock(landlock_abi, plan.landlock.readable, plan.landlock.writable, signals));
  return sys::not_dumpable();
}

}  // namespace hutch::guest
