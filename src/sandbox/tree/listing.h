// What is below a directory that others may change meanwhile: names, kinds, and what tells that a file was changed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/files/tree.h"

namespace hutch::sandbox {

struct ListedFile {
  std::string name;
  sys::EntryKind kind = sys::EntryKind::kUnknown;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // of the inode: nobody sets it back (inode(7))
  // Of a directory: those in it, by name, from there on in the listing.
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool whole = true;  // false: not all that is in it was looked at
};

struct TreeListing {
  std::vector<ListedFile> files;  // the first is the top
};

struct ListingLimits {
  std::size_t entries_max = 300'000;
  std::size_t depth_max = 64;  // each level takes a descriptor
  std::chrono::milliseconds time_max{10'000};
};

// No link is followed, and nothing that is mounted below is entered. What cannot be looked at, or is beyond the limits,
// leaves its directory not whole; an error is the top's own.
Result<TreeListing> list_tree(const std::string& directory, const ListingLimits& limits);

}  // namespace hutch::sandbox
