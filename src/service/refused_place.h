// Says why a file could not be changed, and what allows it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policy/rules.h"
#include "sandbox/outcome.h"

namespace hutch::service {

// kOption: of the command line, or an entry of the policy. kPolicy: of an agent, by its policy alone.
enum class AllowedBy { kOption, kPolicy };

// Completes what is told of a change of `path`, a path in the sandbox, by the rules of its plan.
std::function<void(sandbox::Refusal& told, const std::string& path)> place_explainer(std::vector<policy::Rule> rules,
                                                                                     AllowedBy by);

}  // namespace hutch::service
