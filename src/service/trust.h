// The files by which a sandbox trusts the authority that opens its TLS.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/plan.h"

namespace hutch::service {

// Whether the plan has such files, which want their content.
bool wants_trust(const plan::SandboxPlan& plan);

// `authority` is its certificate, PEM. The bundle holds what this machine trusts besides, as it is now.
Status fill_trust(plan::SandboxPlan& plan, const std::string& authority);

}  // namespace hutch::service
