// Looking at a file tree without changing it: status, links, names of a directory; all without following links.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

enum class EntryKind { kFile, kDirectory, kSymlink, kOther, kUnknown };

struct PathStatus {
  EntryKind kind = EntryKind::kUnknown;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t mode = 0;  // the permission bits
};

struct TreeEntry {
  std::string name;
  EntryKind kind = EntryKind::kUnknown;  // kUnknown where the file system does not tell (getdents(2))
};

// lstat(2); nothing where no such file exists.
Result<std::optional<PathStatus>> status_of(const std::string& path);

// The same for `name` in a directory.
Result<std::optional<PathStatus>> status_at(int directory, const std::string& name);

Result<std::string> tree_link_text(const std::string& path);

// O_NOFOLLOW, for reading names.
Result<UniqueFd> open_listing(const std::string& path);
Result<UniqueFd> open_listing_at(int directory, const std::string& name);

// All names but "." and "..", in the order of the file system. `path` is for the message.
Result<std::vector<TreeEntry>> names_in(int directory, const std::string& path);

// The whole of a regular file of at most `bytes_max` bytes; anything else there is an error (a FIFO would block).
Result<std::string> regular_file_text(const std::string& path, std::size_t bytes_max);

// mkdir -p with mode 0700; a directory that is there already is fine.
Status make_private_directories(const std::string& path);

// rm -r, of what this user owns: directories that were made unreadable are opened up. No link is followed. Nothing
// there is no error.
Status remove_tree(const std::string& path);
Status remove_tree_at(int directory, const std::string& name);
// Gives a directory back to its owner, who closed it (mode 0700). A link is an error.
Status open_up(int directory, const std::string& name);
// Of the directory itself, which may be open as O_PATH (proc(5): fchmod(2) takes no such descriptor).
Status set_directory_mode(int directory, std::uint32_t mode);

enum class Permission { kRead, kWrite };

// Whether this process may open the file so, by its mode, its ACL and the mount (faccessat(2), AT_EACCESS).
bool may_open(const std::string& path, Permission permission);

// The environment of this process, "K=V" each.
std::vector<std::string> own_environment();

}  // namespace hutch::sys
