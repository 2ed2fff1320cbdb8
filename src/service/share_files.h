// The files of a share: looked at first, then changed, and later changed back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/account.h"
#include "plan/sharing.h"
#include "service/share_tree.h"
#include "store/shares.h"

namespace hutch::service {

// A share's path: its name in the directory above it, which no link leads to.
struct SharePlace {
  UniqueFd parent;
  std::string name;
  std::string path;
  sys::FileStatus status;
};
// Errors: nothing there, and what is neither a file nor a directory.
Result<SharePlace> find_place(const std::string& path);

using FileKey = std::pair<std::uint64_t, std::uint64_t>;  // device and inode

struct Inspection {
  std::size_t files = 0;
  WalkCounts counts;
  std::vector<store::OriginalLists> originals;  // that have to be written down before anything is changed
  std::set<FileKey> linked_outside;             // that have a name outside of the tree
};

struct Restoration {
  std::size_t files = 0;
  std::size_t changed = 0;
  WalkCounts counts;
  std::vector<store::OpenedDirectory> ways;  // to trees below that go on being shared
};

using ShareProgress = std::function<void(std::size_t done, std::size_t total)>;

class ShareFiles {
 public:
  // Who changes the files, with all groups. What root changes keeps all bits of its mode.
  struct Changer {
    std::uint32_t uid = 0;
    std::vector<std::uint32_t> groups{};
    unsigned umask = 0;
  };
  // `trees` are all that decide, of `shares`; `groups` are the agent's.
  ShareFiles(store::Share share, std::vector<plan::SharedTree> trees, std::vector<store::Share> shares, Changer sharer,
             std::vector<std::uint32_t> groups)
      : share_(std::move(share)),
        tree_{share_.path, share_.agent, share_.mode, sharer.umask},
        trees_(std::move(trees)),
        shares_(std::move(shares)),
        sharer_(std::move(sharer)),
        groups_(std::move(groups)) {}

  // Changes nothing. Code::kConflict where what another share of the agent's began with has got another name by now, of
  // which its path says nothing any more; Code::kUnsupported for a file system without lists; Code::kPermissionDenied
  // for files that are not the sharer's to share.
  Result<Inspection> inspect(const SharePlace& place, const ShareProgress& progress);
  // How many files were changed.
  Result<std::size_t> apply(const SharePlace& place, const Inspection& found, const ShareProgress& progress);
  Result<Restoration> restore(const SharePlace& place, const std::vector<store::OriginalLists>& originals,
                              const ShareProgress& progress);

 private:
  bool is_ours(const TreeFile& file) const;
  const store::Share* moved_share(const TreeFile& file) const;
  Status check_is_where_it_was(const TreeFile& file) const;
  bool may_change(const TreeFile& file) const { return sharer_.uid == 0 || file.status.owner == sharer_.uid; }
  bool would_lose_its_group(const TreeFile& file) const;
  std::vector<std::uint32_t> users_at(const std::string& path) const;

  store::Share share_;
  plan::SharedTree tree_;
  std::vector<plan::SharedTree> trees_;
  std::vector<store::Share> shares_;
  Changer sharer_;
  std::vector<std::uint32_t> groups_;
};

// The directories above `path` that `user` may not pass through, with the lists they have. One that is not the
// sharer's is an error: only its owner can open it.
Result<std::vector<store::OpenedDirectory>> ancestors_to_open(const std::string& path, const host::OsUser& user,
                                                              std::uint32_t sharer);
Status open_directory(const store::OpenedDirectory& directory);
// One that is gone is closed.
Status close_directory(const store::OpenedDirectory& directory);

}  // namespace hutch::service
