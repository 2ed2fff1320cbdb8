// Directories of repositories by what the supervisor of a sandbox says.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/guarded_names.h"
#include "plan/plan.h"
#include "service/common/sandbox_repositories.h"

namespace hutch::service {

struct Prepared;

// In a mark: a run has changed something in more repositories than the mark names.
inline constexpr std::string_view kAnyPlace = "/";

// A sandbox chooses how much a mark has to say.
inline constexpr std::size_t kMarkedBytesMax = 1 << 20;

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

// Where these directories are by now, as far as they lie below `roots` and among the first 200,000 entries.
std::vector<MadeRepository> find_directories(const std::map<plan::RepositoryIdentity, std::string>& wanted,
                                             const std::vector<std::string>& roots);

bool is_within_any(const std::string& path, const std::set<std::string>& directories);

}  // namespace hutch::service
