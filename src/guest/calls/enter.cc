// How the access supervisor gets into the sandbox, and at its supervised mounts.
#include "guest/calls/enter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/process/process.h"

namespace hutch::guest {

namespace {

// In the order of wire::Supervise.
constexpr int kTreeFd = 4;
constexpr int kUserFd = 5;
constexpr int kMountsFd = 6;
constexpr int kRootsFd = 10;  // behind them the sources

// No directory can be renamed that has a mount on it, or lies on a read-only one (rename(2): EBUSY, EROFS). A
// supervised one is read-only for the sandbox, and changed by the supervisor.
Places::Mount::Above what_is_above(int root, const std::string& target,
                                   const std::vector<wire::SupervisedMount>& supervised) {
  using enum Places::Mount::Above;
  for (std::size_t end = target.rfind('/'); end != 0 && end != std::string::npos; end = target.rfind('/', end - 1)) {
    const std::string above = target.substr(0, end);
    const auto holds = [&](const wire::SupervisedMount& mount) { return is_within(above, mount.target); };
    const auto found = sys::resolve_plain(root, above.substr(1));
    if (!found || std::ranges::any_of(supervised, holds)) return kMovable;
    const bool held = sys::is_mount_root(found->get()).value_or(false);
    if (!held && !sys::is_on_read_only_mount(found->get()).value_or(false)) return kMovable;
  }
  return kFixed;
}

// Without a root that was given, one that is not where it was planned is not found, and nothing is changed in it.
Result<std::vector<Places::Mount>> find_mounts(const std::vector<wire::SupervisedMount>& supervised, Given given) {
  const UniqueFd root = TRY(sys::open_exact("/"));
  std::vector<Places::Mount> mounts;
  for (std::size_t i = 0; i < supervised.size(); ++i) {
    const wire::SupervisedMount& planned = supervised[i];
    Places::Mount& mount = mounts.emplace_back(Places::Mount{.target = planned.target, .source = planned.source});
    mount.outside = std::move(given.sources[i]);
    Result<UniqueFd> found = std::move(given.roots[i]);
    if (!*found) found = sys::resolve_plain(root.get(), planned.target == "/" ? "." : planned.target.substr(1));
    const auto what = found ? sys::look_at(found->get()) : Result<sys::Resolved>(sys::Resolved());
    const plan::Identity& wanted = planned.identity;
    if (!found || !what || !TRY(sys::is_mount_root(found->get()))) continue;
    if (wanted != plan::Identity{} && wanted != plan::Identity{what->device, what->inode}) continue;
    mount.root = std::move(*found);
    mount.id = what->mount;
    mount.what = *what;
    mount.above = what_is_above(root.get(), planned.target, supervised);
  }
  return mounts;
}

}  // namespace

// The guest of the sandbox opened the roots before its command began, so nobody in it had moved one. The host opened
// the sources among its mounts, where a directory shows its name and what is above it.
Given take_given(const std::vector<wire::SupervisedMount>& supervised, HasRoots has_roots) {
  Given given{std::vector<UniqueFd>(supervised.size()), std::vector<UniqueFd>(supervised.size()), kRootsFd};
  if (has_roots == HasRoots::kYes) {
    for (UniqueFd& root : given.roots) root = UniqueFd(given.end++);
  }
  for (std::size_t i = 0; i < supervised.size(); ++i) {
    const bool is_held = supervised[i].descriptor == wire::SupervisedMount::Descriptor::kHeld;
    if (is_held) given.sources[i] = UniqueFd(given.end++);
  }
  return given;
}

Result<Places> enter_sandbox(const std::vector<wire::SupervisedMount>& supervised, Given given) {
  UniqueFd proc = TRY(sys::open("/proc", sys::Open::kPath));
  if (sys::user_id() == 0) TRY(sys::drop_groups());
  TRY(sys::enter_namespace(sys::NamespaceKind::kUser, kUserFd));
  TRY(sys::enter_namespace(sys::NamespaceKind::kMounts, kMountsFd));
  TRY(sys::stay_in(proc.get()));
  TRY(sys::keep_only_tracing_and_network());
  TRY(sys::no_new_privileges());
  TRY(sys::not_dumpable());
  UniqueFd(kUserFd).reset();
  UniqueFd(kMountsFd).reset();
  UniqueFd descriptors = TRY(sys::own_descriptors(proc.get()));
  return Places(UniqueFd(kTreeFd), std::move(proc), std::move(descriptors),
                TRY(find_mounts(supervised, std::move(given))));
}

}  // namespace hutch::guest
