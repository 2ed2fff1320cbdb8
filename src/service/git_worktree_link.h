// Where `gitdir`, in the directory of a linked worktree, says that the worktree's ".git" is (gitrepository-layout(5)).
#pragma once

#include <string>
#include <string_view>

namespace hutch::service {

// The content without white space at its end.
std::string_view text_of_link(std::string_view gitdir);

// The ".git" that the content of the file `path` names, with no ".." in it.
std::string worktree_link(const std::string& path, std::string_view gitdir);

// How a path leads to where git would write. Where nothing is, the way is plain: git writes nothing there either.
inline constexpr std::string_view kPlainWay;
inline constexpr std::string_view kWayOfLinks = "link";  // one of the names is a symbolic link
inline constexpr std::string_view kClosedWay = "closed";  // nobody can tell
std::string_view way_to_link(const std::string& path);

}  // namespace hutch::service
