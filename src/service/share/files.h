// The files of a share: looked at first, then changed, and later changed back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/setup/sharing.h"
#include "service/share/tree.h"
#include "store/shares.h"

namespace hutch::service {

// No link leads to it. Errors: nothing there, and (Code::kInvalidArgument) what is neither a file nor a directory.
Result<SharePlace> find_place(const std::string& path);

using FileKey = std::pair<std::uint64_t, std::uint64_t>;  // device and inode
FileKey key_of(const sys::FileStatus& status);

// What the registry says of all shares of the sharer's.
struct KnownShares {
  std::vector<store::Share> shares{};
  std::vector<store::OpenedDirectory> opened{};  // in the order in which they were
  std::vector<store::OriginalLists> originals{};
  std::optional<std::uint32_t> common_group{};  // in which agents' users are

  // What decides about files. What is being taken back gives nothing.
  std::vector<plan::SharedTree> trees() const;
  // Whose users have something by now.
  std::vector<std::uint32_t> agents() const;
  // By which agents may have let themselves in: those with their numbers, and the common one.
  std::vector<std::uint32_t> groups() const;
  // Who may have entries in the lists of the file there because of them: all agents, and those whose tree it is in.
  std::vector<std::uint32_t> users_at(const std::string& path) const;
};

// One share, and who changes its files.
struct ShareWork {
  // With all groups. What root changes keeps all bits of its mode.
  struct Changer {
    std::uint32_t uid = 0;
    std::vector<std::uint32_t> groups{};
    unsigned umask = 0;
  };
  store::Share share;
  plan::SharedTree tree;
  std::vector<plan::SharedTree> trees{};  // all that decide
  KnownShares known{};
  Changer sharer{};
  std::vector<std::uint32_t> groups{};  // the agent's

  // Whether the file's group is one that the agent may give to what others make.
  bool has_agents_group(const TreeFile& file) const {
    return file.status.group == share.agent || file.status.group == known.common_group;
  }
  bool may_change(const TreeFile& file) const { return sharer.uid == 0 || file.status.owner == sharer.uid; }
  // Another share of the agent's that began with this file, which has got another name by now.
  const store::Share* moved_share(const TreeFile& file) const;
};

struct Inspection {
  std::size_t files = 0;
  WalkCounts counts;
  std::vector<store::OriginalLists> originals;  // that have to be written down before anything is changed
  std::size_t linked_outside = 0;               // files that have a name outside of the tree
  std::set<FileKey> linked_inside;              // that have several, all in it
};

using ShareProgress = std::function<void(std::size_t done, std::size_t total)>;

// Changes nothing. Code::kConflict where what another share of the agent's began with has got another name by now, of
// which its path says nothing any more; Code::kUnsupported for a file system without lists; Code::kPermissionDenied
// for files that are not the sharer's to share.
Result<Inspection> inspect_share(const ShareWork& work, const SharePlace& place, const ShareProgress& progress);

// How many files were changed.
Result<std::size_t> apply_share(const ShareWork& work, const SharePlace& place, const Inspection& found,
                                const ShareProgress& progress);

}  // namespace hutch::service
