// The files of a share, changed back.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/share/files.h"

namespace hutch::service {

struct Restoration {
  std::size_t files = 0;
  std::size_t changed = 0;
  WalkCounts counts;
  std::size_t linked = 0;         // with names elsewhere: another share gives them for reading alone
  std::size_t of_others = 0;      // files of others that the agent has an entry in
  std::vector<std::string> left;  // directories that cannot be looked into, where agents may have put something
  std::vector<std::string> covered;  // places over which agents have mounted something
  std::size_t open_links = 0;  // files that have got names outside, by which their modes let the agent in
  bool is_settled = true;         // agents moved nothing while they were gone through
  std::vector<store::OpenedDirectory> ways;  // to trees below that go on being shared
  std::set<FileKey> seen;                    // of the originals
};

// Gone through until what agents can move stayed where it is for a whole pass.
Result<Restoration> restore_share(const ShareWork& work, const SharePlace& place, const ShareProgress& progress);

}  // namespace hutch::service
