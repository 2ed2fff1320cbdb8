// Space on disk: statvfs(3), and what the files of a tree take.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hutch::sys {

// What this user may still write on the file system that holds `path`.
Result<std::uint64_t> bytes_available(const std::string& path);

// What is allocated for the files below a directory: no link is followed, and what has several names in there counts
// once for each. Of a tree that changes meanwhile, or is too large or too deep to be walked, a part.
Result<std::uint64_t> tree_bytes(const std::string& directory);

// A new file of that size of which nothing is allocated, mode 0600 (ftruncate(2)).
Status make_sparse_file(const std::string& path, std::uint64_t bytes);

}  // namespace hutch::sys
