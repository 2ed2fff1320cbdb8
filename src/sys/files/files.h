// Files and directories by descriptor: openat2(2), fstat(2), mkdirat(2), symlinkat(2), unlinkat(2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// The current directory, in place of a directory descriptor.
inline constexpr int kCwd = -100;  // AT_FDCWD

enum class Open { kRead, kReadDirectory, kWrite, kAppend, kPath };

// `path` as the caller gave it, symlinks followed.
Result<UniqueFd> open(std::string_view path, Open how);

// An O_PATH descriptor of an absolute path, no symlink anywhere in it (openat2(2), RESOLVE_NO_SYMLINKS).
Result<UniqueFd> open_exact(std::string_view path);

// An O_PATH descriptor of `path` beneath `directory`, no symlink anywhere and never out of it.
Result<UniqueFd> open_beneath(int directory, std::string_view path);

struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  unsigned mode = 0;
  std::uint32_t uid = 0;
};
Result<FileIdentity> identify(int fd);

// Whether the file is the root of a mount: something is mounted where it was found (statx(2), STATX_ATTR_MOUNT_ROOT).
Result<bool> is_mount_root(int fd);

Status make_directory(int directory, const std::string& path, unsigned mode);
// Open for writing.
Result<UniqueFd> make_file(int directory, const std::string& path, unsigned mode);
// A file without a name, in memory, that reads as `bytes` from its start (memfd_create(2)).
Result<UniqueFd> memory_file(const std::string& name, std::string_view bytes);
Status make_symlink(const std::string& text, int directory, const std::string& path);
Status remove_directory(const std::string& path);
Status change_directory(const std::string& path);
Status change_directory(int fd);

// Whether there is anything at the path, and whether this process may write it as it is now. Links are followed.
bool exists(const std::string& path);
bool may_write(const std::string& path);

// One write(2) of a file that exists: what the kernel's own control files want.
Status write_file(const std::string& path, std::string_view text);
Result<std::string> read_file(const std::string& path, std::size_t bytes_max);
Result<std::string> read_link(const std::string& path);

}  // namespace hutch::sys
