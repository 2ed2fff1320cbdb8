// What a command left in repositories of git through which git would write, or read, other files than its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sys/changed.h"

namespace hutch::service {

// Symbolic links in repositories' directories. git writes COMMIT_EDITMSG, FETCH_HEAD, logs, commit graphs and others
// where a link leads, and the command has written what they will say (MERGE_MSG).
struct GitLinks {
  std::map<std::string, sys::FileVersion> versions;  // by path
  bool is_complete = true;
};
GitLinks git_links(const std::vector<std::string>& repositories);

// The first name in MERGE_RR that is no file of the work tree, or may become a link there: git-rerere(1), which "git
// commit" runs, copies its content into the repository. MERGE_RR itself, where it cannot be read, or where nobody knows
// the work tree: what a linked worktree's directory says of it, git does not ask.
std::optional<std::string> resolution_elsewhere(const std::string& directory);

}  // namespace hutch::service
