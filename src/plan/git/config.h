// What git's configuration of a repository may say without making git run or read anything by it.
#pragma once

#include <cstddef>
#include <string_view>

namespace hutch::plan {

inline constexpr std::size_t kGitConfigBytesMax = 65536;

// Whether `text` (git-config(1)) holds only settings that are known to name no program, no file and no way to transport
// (policy/git/settings.h). Returns false if in doubt. `directory` is the repository's, absolute; empty if unknown, and
// then core.worktree is not harmless.
bool is_harmless_git_config(std::string_view text, std::string_view directory = {});

// The same for config.worktree of one work tree (git-worktree(1)), which says more than the repository's configuration:
// where the user's next push goes, and what it takes, is compared with the user's own settings there alone.
bool is_harmless_worktree_config(std::string_view text, std::string_view directory = {});

}  // namespace hutch::plan
