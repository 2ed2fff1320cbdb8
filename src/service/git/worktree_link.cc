// Where `gitdir`, in the directory of a linked worktree, says that the worktree's ".git" is.
#include "service/git/worktree_link.h"

#include <cerrno>
#include <filesystem>
#include <optional>

#include "host/paths/paths.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

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

std::string where_git_writes(const std::string& path) {
  const std::size_t above = path.rfind('/');
  const auto directory = sys::open_exact(path.substr(0, above));
  const Result<std::optional<sys::PathStatus>> link =
      directory ? sys::status_at(directory->get(), path.substr(above + 1)) : fail(directory.error());
  const bool is_plain = link && (!*link || (*link)->kind != sys::EntryKind::kSymlink);
  const int error = link ? ELOOP : link.error().sys_errno;
  // Where nothing is, git writes nothing either.
  if (is_plain || error == ENOENT || error == ENOTDIR) return path;
  if (error != ELOOP) return {};
  const auto found = host::canonical_path(path);
  return found ? found->path : std::string();
}

}  // namespace hutch::service
