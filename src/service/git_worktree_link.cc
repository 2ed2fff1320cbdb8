// Where `gitdir`, in the directory of a linked worktree, says that the worktree's ".git" is.
#include "service/git_worktree_link.h"

#include <cerrno>
#include <filesystem>

#include "sys/files.h"
#include "sys/tree.h"

namespace hutch::service {

namespace {

std::string_view way_of(int error) {
  if (error == ELOOP) return kWayOfLinks;
  return error == ENOENT || error == ENOTDIR ? kPlainWay : kClosedWay;
}

}  // namespace

std::string_view text_of_link(std::string_view gitdir) {
  // As git does it (strbuf_rtrim() in get_linked_worktree()).
  return gitdir.substr(0, gitdir.find_last_not_of(" \t\n\v\f\r") + 1);
}

std::string worktree_link(const std::string& path, std::string_view gitdir) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::filesystem::path link = directory / text_of_link(gitdir);
  // git takes a path with another end for that of the worktree.
  if (link.filename() != ".git") link /= ".git";
  return link.lexically_normal().string();
}

std::string_view way_to_link(const std::string& path) {
  const std::size_t above = path.rfind('/');
  const auto directory = sys::open_exact(path.substr(0, above));
  if (!directory) return way_of(directory.error().sys_errno);
  const auto link = sys::status_at(directory->get(), path.substr(above + 1));
  if (!link) return way_of(link.error().sys_errno);
  return *link && (*link)->kind == sys::EntryKind::kSymlink ? kWayOfLinks : kPlainWay;
}

}  // namespace hutch::service
