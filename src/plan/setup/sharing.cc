// The judgement about each file of a shared tree.
#include "plan/setup/sharing.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace hutch::plan {

namespace {

constexpr unsigned kAnyExecute = 0111;
constexpr unsigned kOthersExecute = 0001;
constexpr unsigned kSetIdBits = 06000;
constexpr unsigned kSticky = 01000;

// A program that runs as its owner or group, or with capabilities, would make whoever may run it those: nobody new may.
// Nor may anybody change it: write(2) takes the bits away, but what is written by mmap(2) leaves them.
unsigned wanted(const SharedFile& file, ShareMode mode) {
  const bool gives_more = !file.is_directory && ((file.mode & kSetIdBits) != 0 || file.has_capabilities);
  const bool executes = file.is_directory || (file.mode & (gives_more ? kOthersExecute : kAnyExecute)) != 0;
  const bool writes = mode == ShareMode::kReadWrite && !gives_more;
  return kAclRead | (writes ? kAclWrite : 0) | (executes ? kAclExecute : 0);
}

// Root may do everything without an entry, and the agent has one of its own.
bool needs_entry(std::uint32_t owner, std::uint32_t agent) { return owner != 0 && owner != agent; }

std::optional<Acl> if_other(Acl to, const Acl& from) {
  return to == from ? std::nullopt : std::optional(std::move(to));
}

// A list of three entries is what the file's mode says: none is kept.
Acl kept(const Acl& acl) { return is_minimal(acl) ? Acl() : acl; }

// What is made in the directory is for others as it would be without the list.
Acl begun_defaults(const SharedFile& file, const SharedTree& tree) {
  Acl defaults = default_of(access_of(file));
  for (AclEntry& entry : defaults) {
    if (entry.tag == AclTag::kOwningGroup) entry.rights &= ~(tree.umask >> 3U);
    if (entry.tag == AclTag::kOther) entry.rights &= ~tree.umask;
  }
  return defaults;
}

Acl shared_defaults(const SharedFile& file, const SharedTree& tree, std::uint32_t owner) {
  Acl defaults = file.defaults.empty() ? begun_defaults(file, tree) : file.defaults;
  if (tree.mode == ShareMode::kReadWrite && needs_entry(owner, tree.agent)) {
    defaults = with_user(std::move(defaults), owner, wanted(file, ShareMode::kReadWrite));
  }
  return with_user(std::move(defaults), tree.agent, wanted(file, tree.mode));
}

// The group of an agents' user has the user's number (useradd(8), --user-group), and some are in a common one. By the
// default list of a directory of its own an agent gives such a group rights to what others make there.
Acl without_groups(Acl acl, std::span<const std::uint32_t> groups, const Acl& before = {}) {
  for (const std::uint32_t group : groups) {
    const auto is_its = [group](const AclEntry& entry) { return entry.tag == AclTag::kGroup && entry.id == group; };
    if (std::ranges::none_of(before, is_its)) acl = without_group(std::move(acl), group);
  }
  return acl;
}

// Defaults in which only shares had a part go as a whole.
Acl unshared_defaults(const Acl& now, const Acl& before, std::span<const std::uint32_t> users,
                      std::span<const std::uint32_t> others = {}) {
  if (now.empty()) return now;
  if (!before.empty()) return restored(now, before, users, others);
  const Acl rest = without_users(now, users);
  return rest != now && is_minimal(rest) ? Acl() : rest;
}

}  // namespace

const SharedTree* tree_of(std::span<const SharedTree> trees, std::uint32_t agent, const std::string& path) {
  const SharedTree* innermost = nullptr;
  for (const SharedTree& tree : trees) {
    if (tree.agent != agent || !is_within(path, tree.path)) continue;
    if (innermost == nullptr || innermost->path.size() < tree.path.size()) innermost = &tree;
  }
  return innermost;
}

bool is_way_to_a_tree(std::span<const SharedTree> trees, std::uint32_t agent, const std::string& directory) {
  return std::ranges::any_of(trees, [&](const SharedTree& tree) {
    return tree.agent == agent && tree.path != directory && is_within(tree.path, directory);
  });
}

