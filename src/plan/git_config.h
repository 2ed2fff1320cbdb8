// What git's configuration of a repository may say without making git run or read anything by it.
#pragma once

#include <cstddef>
#include <string_view>

namespace hutch::plan {

inline constexpr std::size_t kGitConfigBytesMax = 65536;

// Whether `text` (git-config(1)) holds nothing but settings that are known to name no program, no file and no way to
// transport: what git-init(1), git-clone(1), git-remote(1) and git-branch(1) write. What it is not sure of is not.
bool is_harmless_git_config(std::string_view text);

}  // namespace hutch::plan
