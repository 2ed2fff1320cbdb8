// How the access supervisor protects directories that git would take for a repository.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "guest/places/access_place.h"
#include "plan/git/files.h"
#include "plan/paths/names.h"

namespace hutch::guest {

// The kind of entry that a call would put at a name.
enum class MadeOf { kContent, kNewDirectory, kMoved };

// Fails with EPERM where git would take a sandbox's programs or settings from the directory. A directory becomes a
// repository with the last of its parts, and this function checks the whole directory at that moment. From then on its
// configuration is judged like that of a ".git".
Status judge_git_name(const Entry& entry, MadeOf what);

// As judge_git_name(), for a directory that the host has at another path than the sandbox: `directory` (O_PATH) is at
// `path` there. Only the host's path tells whether it is the "hooks" of a repository.
Status judge_hooks_outside(int directory, std::string_view path, std::string_view name);

// Whether the entry's directory has what makes git take it for a repository.
bool is_repository(const Entry& entry);

// A name that the supervisor is about to make, and whether its directory was a repository before.
struct MadeName {
  MadeOf what = MadeOf::kContent;
  bool was_repository = false;
};

// As judge_git_name(), after the name has been made.
Status judge_made_git_name(const Entry& entry, const MadeName& made);

// Removes a name that this process has made. A directory that is not empty any more gets a name that means nothing.
void take_back(const Entry& entry);

// Whether the name is one by which git finds a repository.
bool is_part(const Entry& entry);

// Whether the name is a part of the host's own repository. Without that part git would look for another repository.
bool is_kept_part(const Entry& entry);

// Whether moving the directory `from` to the name `to` would move the directory of a linked worktree with it.
bool moves_worktrees(const Entry& from, const std::string& to);

// Whether `entry` is the configuration of a repository with any name but ".git".
bool is_config_of_repository(const Entry& entry);

// The temporary name of a judged file; no rule lets a sandbox write this name.
inline const std::string kUnderwayName = cat({plan::kOwnNameStart, "judged"});

// Writes a new file with this content, which nobody else has open, and renames it to `name` in `directory`. `flags` are
// those of renameat2(2).
Status put_judged(int directory, const std::string& name, std::string_view text, mode_t mode, unsigned flags);

}  // namespace hutch::guest
