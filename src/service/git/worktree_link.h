// Where `gitdir`, in the directory of a linked worktree, says that the worktree's ".git" is (gitrepository-layout(5)).
#pragma once

#include <string>
#include <string_view>

namespace hutch::service {

// The content without white space at its end.
std::string_view text_of_link(std::string_view gitdir);

// The ".git" that the content of the file `path` names, with no ".." in it.
std::string worktree_link(const std::string& path, std::string_view gitdir);

// Where git would write this path: itself if no symbolic link is on the way. Empty: nobody can tell.
std::string where_git_writes(const std::string& path);

}  // namespace hutch::service
