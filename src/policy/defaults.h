// What holds without a policy file, and what holds whatever a policy file says.
#pragma once

#include <span>
#include <string_view>

#include "policy/policy.h"

namespace hutch::policy {

// The workspace policy: the project readable and writable, homes hidden, system paths readable, network none.
Policy default_policy();

// The same as a policy file says it: what a file begins as that nobody has written yet.
std::string_view default_policy_text();

// In place of a rule: a mount is read-only there, or lies on the name. The others are for a new name in a directory,
// and say what was to get it; they begin alike.
inline constexpr std::string_view kReadOnlyPlace = "read-only place";
inline constexpr std::string_view kReadOnlyDirectory = "read-only directory";
inline constexpr std::string_view kNoNewFile = "read-only directory, new file";
inline constexpr std::string_view kNoNewDirectory = "read-only directory, new directory";

// How hutch names the rules by which a repository comes along.
inline constexpr std::string_view kRepositoryOfWorktree = "repository of this worktree";
inline constexpr std::string_view kRepositoryOfSubmodule = "repository of this submodule";

// The rule about the configuration of a repository that is not the sandbox's; ": " and a setting may follow.
inline constexpr std::string_view kKeptGitConfig = "built in \".git/config\"";

// Files and directories below a home that hold what lets somebody act as its owner. A path at or below one
// of them is never readable unless an entry of the user names it.
std::span<const std::string_view> credential_paths();

// Names in a ".git" directory that no sandbox may write: through each of them the user's own git could run a command
// later, outside. A directory means its tree. policy/obeyed/obeyed.h has the other names.
std::span<const std::string_view> mandatory_git_names(GitConfig config);

}  // namespace hutch::policy
