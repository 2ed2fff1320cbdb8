// Identifies a file and its last change of any kind; no program can set that time (st_ctim of inode(7)).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hutch::sys {

// Two files that changed within one tick of the kernel's clock have the same time: the inode number tells them apart.
struct FileVersion {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;  // since the epoch
  bool operator==(const FileVersion&) const = default;
};

// For a symbolic link, the version is that of the link itself.
Result<FileVersion> file_version(const std::string& path);

}  // namespace hutch::sys
