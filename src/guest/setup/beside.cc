// A guest in the namespaces of a sandbox that runs.
#include "guest/setup/beside.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "guest/setup/tree.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/mount_table.h"
#include "sys/files/mounts.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

constexpr int kBesideUserFd = 3;
constexpr int kBesideMountsFd = 4;

// What lies on it may be the host's, shown there later.
bool is_alone(const std::vector<sys::MountEntry>& table, const std::string& place) {
  const auto lies_there = [&](const sys::MountEntry& mount) { return mount.point == place; };
  const auto found = std::ranges::find_if(table, lies_there);
  return found != table.end() && found->type == "tmpfs" && std::ranges::count_if(table, lies_there) == 1;
}

}  // namespace

// Only a process with CAP_SYS_PTRACE in the user namespace of the init can trace it.
Status enter_running(pid_t init) {
  using enum sys::NamespaceKind;
  const UniqueFd namespaces = TRY(sys::namespaces_of(init));
  if (sys::user_id() == 0) TRY(sys::drop_groups());
  TRY(sys::enter_namespace(kUser, kBesideUserFd));
  std::vector<std::pair<sys::NamespaceKind, UniqueFd>> others;
  for (const auto kind : {kPids, kIpc, kHostname, kCgroup, kNetwork}) {
    others.emplace_back(kind, TRY(sys::namespace_in(namespaces.get(), kind)));
  }
  for (const auto& [kind, other] : others) TRY(sys::enter_namespace(kind, other.get()));
  TRY(sys::enter_namespace(kMounts, kBesideMountsFd));
  return sys::close_from(kBesideUserFd);
}

Status make_own_view(const plan::SandboxPlan& plan) {
  TRY(sys::enter_new_namespaces(sys::NamespaceSet::kMounts));
  TRY(sys::make_all_private());
  const UniqueFd root = TRY(sys::open_exact("/"));
  TRY(sys::restrict_tree(root.get(), "/", {.read_only = true}));
  TRY(sys::allow_writing(root.get(), "/"));
  const UniqueFd list = TRY(sys::open("/proc/self/mountinfo", sys::Open::kRead));
  const auto table = TRY(sys::mount_table(list.get()));
  for (const plan::MountStep& step : plan.mounts) {
    if (step.kind != plan::MountKind::kTmpfs || !is_alone(table, step.target)) continue;
    const UniqueFd own = TRY(sys::open_beneath(root.get(), step.target.substr(1)));
    TRY(sys::allow_writing(own.get(), step.target));
  }
  return make_names(root.get(), plan.mounts);
}

}  // namespace hutch::guest
