// Which file it is, and when it was changed last, in whatever way: nobody can set that moment (st_ctim of inode(7)).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hutch::sys {

// Two files that were changed within one tick of the kernel's clock have the same moment: the number tells them apart.
struct FileVersion {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;  // since the epoch
  bool operator==(const FileVersion&) const = default;
};

// Of a symbolic link, its own.
Result<FileVersion> file_version(const std::string& path);

}  // namespace hutch::sys
