// What of the user's configuration of git holds in a sandbox that does not see their files: values that say who they
// are and how they work, and that name no program, no file and no password.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/git_obeyed.h"

namespace hutch::policy {

inline constexpr std::size_t kGitValuesBytesMax = 64 << 10;

// A configuration (git-config(1)) of those of `entries`, in their order; empty where there is none. What would make it
// longer than kGitValuesBytesMax is left out.
std::string git_values(std::span<const GitEntry> entries);

// For which repositories a condition of includeIf ("gitdir:~/jobs/") is met: patterns (policy/glob.h) of its directory.
// Nothing for other conditions. `base`: the directory of the file that says it.
std::optional<std::string> included_for(std::string_view condition, std::string_view home, std::string_view base);

}  // namespace hutch::policy
