// Backend `none`.
#include "backend/none/none_backend.h"

#include "backend/guest_process.h"

namespace hutch::backend {

Guarantees NoneBackend::guarantees() const {
  return {.holds = {"a clean environment",
                    "the end of the command ends everything that it started, unless a process "
                    "works against that",
                    "limits of memory, processes and time"},
          .open = {"everything else: the command can do whatever the user can"}};
}

Result<Instance> NoneBackend::start(const plan::SandboxPlan& plan, const StartOptions& options) {
  auto started = TRY(spawn_guest(options.guest_program, {"hutch-guest"}, {}, options));
  plan::SandboxPlan open_plan;  // no step of the plan is applied; the guest gets none to apply
  open_plan.uid = plan.uid;
  open_plan.gid = plan.gid;
  open_plan.process_limits = plan.process_limits;  // those that the person's own programs have
  TRY(send_start(started.guest, wire::Isolation::kNone, open_plan, options));
  return Instance{std::move(started.guest), std::move(started.process), Instance::Orphans::kNone, Instance::Plan::kSent,
                  Instance::Ending::kByGuest};
}

}  // namespace hutch::backend
