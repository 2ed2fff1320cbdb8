// Directories of repositories by what the supervisor of a sandbox says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace hutch::service {

struct Prepared;
class SandboxRepositories;

// In a mark: a run has changed something in more repositories than the mark names.
inline constexpr std::string_view kAnyPlace = "/";

// The host's path of the file that the sandbox sees at `path`.
std::string host_path(const plan::SandboxPlan& plan, const std::string& path);

// And the sandbox's path of what the host has there.
std::string sandbox_path(const plan::SandboxPlan& plan, const std::string& path);

// The paths that a run may write, as the host has them.
std::vector<std::string> written_of(const Prepared& prepared);

// Of them the directories of a repository that has come along in which the run writes as it likes. Those of the main
// work tree and of other worktrees belong to whoever works there meanwhile. A supervisor lets no link be made in the
// shared ones.
std::vector<std::string> outer_directories(const Prepared& prepared);

// The agent's own directories, which the host has at other paths than the sandbox.
std::vector<plan::MountStep> agents_own_places(const Prepared& prepared);

// Gives the plan what it has to know of repositories that earlier sandboxes made, or worked in.
void add_known_repositories(Prepared& prepared, const SandboxRepositories& made);

// Whether git may take the directory for a repository's, or a linked worktree's. Others may have the same names in
// them.
bool may_be_repository(const std::string& directory);

}  // namespace hutch::service
