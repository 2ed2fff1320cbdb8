// Where a file of a sandbox is, and what it is.
#pragma once

#include <cstdint>
#include <string>

namespace hutch::wire {

// A file below a directory of the sandbox. The kernel holds the containment: nothing on the way, a symbolic link
// included, may lead out of `root` (openat2(2), RESOLVE_BENEATH).
struct FilePlace {
  std::string root;  // absolute, as the sandbox sees it
  std::string path;  // relative; "." is the root itself
  bool operator==(const FilePlace&) const = default;
};

enum class FileKind { kRegular, kDirectory, kSymlink, kOther };

// Which content a file had when it was looked at: another one means that somebody wrote it meanwhile.
struct FileVersion {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  // st_ctim since the epoch
  bool operator==(const FileVersion&) const = default;
};

struct FileStat {
  FileKind kind = FileKind::kOther;
  std::uint32_t mode = 0;         // permission bits
  std::int64_t modified_ns = 0;   // since the epoch
  FileVersion version;
  std::string target;             // of a symbolic link
  bool operator==(const FileStat&) const = default;
};

}  // namespace hutch::wire
