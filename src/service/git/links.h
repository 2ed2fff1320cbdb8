// Finds what a command left in repositories of git that would make git write, or read, files outside of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sys/files/changed.h"

namespace hutch::service {

// Symbolic links in repositories' directories. git writes COMMIT_EDITMSG, FETCH_HEAD, logs, commit graphs and others to
// a link's target, and the command has written their future content (MERGE_MSG).
struct GitLinks {
  std::map<std::string, sys::FileVersion> versions;  // by path
  bool is_complete = true;
};
GitLinks git_links(const std::vector<std::string>& repositories);

// Whether git would write a file of that path, relative to a repository's directory, or in it.
bool is_written_by_git(std::string_view path);

// The names in MERGE_RR that are no file of the work tree, or may become a link there: git-rerere(1), which "git
// commit" runs, copies the file's content into the repository. MERGE_RR itself if it cannot be read, or if the work
// tree is unknown: git does not ask a linked worktree's directory where the work tree is.
std::vector<std::string> resolutions_elsewhere(const std::string& directory);

}  // namespace hutch::service
