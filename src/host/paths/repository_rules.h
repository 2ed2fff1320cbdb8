// The rules by which the repository of a linked worktree or a submodule comes along into a sandbox.
#pragma once

#include <vector>

#include "host/paths/outer_repository.h"
#include "plan/plan.h"
#include "policy/policy.h"
#include "policy/rules.h"

namespace hutch::host {

struct RepositoryRules {
  std::vector<policy::Rule> rules;
  std::vector<plan::NameRule> names;
};

// What a supervisor of file changes can hold by name, mounts cannot: files that do not exist, and files that git
// outside replaces while the sandbox runs.
enum class HeldBy { kMounts, kNames };

struct RepositoryHold {
  HeldBy by = HeldBy::kMounts;
  policy::GitConfig git_config = policy::GitConfig::kProtected;
};

// Gives no more than `rules`, which are canonical, give of the work tree. There are no rules if the repository stays
// outside: a rule that is not about the work tree hides it, a sandbox made the link to it, or `rules` give it already.
RepositoryRules repository_rules(const OuterRepository& repository, const std::vector<policy::Rule>& rules,
                                 RepositoryHold how);

}  // namespace hutch::host
