// The part of the user's configuration of git that applies in a sandbox without access to their files: values that say
// who they are and how they work, and that name no program, no file and no password.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/git/obeyed.h"

namespace hutch::policy {

inline constexpr std::size_t kGitValuesBytesMax = 64 << 10;

// A configuration (git-config(1)) of the suitable `entries`, in their order; empty if there are none. Entries that
// would make it longer than kGitValuesBytesMax are left out.
std::string git_values(std::span<const GitEntry> entries);

// The repositories for which a condition of includeIf ("gitdir:~/jobs/") is met: a pattern (policy/glob.h) of their
// directories. Nothing for other conditions. `base` is the directory of the file that contains the condition.
std::optional<std::string> included_for(std::string_view condition, std::string_view home, std::string_view base);

}  // namespace hutch::policy
