// Applying a plan: namespaces and the walls that are built from inside.
#include "guest/enter.h"

#include <cerrno>

#include "base/text.h"
#include "guest/tree.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/lockdown.h"
#include "sys/mounts.h"
#include "sys/process.h"

namespace hutch::guest {

namespace {

// A process may not make user namespaces of its own, whatever a later kernel adds to make them with.
Status forbid_user_namespaces() { return sys::write_file("/proc/sys/user/max_user_namespaces", "0"); }

}  // namespace

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
  return restrict_proc(plan);
}

Status finish_place(const plan::SandboxPlan& plan) {
  TRY_CTX(verify_tree(plan), "check what bwrap mounted");
  TRY(seal_mounts(plan));
  TRY(restrict_devices());
  // For root bubblewrap has covered /proc/sys read-only, and the cover cannot be lifted in here: the filter alone then
  // forbids them (BwrapBackend::guarantees).
  const Status forbidden = forbid_user_namespaces();
  if (!forbidden && forbidden.error().sys_errno != EROFS) return forbidden;
  return restrict_proc(plan);
}

Status lock_down(const plan::SandboxPlan& plan, int landlock_abi) {
  TRY(plan.rights == plan::Rights::kNone ? sys::drop_capabilities() : sys::keep_only_install_rights());
  TRY(sys::no_new_privileges());
  TRY(sys::enter_landlock(landlock_abi, plan.landlock.readable, plan.landlock.writable));
  return sys::not_dumpable();
}

}  // namespace hutch::guest
