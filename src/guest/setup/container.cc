// The guest as the first process of an engine's container.
#include "guest/setup/container.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "guest/setup/tree.h"
#include "sys/files/beneath.h"
#include "sys/files/create.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/net/local_socket.h"
#include "sys/process/process.h"

namespace hutch::guest {

namespace {

using plan::MountKind;
using plan::MountStep;

constexpr const char* kPlaceName = ".hutch-place";
constexpr const char* kStreamName = "/.hutch-place/stream";
constexpr std::string_view kSharedMemory = "/dev/shm";

Status check_place();
bool is_own_tmpfs(const plan::SandboxPlan& plan, const MountStep& step);
bool is_own_directory(const plan::SandboxPlan& plan, const MountStep& step);
Status give(int root, const plan::SandboxPlan& plan, const MountStep& step);
Status check_mounts(int root, const plan::SandboxPlan& plan);

}  // namespace

Result<UniqueFd> connect_to_host() {
  TRY(check_place());
  { const UniqueFd unused(0); }
  UniqueFd stream = TRY(sys::connect_local(kStreamName));
  if (stream.get() == 0) return stream;
  return fail(Error::invalid("the stream to the host is not descriptor 0"));
}

Status finish_container(const plan::SandboxPlan& plan) {
  const UniqueFd root = TRY(sys::open_exact("/"));
  TRY(check_mounts(root.get(), plan));
  TRY(verify_tree(plan));
  sys::set_umask(0);
  TRY(make_names(root.get(), plan.mounts));
  sys::set_umask(022);
  for (const MountStep& step : plan.mounts) {
    if (is_own_tmpfs(plan, step) || is_own_directory(plan, step)) TRY_CTX(give(root.get(), plan, step), step.target);
  }
  return {};
}

Status become_commands_user(const plan::SandboxPlan& plan) {
  if (plan.rights == plan::Rights::kImageRoot) return sys::become_namespace_root();
  return sys::become_user(plan.uid, plan.gid);
}

namespace {

// An image may have a link of that name, through which the engine mounts: to where others could listen.
Status check_place() {
  const UniqueFd root = TRY(sys::open_exact("/"));
  const UniqueFd place = TRY(sys::open_beneath(root.get(), kPlaceName, sys::Beneath::kLink));
  if (TRY(sys::is_mount_root(place.get())) && TRY(sys::is_on_read_only_mount(place.get()))) return {};
  return fail({Code::kConflict, 0, "/.hutch-place: the engine has mounted nothing of hutch's there"});
}

// One that is sealed stays root's.
bool is_own_tmpfs(const plan::SandboxPlan& plan, const MountStep& step) {
  const auto seals = [&](const MountStep& other) {
    return other.kind == MountKind::kSeal && other.target == step.target;
  };
  return step.kind == MountKind::kTmpfs && step.target != kSharedMemory && std::ranges::none_of(plan.mounts, seals);
}

// One that an image has, or the engine made on the way to a mount, is the image's.
bool is_own_directory(const plan::SandboxPlan& plan, const MountStep& step) {
  const auto holds = [&](const MountStep& other) {
    return is_own_tmpfs(plan, other) && is_within(step.target, other.target);
  };
  return step.kind == MountKind::kDirectory && std::ranges::any_of(plan.mounts, holds);
}

Status give(int root, const plan::SandboxPlan& plan, const MountStep& step) {
  const UniqueFd directory = TRY(sys::open_beneath(root, step.target.substr(1), sys::Beneath::kListing));
  // What lies on a directory of the host's may have been taken away there meanwhile.
  if (step.kind == MountKind::kTmpfs && !TRY(sys::is_mount_root(directory.get()))) {
    return fail({Code::kConflict, 0, "it was replaced while the sandbox started; start again"});
  }
  TRY(sys::set_mode(directory.get(), step.mode));
  return sys::set_owner(directory.get(), {plan.uid, plan.gid});
}

Status check_mounts(int root, const plan::SandboxPlan& plan) {
  for (const MountStep& step : plan.mounts) {
    const bool mounts =
        step.kind == MountKind::kBind || step.kind == MountKind::kHideFile || step.kind == MountKind::kTmpfs;
    if (!mounts) continue;
    const UniqueFd target = TRY(sys::open_beneath(root, step.target));
    if (!TRY(sys::is_mount_root(target.get()))) {
      return fail({Code::kConflict, 0, cat({step.target, ": the engine has mounted nothing there"})});
    }
    // A volume that the image says is there, for one: of any size, and with what the image has in it.
    if (step.kind == MountKind::kTmpfs && !TRY(sys::is_on_tmpfs(target.get()))) {
      return fail({Code::kConflict, 0, cat({step.target, ": the engine has mounted nothing private there"})});
    }
    const bool read_only =
        step.kind == MountKind::kHideFile || (step.kind == MountKind::kBind && step.access == plan::Access::kReadOnly);
    if (read_only && !TRY(sys::is_on_read_only_mount(target.get()))) {
      return fail({Code::kConflict, 0, cat({step.target, ": the engine has mounted it writable"})});
    }
  }
  return {};
}

}  // namespace

}  // namespace hutch::guest
