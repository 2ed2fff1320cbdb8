// The files by which a sandbox trusts the authority that opens its TLS.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "plan/trust.h"
#include "wire/inspect.h"

namespace hutch::service {

// Whether the plan has such files, which want their content.
bool wants_trust(const plan::SandboxPlan& plan);
bool wants_java_store(const plan::SandboxPlan& plan);

// The bundle holds what this machine trusts besides, as it is now.
Status fill_trust(plan::SandboxPlan& plan, const wire::InspectReady& trust);

// Which of the files that have to be covered are on this machine; `environment`, "K=V" each, says where Java is.
plan::TrustInput find_trust_stores(const std::vector<std::string>& environment);

}  // namespace hutch::service
