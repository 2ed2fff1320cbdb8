// make_plan: policy, rules and facts in, the flat list of steps out. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "plan/path_facts.h"
#include "plan/plan.h"
#include "plan/trust.h"
#include "policy/policy.h"
#include "policy/rules.h"

namespace hutch::plan {

struct PlanInput {
  const policy::Policy& policy;
  const std::vector<policy::Rule>& rules;  // as host::look_at_paths() gives them
  const HostFacts& facts;
  const PathFacts& paths;
  std::string project;                          // canonical
  std::string cwd;                              // canonical; where the command starts
  NetworkKind network = NetworkKind::kNone;
  TrustInput trust{};
  ResourceLimits limits;
  std::vector<std::string> caller_environment;  // "K=V" each
  std::vector<std::string> environment;         // of the command line: "K=V", or "K" to pass the caller's own
  std::string command{};                        // the first word of the command, for a note when it is hidden
};

Result<SandboxPlan> make_plan(const PlanInput& input);

}  // namespace hutch::plan
