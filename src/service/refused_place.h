// Says why a file could not be changed, and what allows it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policy/rules.h"
#include "sandbox/outcome.h"

namespace hutch::service {

// Completes what is told of a change of `path`, a path in the sandbox, by the rules of its plan.
std::function<void(sandbox::Refusal& told, const std::string& path)> place_explainer(std::vector<policy::Rule> rules,
                                                                                     sandbox::AllowedBy by);

}  // namespace hutch::service
