// Which system calls the filter of a plan judges.
#include "service/common/filter.h"

#include "base/text.h"
#include "host/machine/cgroups.h"
#include "plan/filter/seccomp.h"

namespace hutch::service {

namespace {

// Refused if rlimits hold the memory limit for each process, because nothing else would bound such memory.
plan::UnmappedMemory unmapped_memory_of(const Prepared& prepared, const plan::HostFacts& facts) {
  if (!policy::traits_of(prepared.backend).guest_mounts || prepared.plan.limits.memory_bytes == 0)
    return plan::UnmappedMemory::kAllow;
  const bool by_rlimits = host::find_cgroup_place(facts.uid).kind == plan::CgroupKind::kNone;
  return by_rlimits ? plan::UnmappedMemory::kRefuse : plan::UnmappedMemory::kAllow;
}

// The rights of a VM's files, and of an OS user's, are worth nothing to anybody else.
plan::SetIds set_ids_of(const Prepared& prepared) {
  return policy::traits_of(prepared.backend).file_rules && prepared.plan.rights != plan::Rights::kImageRoot
             ? plan::SetIds::kRefuse
             : plan::SetIds::kAllow;
}

plan::Serving serving_of(const plan::SandboxPlan& plan, const plan::HostFacts& facts) {
  if (plan.rights != plan::Rights::kFileServer) return plan::Serving::kNothing;
  return facts.uid == 0 ? plan::Serving::kFiles : plan::Serving::kFilesOfPerson;
}

Status put_filter(plan::SandboxPlan& plan, const plan::HostFacts& facts, plan::UnmappedMemory memory,
                  plan::SetIds set_ids) {
  const auto architecture = plan::architecture_of(facts.architecture);
  if (!architecture) return fail(Error::unsupported(cat({"no system call table for ", facts.architecture})));
  const bool beside = plan.supervisor == plan::Supervisor::kBeside;
  const bool supervised = !plan.supervised.empty();
  const bool asks = plan.questions != plan::FileQuestions::kNone;
  const bool looks = plan.questions == plan::FileQuestions::kAll;
  const bool alone = plan.rights == plan::Rights::kImageRoot && plan.ids.kind == plan::IdMap::Kind::kOne;
  plan.seccomp = plan::compile_seccomp(
      {.architecture = *architecture,
       .af_unix = beside ? plan::AfUnix::kSupervised : plan::AfUnix::kNotify,
       .file_changes = supervised || asks ? plan::FileChanges::kNotify : plan::FileChanges::kAllow,
       .file_looks = looks ? plan::FileLooks::kNotify : plan::FileLooks::kAllow,
       .owners = alone ? plan::Owners::kPretended : plan::Owners::kReal,
       .serving = serving_of(plan, facts),
       .unmapped_memory = memory,
       .set_ids = set_ids});
  return {};
}

}  // namespace

Status add_filter(Prepared& prepared, const plan::HostFacts& facts) {
  return put_filter(prepared.plan, facts, unmapped_memory_of(prepared, facts), set_ids_of(prepared));
}

Status add_filter(plan::SandboxPlan& plan, const plan::HostFacts& facts) {
  return put_filter(plan, facts, plan::UnmappedMemory::kAllow, plan::SetIds::kAllow);
}

}  // namespace hutch::service
