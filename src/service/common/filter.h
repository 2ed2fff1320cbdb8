// The filter of system calls of a plan (seccomp(2)).
#pragma once

#include "base/result.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "service/common/prepared.h"

namespace hutch::service {

// The filter of system calls, as the plan is to have it here.
Status add_filter(Prepared& prepared, const plan::HostFacts& facts);

// For a plan that hutch made for itself, with any backend.
Status add_filter(plan::SandboxPlan& plan, const plan::HostFacts& facts);

}  // namespace hutch::service
