// What has changed between two listings of a directory. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/tree/listing.h"

namespace hutch::sandbox {

enum class Change { kAdded, kModified, kDeleted };
std::string_view name_of(Change change);  // "added", "modified", "deleted"

struct FileChange {
  std::string path;  // whatever bytes its names have
  Change change = Change::kAdded;
  std::uint64_t files = 0;  // of a directory that stands for what is below it: how many of these; else 0
  bool operator==(const FileChange&) const = default;
};

// Files, links and all that is no directory; a directory where it came or went with nothing in it. What programs keep
// for themselves by the thousand (node_modules, __pycache__, .venv, .cache, .npm, .git/objects, .git/logs) is one
// change of that directory.
struct TreeChanges {
  std::vector<FileChange> changes;  // by path, as far as the limits go
  std::uint64_t total = 0;          // with those that are not in the list
  bool truncated = false;           // not all is in the list, or not all was looked at
};

struct ChangesLimits {
  std::size_t changes_max = 1000;
  std::size_t bytes_max = 256 << 10;  // of their paths
};

// Adds those of one tree to `changes`; `prefix` comes before each path.
void add_changes(const TreeListing& before, const TreeListing& after, std::string_view prefix,
                 const ChangesLimits& limits, TreeChanges& changes);

}  // namespace hutch::sandbox
