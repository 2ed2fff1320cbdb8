// The environment of a command: variables that a person's programs expect, and those of the policy and the command
// line.
#pragma once

#include <string>
#include <vector>

#include "plan/make/make_plan.h"

namespace hutch::plan {

// "K=V" each, sorted by name. A name that no program could have, or "K" that the caller does not have, is an error.
Result<std::vector<std::string>> plan_environment(const PlanInput& input);

// PWD, unless the policy or the command line sets it. A shell and git take the name of their directory from there.
void add_working_directory(std::vector<std::string>& environment, const std::string& path);

}  // namespace hutch::plan
