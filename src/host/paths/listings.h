// Keeps the contents of directories, and reads them again only after a change.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/files/beneath.h"
#include "sys/files/tree.h"

namespace hutch::host {

// Whether the name is a part of a repository, or may lead to one (gitrepository-layout(5)).
bool tells_repository(std::string_view name);

class Listings {
 public:
  // The entries of the directory that are, or may be, directories, and those for which tells_repository() is true.
  // `path` is the directory's own, for errors and as the key.
  Result<std::vector<sys::TreeEntry>> of_repositories(int directory, const std::string& path);

  // All entries, read anew. What of_repositories() returns later is kept.
  Result<std::vector<sys::TreeEntry>> read(int directory, const std::string& path);

 private:
  void keep(const std::string& path, const sys::FileStatus& status, std::int64_t began_ns,
            std::vector<sys::TreeEntry> entries);
  struct Listing {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;
    std::vector<sys::TreeEntry> entries;
  };
  std::map<std::string, Listing> listings_;
  std::size_t entries_ = 0;  // in all listings
};

}  // namespace hutch::host
