// What directories hold, read again only once they have changed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/tree.h"

namespace hutch::host {

// The names by which a directory is a repository, or may lead to one (gitrepository-layout(5)).
bool tells_repository(std::string_view name);

class Listings {
 public:
  // The directories among its entries, what may be one, and what tells_repository(). `path` is the directory's own, for
  // errors and to find it again.
  Result<std::vector<sys::TreeEntry>> of_repositories(int directory, const std::string& path);

 private:
  struct Listing {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;
    std::vector<sys::TreeEntry> entries;
  };
  std::map<std::string, Listing> listings_;
  std::size_t entries_ = 0;  // of all
};

}  // namespace hutch::host
