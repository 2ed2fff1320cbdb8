// What sharing a tree with an agent's OS user does to each file's access control list, and what taking it back does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/setup/acl.h"

namespace hutch::plan {

enum class ShareMode { kReadOnly, kReadWrite };

struct SharedTree {
  std::string path;  // canonical
  std::uint32_t agent = 0;
  ShareMode mode = ShareMode::kReadOnly;
  // Of whoever shares: where a directory has a default list, the kernel asks nobody's any more (umask(2)).
  unsigned umask = 0;
  bool operator==(const SharedTree&) const = default;
};

// The tree that decides about `path` for `agent`: of all that it lies in the innermost. Null where it lies in none.
const SharedTree* tree_of(std::span<const SharedTree> trees, std::uint32_t agent, const std::string& path);
// Whether `directory` lies above a tree of `agent`, who then has to be able to pass through.
bool is_way_to_a_tree(std::span<const SharedTree> trees, std::uint32_t agent, const std::string& directory);

// A file as it was found. Empty lists: there is none.
struct SharedFile {
  bool is_directory = false;
  unsigned mode = 0;
  AclFile of{};
  Acl access{};
  Acl defaults{};
  bool has_capabilities = false;  // capabilities(7), "File capabilities"
};
// What its rights are, by its list or, without one, its mode.
Acl access_of(const SharedFile& file);

// Nothing where it stays as it is; an empty list is one that is to be removed.
struct AclChange {
  std::optional<Acl> access;
  std::optional<Acl> defaults;
};

// `agent` gets to read, and with kReadWrite to change, the file; to execute it if anybody may, and to pass through a
// directory. What is made in a directory later, by whichever of the two, is for both.
AclChange share_file(const SharedFile& file, const SharedTree& tree, std::uint32_t owner);

// What the lists were before the first share that the file is in began.
struct AclBefore {
  Acl access;
  Acl defaults;
};

// What is to be left to `agent`: what another tree gives, the way through to one, or nothing. `owner_stays`: someone
// else still shares the file, so that its owner's own entries are still of use. `others`: who has entries by sharing
// too, and keeps them. `groups`: of agents' users, besides the one of the agent's number.
struct Remaining {
  std::optional<ShareMode> mode{};
  bool passes = false;
  bool owner_stays = false;
  std::vector<std::uint32_t> others{};
  std::vector<std::uint32_t> groups{};
};
AclChange unshare_file(const SharedFile& file, const SharedTree& tree, std::uint32_t owner, const Remaining& remaining,
                       const std::optional<AclBefore>& before);

// What its lists say more than a mode does, without what shares with `users` gave, and what agents gave to their own
// `groups`, which would come back with it: that is written down before it is changed.
AclBefore own_lists(const SharedFile& file, std::span<const std::uint32_t> users,
                    std::span<const std::uint32_t> groups);

// Whether one of the trees lets its agent change names in the directory at `path`, or in one above or below it: what is
// where is then theirs to say.
bool is_written_by_agents(std::span<const SharedTree> trees, const std::string& path);

// A user that something is shared with, or is to be.
struct ShareAgent {
  std::uint32_t uid = 0;
  std::vector<std::uint32_t> groups{};
};
// Whether a symbolic link of `owner` in that directory leads on for the sharer: it is theirs or root's, and no agent
// can have put it there, be it by renaming one of the sharer's own.
bool may_lead(std::uint32_t owner, const SharedFile& directory, std::uint32_t sharer,
              std::span<const ShareAgent> agents);

// What a share began with, as the kernel knows it.
struct ShareRoot {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  // 0: not known
  std::int64_t born_ns = 0;  // 0: likewise
};
// kRenumbered: the number of a file system is that of the device it is on, or a free one, and another after a start of
// the machine.
enum class SameRoot { kSame, kRenumbered, kOther };
SameRoot compare_roots(const ShareRoot& then, const ShareRoot& now);

// Whether `agent` already may do all that the tree would let it.
bool may_already(const SharedFile& file, const SharedTree& tree, std::span<const std::uint32_t> groups);

}  // namespace hutch::plan
