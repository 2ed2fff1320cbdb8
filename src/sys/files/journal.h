// Files that only grow: appended to by several processes at once, read while they grow. open(2) O_APPEND, flock(2).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// For appending and reading, made with mode 0600 where it is absent. A symlink, or anything but a regular file of this
// user, is an error.
Result<UniqueFd> open_journal(const std::string& path);

// For reading, under the same conditions.
Result<UniqueFd> open_journal_to_read(const std::string& path);

// One write(2): on a local file system the bytes of two writers never mix, as O_APPEND holds the inode's lock.
Status append(int fd, std::string_view bytes);

struct JournalStatus {
  std::uint64_t size = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool is_same_file(const JournalStatus& other) const { return device == other.device && inode == other.inode; }
};
Result<JournalStatus> journal_status(int fd);
Result<JournalStatus> journal_status(const std::string& path);

// Waits until no other process holds the file; held until `fd` is closed.
Status lock_journal(int fd);

// Replaces what is at `to`.
Status rename_file(const std::string& from, const std::string& to);

// `bytes` random ones as hexadecimal digits (getrandom(2)).
Result<std::string> random_hex(std::size_t bytes);

// "2026-11-21 17:53:02" in the caller's time zone.
std::string local_time_text(std::chrono::system_clock::time_point time);

}  // namespace hutch::sys
