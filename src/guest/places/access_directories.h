// Directories that calls were made in: where they are in the writable copy.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/unique_fd.h"
#include "sys/files/delegate.h"

namespace hutch::guest {

struct Directory {
  UniqueFd seen;       // O_PATH, as the sandbox sees it; its path may change
  UniqueFd copy;       // the same one in the writable copy; none where no supervised tree is
  sys::Resolved what;  // of `seen`
  sys::Resolved twin;  // of `copy`
  enum class Changes { kAll, kGranted } changes = Changes::kAll;  // kGranted: of names that grants are about
};

// The ones that were used last. A mount and an inode tell one from all others: while it is held here its number is no
// other's, and no mount of a sandbox changes but by a grant.
class Directories {
 public:
  using Shared = std::shared_ptr<const Directory>;

  // Null where it is not known.
  Shared find(const sys::Resolved& what);
  Shared add(Directory directory);
  // A mount has changed.
  void forget() { kept_.clear(); }

 private:
  static constexpr std::size_t kKept = 32;

  std::vector<Shared> kept_;  // the one that was used last comes first
};

}  // namespace hutch::guest
