// The parts of a start that every sandbox has.
#include "service/prepare/start.h"

#include "backend/bwrap/bwrap_backend.h"
#include "backend/namespace/namespace_backend.h"
#include "backend/none/none_backend.h"
#include "backend/user/user_backend.h"
#include "backend/vm/vm_backend.h"
#include "base/text.h"
#include "host/machine/cgroups.h"
#include "host/machine/facts.h"
#include "plan/filter/seccomp.h"
#include "service/common/programs.h"
#include "service/prepare/containers.h"
#include "service/prepare/trust.h"
#include "service/vm/files.h"

namespace hutch::service {

Result<std::unique_ptr<backend::Backend>> make_backend(BackendKind kind, std::vector<std::string> bwrap_arguments) {
  if (kind != BackendKind::kBwrap && !bwrap_arguments.empty()) {
    return fail(Error::invalid(cat({"arguments for bwrap have no meaning with backend ", name_of(kind)})));
  }
  switch (kind) {
    case BackendKind::kNone: return std::make_unique<backend::NoneBackend>();
    case BackendKind::kNamespace: return std::make_unique<backend::NamespaceBackend>();
    case BackendKind::kContainer:
      return std::make_unique<backend::container::ContainerBackend>(TRY(container_settings()));
    case BackendKind::kUser: return std::make_unique<backend::UserBackend>();
    case BackendKind::kBwrap:
      return std::make_unique<backend::BwrapBackend>(TRY(bwrap_program()), std::move(bwrap_arguments));
    case BackendKind::kVm: break;
  }
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  return std::make_unique<backend::vm::VmBackend>(TRY(vm_settings(facts)),
                                                  std::make_unique<backend::NamespaceBackend>());
}

Result<Holding> hold_limits(const Prepared& prepared, const plan::HostFacts& facts, host::SharedCgroup* shared) {
  const plan::SandboxPlan& plan = prepared.plan;
  Holding holding;
  if (prepared.backend == BackendKind::kUser && facts.uid != 0) {
    holding.processes_max = plan.limits.processes;
    if (host::wants_cgroup(plan.limits)) holding.by = "hutch-helper";
    return holding;
  }
  if (!plan.mounts.empty() && plan.mounts.front().kind == plan::MountKind::kEngineRoot) {
    holding.by = "the engine";
    return holding;
  }
  plan::ResourceLimits limits = plan.limits;
  // Of the processes in there the machine's kernel knows, and its memory is theirs; the time of QEMU is all they have.
  const bool machine = prepared.backend == BackendKind::kVm;
  if (machine) {
    if (limits.memory_bytes != 0) holding.by = "the machine";
    holding.processes_max = limits.pids != 0 ? limits.pids : limits.processes;
    limits.memory_bytes = limits.pids = limits.processes = 0;
  }
  const bool by_cgroup = facts.uid == 0 && limits.processes != 0;
  if (!by_cgroup && !machine) holding.processes_max = limits.processes;
  if (!by_cgroup && !host::wants_cgroup(limits)) return holding;
  const host::CgroupPlace place = host::find_cgroup_place(facts.uid);
  if (by_cgroup && place.directories.contains(std::string(host::kPids))) limits.pids = limits.processes;
  if (!host::wants_cgroup(limits)) return holding;
  if (place.kind != plan::CgroupKind::kNone) {
    auto made = shared != nullptr ? shared->make(place, limits) : host::Cgroup::make(place, limits);
    holding.cgroup.emplace(TRY_CTX(std::move(made), "set the limits"));
    holding.by = holding.cgroup->kind_name();
    return holding;
  }
  if (limits.cpu_millis != 0) return fail(Error::unsupported(cat({"limit cpus: ", place.note})));
  if (limits.pids != 0) holding.processes_max = limits.pids;
  holding.address_space_max = limits.memory_bytes;
  holding.by = "rlimits";
  return holding;
}

egress::Settings gateway_settings(const Prepared& prepared, const std::string& guest_program) {
  egress::Settings settings;
  settings.network = prepared.policy.network;
  settings.udp = prepared.plan.udp;
  settings.search = prepared.search;
  settings.parents = prepared.parent_proxies;
  settings.inspector_program = inspector_program(guest_program);
  settings.java_store = wants_java_store(prepared.plan);
  if (!prepared.agent.empty()) {
    settings.remedy = cat({"hutch agent allow ", prepared.agent});
    settings.refusals = egress::Settings::Refusals::kEach;
  }
  return settings;
}

}  // namespace hutch::service
