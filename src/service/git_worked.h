// Directories of repositories by what the supervisor of a sandbox says.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"

namespace hutch::service {

// In a mark: a run has changed something in more repositories than the mark names.
inline constexpr std::string_view kAnyPlace = "/";

// The host's path of the file that the sandbox sees at `path`.
std::string host_path(const plan::SandboxPlan& plan, const std::string& path);

// Whether git may take the directory for a repository's, or a linked worktree's. Others may have the same names in
// them.
bool may_be_repository(const std::string& directory);

}  // namespace hutch::service
