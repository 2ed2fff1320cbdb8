// What a sandbox gets of the user's configuration of git.
#pragma once

#include <string>
#include <vector>

#include "host/paths/paths.h"
#include "plan/facts.h"
#include "plan/make/make_plan.h"
#include "service/common/prepared.h"

namespace hutch::service {

// By security.gitBringsCommitted; without settings, or with broken ones, nothing lands.
plan::CommittedFiles committed_files(const plan::HostFacts& facts);

// Files in a command's private home; none for an agent.
std::vector<plan::HomeFile> git_home_files(const plan::HostFacts& facts, const host::PathQuestion& question,
                                           const Caller& caller, plan::CommittedFiles committed);

// An agent's home persists and is the agent's: the user's values lie beside it, as the system's configuration, which
// git reads first. A rule that hides the user's own file leaves the agent without them.
void add_git_of_person(std::vector<plan::CoveredFile>& covered, std::vector<std::string>& environment,
                       const plan::HostFacts& facts, const host::PathQuestion& question, const Caller& caller,
                       plan::CommittedFiles committed);

}  // namespace hutch::service
