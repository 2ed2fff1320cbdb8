// Files below a directory that others may change meanwhile: openat2(2), statx(2), renameat2(2), unlinkat(2).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/files/tree.h"

namespace hutch::sys {

enum class Beneath {
  kPath,       // O_PATH, a last symbolic link followed
  kLink,       // O_PATH, a last symbolic link not followed
  kDirectory,  // O_PATH of a directory
  kListing,    // a directory for reading names, no symbolic link anywhere in the path
  kRead,       // for reading; never waits for the other end of a pipe
  kReadExact,  // the same, no symbolic link anywhere in the path
};

// Nothing on the way may lead out of `directory`, a symbolic link included: EXDEV; a magic link of /proc: ELOOP
// (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS).
Result<UniqueFd> open_beneath(int directory, const std::string& path, Beneath how);

struct FileStatus {
  EntryKind kind = EntryKind::kUnknown;
  std::uint32_t mode = 0;  // the permission bits
  std::uint32_t owner = 0;
  std::uint32_t group = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  // since the epoch
  std::int64_t changed_ns = 0;
  std::uint32_t links = 0;  // names that it has
  std::uint64_t mount = 0;  // by which it was reached; 0 where the kernel does not say (before Linux 5.8)
  bool is_same_file(const FileStatus& other) const { return device == other.device && inode == other.inode; }
};

// Of `name` in the directory, a symbolic link not followed; of the descriptor itself when `name` is empty.
Result<FileStatus> file_status(int directory, const std::string& name);

// What the symbolic link says; an empty name is that of an O_PATH descriptor itself.
Result<std::string> link_text(int directory, const std::string& name);

// At most `count_max` names of a directory from its start on, without "." and "..".
Result<std::vector<TreeEntry>> first_names(int directory, std::size_t count_max);

// At most `bytes_max`, fewer at the end of the file.
Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t bytes_max);

// What of a file is no hole, from `at` on; absent: nothing more is. lseek(2), SEEK_DATA.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
Result<std::optional<Extent>> next_data(int fd, std::uint64_t at);

// kExchanged: what has the new name gets the old one, in the same moment; EINVAL where the file system cannot.
enum class Replacing { kAllowed, kRefused, kExchanged };
Status rename_at(int from, const std::string& name, int to, const std::string& new_name, Replacing replacing);
// A file of that content and mode by the supervisor of file changes, in one call (base/put_content.h): its inode's
// lower 63 bits. EINVAL where none answers.
Result<std::uint64_t> put_content(int directory, const std::string& name, std::string_view content, std::uint32_t mode);
Status unlink_at(int directory, const std::string& name);
Status remove_directory_at(int directory, const std::string& name);

// What was written to the file gets its blocks and is on its way to the disk; nobody waits for its arrival
// (sync_file_range(2)).
void start_writing_out(int fd);

// Whether this process may write the file by its mode, its ACL and the mount, a symbolic link not followed.
Status check_writable_at(int directory, const std::string& name);

Status set_mode(int fd, std::uint32_t mode);
Status set_modified(int fd, std::int64_t modified_ns);

// Everything from where both files stand, holes as holes. `go_on` is asked every few megabytes.
Status copy_content(int from, int to, const std::function<Status()>& go_on);

}  // namespace hutch::sys
