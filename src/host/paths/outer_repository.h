// Finds the repository of a directory whose ".git" leads elsewhere, as git finds it.
#pragma once

#include <optional>
#include <string>

namespace hutch::host {

// A repository of the host that a directory belongs to, and what is needed of it (gitrepository-layout(5)).
struct OuterRepository {
  enum class Kind { kLinkedWorktree, kSubmodule, kPart } kind = Kind::kPart;
  std::string work_tree;  // the directory that holds ".git"
  std::string git;  // the directory that holds the objects
  std::string own{};  // of a linked worktree: its directory in `git`
  // kSandbox: hutch made the ".git" file for a process of a sandbox (plan::marked_git_link()). kSymbolicLink: the
  // repository names the directory by a symbolic link. git writes none into that path, but a sandbox may have put one
  // there, to lead the user's own worktree to another directory.
  enum class LinkedBy { kUser, kSandbox, kSymbolicLink } linked_by = LinkedBy::kUser;
};

// That of `directory`, which is canonical and absolute; absent if its repository lies within it, or it has none. A
// ".git" file counts only if the repository names the directory too: otherwise the file could name any directory.
std::optional<OuterRepository> outer_repository(const std::string& directory);

}  // namespace hutch::host
