// What the access supervisor holds of directories that git would take for a repository.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "guest/access_place.h"
#include "plan/git_files.h"

namespace hutch::guest {

// What a call is about to make of a name.
enum class MadeOf { kContent, kNewDirectory, kMoved };

// An error of number EPERM: git would take programs or settings of a sandbox's from there. A directory becomes a
// repository with the last of its parts, and is looked through at that moment; from then on its configuration is
// written as that of a ".git" is.
Status judge_git_name(const Entry& entry, MadeOf what);

// Whether the name is a part of the host's own repository, without which git would look for another one.
bool is_kept_part(const Entry& entry);

// Whether the directory `from`, moved to the name `to`, would take a linked worktree's along.
bool moves_worktrees(const Entry& from, const std::string& to);

// Whether `entry` is the configuration of a repository under any name but ".git".
bool is_config_of_repository(const Entry& entry);

// What such a file is called until then; no rule lets a sandbox write that name.
inline const std::string kUnderwayName = ".gitconfig";

// `name` in `directory` becomes a file of this content that nobody else has open. `flags` of renameat2(2).
Status put_judged(int directory, const std::string& name, std::string_view text, mode_t mode, unsigned flags);

}  // namespace hutch::guest