Acl access_of(const SharedFile& file) { return file.access.empty() ? acl_of_mode(file.mode) : file.access; }

AclChange share_file(const SharedFile& file, const SharedTree& tree, std::uint32_t owner) {
  AclChange change;
  change.access = if_other(with_user(access_of(file), tree.agent, wanted(file, tree.mode)), file.access);
  if (file.is_directory) change.defaults = if_other(shared_defaults(file, tree, owner), file.defaults);
  return change;
}

AclChange unshare_file(const SharedFile& file, const SharedTree& tree, std::uint32_t owner, const Remaining& remaining,
                       const std::optional<AclBefore>& before) {
  if (remaining.mode) {
    return share_file(file, {.path = tree.path, .agent = tree.agent, .mode = *remaining.mode, .umask = tree.umask},
                      owner);
  }
  std::vector<std::uint32_t> users = {tree.agent};
  if (!remaining.owner_stays && needs_entry(owner, tree.agent)) users.push_back(owner);
  const AclBefore was = before.value_or(AclBefore{});
  std::vector<std::uint32_t> groups = remaining.groups;
  groups.push_back(tree.agent);
  const Acl now = without_groups(access_of(file), groups, was.access);
  std::vector<std::uint32_t> others = remaining.others;
  std::erase_if(others, [&](std::uint32_t uid) { return std::ranges::find(users, uid) != users.end(); });
  Acl access = was.access.empty() ? without_users(now, users) : restored(now, was.access, users, others);
  if (remaining.passes) access = with_user(std::move(access), tree.agent, kAclExecute);
  AclChange change;
  // The kernel keeps no list of three entries, so that setting one is how a list is removed.
  if (kept(access) != file.access) change.access = std::move(access);
  if (file.is_directory) {
    const Acl defaults = without_groups(file.defaults, groups, was.defaults);
    Acl rest = unshared_defaults(defaults, was.defaults, users, others);
    if (was.defaults.empty() && rest != file.defaults) rest = kept(rest);
    change.defaults = if_other(std::move(rest), file.defaults);
  }
  return change;
}

AclBefore own_lists(const SharedFile& file, std::span<const std::uint32_t> users,
                    std::span<const std::uint32_t> groups) {
  const Acl access = without_groups(file.access, groups);
  const Acl defaults = without_groups(file.defaults, groups);
  return {.access = kept(without_users(access, users)), .defaults = unshared_defaults(defaults, {}, users)};
}

bool is_written_by_agents(std::span<const SharedTree> trees, const std::string& path) {
  return std::ranges::any_of(trees, [&](const SharedTree& tree) {
    return tree.mode == ShareMode::kReadWrite && (is_within(path, tree.path) || is_within(tree.path, path));
  });
}

bool may_lead(std::uint32_t owner, const SharedFile& directory, std::uint32_t sharer,
              std::span<const ShareAgent> agents) {
  if (owner != sharer && owner != 0) return false;
  // There only who owns a file, or the directory, gives it another name (unlink(2)).
  const bool is_sticky = (directory.mode & kSticky) != 0;
  return std::ranges::none_of(agents, [&](const ShareAgent& agent) {
    if (agent.uid == directory.of.owner) return true;
    const unsigned rights = rights_of(access_of(directory), directory.of, agent.uid, agent.groups);
    return !is_sticky && (rights & kAclWrite) != 0;
  });
}

SameRoot compare_roots(const ShareRoot& then, const ShareRoot& now) {
  if (then.inode == 0) return SameRoot::kSame;
  if (then.inode != now.inode) return SameRoot::kOther;
  if (then.device == now.device) return SameRoot::kSame;
  return then.born_ns != 0 && then.born_ns == now.born_ns ? SameRoot::kRenumbered : SameRoot::kOther;
}

bool may_already(const SharedFile& file, const SharedTree& tree, std::span<const std::uint32_t> groups) {
  const unsigned needed = wanted(file, tree.mode);
  return (rights_of(access_of(file), file.of, tree.agent, groups) & needed) == needed;
}

}  // namespace hutch::plan
