// Says why a file could not be changed, and what allows it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policy/rules.h"
#include "sandbox/io/outcome.h"

namespace hutch::service {

// Completes what is told of a change of `path`, a path in the sandbox, by the rules of its plan. hutch makes
// directories only in `home`.
std::function<void(sandbox::Refusal& told, const std::string& path)> place_explainer(std::vector<policy::Rule> rules,
                                                                                     sandbox::AllowedBy by,
                                                                                     std::string home);

// Makes one refusal of all that are about the parts of a repository of the user's that the command tried to remove.
void merge_removed_repositories(std::vector<sandbox::Refusal>& refusals, const std::vector<policy::Rule>& rules);

}  // namespace hutch::service
