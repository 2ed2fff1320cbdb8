// Whether this machine lets a place be made at all.
#include "guest/setup/probe.h"

#include "base/text.h"
#include "guest/setup/enter.h"
#include "guest/setup/network.h"
#include "plan/plan.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/process/lockdown.h"
#include "sys/process/process.h"

namespace hutch::guest {

namespace {

plan::SandboxPlan smallest_plan() {
  plan::SandboxPlan plan;
  plan.uid = sys::user_id();
  plan.gid = sys::group_id();
  plan::MountStep step;
  step.kind = plan::MountKind::kTmpfs;
  step.target = "/";
  step.size_bytes = 1 << 20;
  plan.mounts.push_back(step);
  step.make = plan::MakeTarget::kDirectory;
  step.kind = plan::MountKind::kProc;
  step.target = "/proc";
  plan.mounts.push_back(step);
  step.kind = plan::MountKind::kDevices;
  step.target = "/dev";
  plan.mounts.push_back(step);
  plan.read_only_proc = {"sys"};
  plan.landlock.readable = {"/"};
  return plan;
}

int told(const Error& error) {
  (void)sys::write_all(2, cat({error.message, "\n"}));
  return 1;
}

// On standard output; whoever asked finds nothing there where everything works.
Status try_network() {
  const MadeNetwork network = TRY(make_network({}));
  if (network.message.no_capture.empty()) return {};
  return sys::write_all(1, cat({network.message.no_capture, "\n"}));
}

int make_and_lock(const plan::SandboxPlan& plan) {
  const Status connected = try_network();
  if (!connected) return told(connected.error());
  const Status made = make_place(plan, {});
  if (!made) return told(made.error());
  const auto abi = sys::landlock_abi();
  if (!abi) return told(abi.error());
  const Status locked = lock_down(plan, *abi, sys::SignalScope::kWithin);
  return locked ? 0 : told(locked.error());
}

Result<int> try_all() {
  const plan::SandboxPlan plan = smallest_plan();
  TRY(enter_namespaces());
  TRY(enter_cgroup_namespace());
  TRY(sys::enter_new_namespaces(sys::NamespaceSet::kNetwork));
  const pid_t child = TRY(sys::fork_process(sys::Parentage::kOwn));
  if (child == 0) sys::exit_now(make_and_lock(plan));
  const auto ended = TRY(sys::wait_any(sys::Wait::kBlock));
  return ended && ended->status.exited() ? ended->status.exit_code() : 1;
}

}  // namespace

int probe() {
  const auto code = try_all();
  return code ? *code : told(code.error());
}

}  // namespace hutch::guest
