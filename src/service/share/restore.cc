// Passes over the tree, and what shows that one saw all of it.
#include "service/share/restore.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "plan/setup/share_looks.h"
#include "service/share/lists.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/mount_table.h"
#include "sys/process/readiness.h"

namespace hutch::service {

namespace {

using plan::Movers;
using std::chrono::system_clock;

constexpr std::size_t kRestoreProgressEvery = 512;
constexpr int kPassesMax = 6;
// From this pass on, only what agents may write has to stay: the sharer's own programs may be at work.
constexpr int kForAgentsAlone = 3;

// Whether an agent may change what is in a directory.
enum class Writer { kAgent, kNoAgent };

void note(plan::DirectoryLooks& looks, const sys::FileStatus& status, Writer writer) {
  plan::add_look(looks, status.device, status.inode, {status.changed_ns, writer == Writer::kAgent});
}

std::int64_t now_ns() {
  const auto now = system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

class Pass {
 public:
  Pass(const ShareWork& work, const std::map<FileKey, plan::AclBefore>& before, const std::set<FileKey>& grouped,
       const std::set<FileKey>& linked, const ShareProgress& progress, Restoration& done, const SharePlace& place)
      : work_(work),
        before_(before),
        grouped_(grouped),
        linked_(linked),
        progress_(progress),
        done_(done),
        place_(place),
        own_group_(group_of(work, place)) {}

  Status run() {
    done_.files = done_.linked = done_.of_others = 0;
    done_.open_links = 0;
    done_.left.clear();
    done_.covered.clear();
    done_.counts = TRY(walk_tree(place_, {.visit = [this](const TreeFile& entry) { return visit(entry); },
                                          .closed = [this](const TreeFile& entry) { return look_at_closed(entry); }}));
    TRY(look_for_covers());
    for (const auto& [key, link] : links_) {
      if (link.is_open && link.names < link.links) ++done_.open_links;
    }
    return failure_ ? fail(std::move(*failure_)) : Status();
  }

  // A later change of a directory of an agent's shows.
  bool is_sure() const { return !is_young_ && !was_covered_; }
  const plan::DirectoryLooks& looks() const { return looks_; }

 private:
  bool is_agent(std::uint32_t uid) const {
    const auto& shares = work_.known.shares;
    return uid == work_.share.agent || std::ranges::find(shares, uid, &store::Share::agent) != shares.end();
  }

  bool may_write(const plan::SharedFile& file, const plan::Acl& access) const {
    return (plan::rights_of(access, file.of, work_.share.agent, work_.groups) & plan::kAclWrite) != 0;
  }
  // Two may do it together: one moves what the other is to keep.
  Writer writer_of(const plan::SharedFile& file, const plan::Acl& access) const {
    if (!file.is_directory) return Writer::kNoAgent;
    const auto is_writer = [&](const store::Share& other) {
      const std::array own_group = {other.agent};
      return (plan::rights_of(access, file.of, other.agent, own_group) & plan::kAclWrite) != 0;
    };
    const bool is_others = std::ranges::any_of(work_.known.shares, is_writer);
    return is_others || is_agent(file.of.owner) || may_write(file, access) ? Writer::kAgent : Writer::kNoAgent;
  }

  // One that cannot be changed back keeps none of the others open.
  Status visit(const TreeFile& entry) {
    Status restored = restore(entry);
    if (!restored && !failure_) failure_ = std::move(restored).error();
    return {};
  }

  Status restore(const TreeFile& entry) {
    if (++done_.files % kRestoreProgressEvery == 0) progress_(done_.files, 0);
    const FileKey key = key_of(entry.status);
    if (before_.contains(key)) done_.seen.insert(key);
    // What has another name by now gets nothing again by that name.
    if (work_.moved_share(entry) != nullptr) moved_.push_back(entry.path);
    if (entry.status.owner == work_.share.agent) return note_directory(entry.status, Writer::kAgent);
    const auto file = read_lists(entry.file, entry.status);
    if (!file) return fail(list_error(file.error(), entry.path));
    const plan::Acl access = plan::access_of(*file);
    if (!work_.may_change(entry)) {
      if (names_user(*file, work_.share.agent)) ++done_.of_others;
      return note_directory(entry.status, writer_of(*file, access));
    }
    const bool is_regrouped = TRY(take_group_back(entry));
    const bool has_lists = !file->access.empty() || !file->defaults.empty();
    const plan::AclChange change = has_lists ? change_of(entry, *file) : plan::AclChange();
    if (!change.access && !change.defaults && !is_regrouped) {
      note_link(entry, access, entry.status.group);
      return note_directory(entry.status, writer_of(*file, access));
    }
    const Status written = write_lists(entry.file, change);
    if (!written) return fail(list_error(written.error(), entry.path));
    ++done_.changed;
    // Its time is that of the change by now.
    const sys::FileStatus status = TRY(sys::file_status(entry.file, ""));
    note_link(entry, change.access.value_or(access), status.group);
    return note_directory(status, writer_of(*file, change.access.value_or(access)));
  }

  plan::AclChange change_of(const TreeFile& entry, const plan::SharedFile& file) {
    const std::uint32_t agent = work_.share.agent;
    const plan::SharedTree* gives = plan::tree_of(work_.trees, agent, entry.path);
    const auto covers = [&](const plan::SharedTree& tree) { return is_within(entry.path, tree.path); };
    plan::Remaining remaining{.owner_stays = std::ranges::any_of(work_.trees, covers),
                              .others = work_.known.users_at(entry.path),
                              .groups = work_.known.groups()};
    std::erase(remaining.others, agent);
    if (!remaining.owner_stays) std::erase(remaining.others, work_.share.owner);
    const auto has_it = [&](const std::string& top) { return is_within(entry.path, top); };
    if (gives != nullptr && std::ranges::none_of(moved_, has_it)) remaining.mode = mode_of(*gives, entry, file);
    const auto was = before_.find(key_of(entry.status));
    const auto lists = was == before_.end() ? std::nullopt : std::optional(was->second);
    if (gives == nullptr && plan::is_way_to_a_tree(work_.trees, agent, entry.path)) {
      const plan::AclBefore own = lists.value_or(own_lists(file, remaining.others));
      done_.ways.push_back({entry.path, agent, own.access});
      remaining.passes = true;
    }
    return plan::unshare_file(file, work_.tree, work_.share.owner, remaining, lists);
  }

  plan::AclBefore own_lists(const plan::SharedFile& file, std::vector<std::uint32_t> users) const {
    std::vector<std::uint32_t> groups = work_.known.groups();
    for (auto* list : {&users, &groups}) list->push_back(work_.share.agent);
    return plan::own_lists(file, users, groups);
  }

  // A directory of the agent's with the set-group-id bit gives its group to what others make in it.
  Result<bool> take_group_back(const TreeFile& entry) const {
    if (!work_.has_agents_group(entry) || grouped_.contains(key_of(entry.status))) return false;
    if (plan::tree_of(work_.trees, work_.share.agent, entry.path) != nullptr) return false;
    TRY_CTX(sys::set_owner_of(entry.file, entry.status.owner, own_group_), printable(entry.path));
    return true;
  }

  // That of the shared path, where the sharer may give it.
  static std::uint32_t group_of(const ShareWork& work, const SharePlace& place) {
    const auto& groups = work.sharer.groups;
    const bool is_member = std::ranges::find(groups, place.status.group) != groups.end();
    const bool may_give = work.sharer.uid == 0 || is_member;
    const bool is_agents = place.status.group == work.share.agent || place.status.group == work.known.common_group;
    return may_give && !is_agents ? place.status.group : groups.front();
  }

  // Where the other names of a file are is not known here.
  plan::ShareMode mode_of(const plan::SharedTree& gives, const TreeFile& entry, const plan::SharedFile& file) {
    const bool has_names = entry.status.kind == sys::EntryKind::kFile && entry.status.links > 1;
    if (!has_names || gives.mode == plan::ShareMode::kReadOnly || may_write(file, plan::access_of(file))) {
      return gives.mode;
    }
    ++done_.linked;
    return plan::ShareMode::kReadOnly;
  }

  Status note_directory(const sys::FileStatus& status, Writer writer) {
    if (status.kind != sys::EntryKind::kDirectory) return {};
    const bool is_agents = writer == Writer::kAgent;
    if (is_agents && !plan::shows_changes({status.changed_ns, is_agents}, now_ns())) is_young_ = true;
    note(looks_, status, writer);
    return {};
  }

  // Those that a file had before it was shared are the sharer's to know of.
  void note_link(const TreeFile& entry, const plan::Acl& access, std::uint32_t group) {
    const bool has_names = entry.status.kind == sys::EntryKind::kFile && entry.status.links > 1;
    if (!has_names || linked_.contains(key_of(entry.status))) return;
    if (plan::tree_of(work_.trees, work_.share.agent, entry.path) != nullptr) return;
    Link& link = links_[key_of(entry.status)];
    link.links = entry.status.links;
    ++link.names;
    const plan::AclFile of{.owner = entry.status.owner, .group = group};
    const unsigned rights = plan::rights_of(access, of, work_.share.agent, work_.groups);
    link.is_open = (rights & (plan::kAclRead | plan::kAclWrite)) != 0;
  }

  Status look_for_covers() {
    if (done_.counts.mounts.empty()) return {};
    const UniqueFd mountinfo = TRY(sys::open("/proc/self/mountinfo", sys::Open::kRead));
    std::vector<plan::Cover> mounts;
    for (const sys::MountEntry& mount : TRY(sys::mount_table(mountinfo.get()))) {
      mounts.push_back({mount.point, mount.user});
    }
    std::vector<std::uint32_t> agents = {work_.share.agent};
    for (const store::Share& other : work_.known.shares) agents.push_back(other.agent);
    auto covered = plan::covered_by(agents, done_.counts.mounts, mounts);
    was_covered_ = !covered;
    if (covered) done_.covered = std::move(*covered);
    return {};
  }

  Status look_at_closed(const TreeFile& entry) {
    const plan::SharedFile file = TRY(read_lists(entry.file, entry.status));
    const bool held_it =
        is_agent(entry.status.owner) || names_user(file, work_.share.agent) || may_write(file, plan::access_of(file));
    if (held_it) done_.left.push_back(entry.path);
    return {};
  }

  const ShareWork& work_;
  const std::map<FileKey, plan::AclBefore>& before_;
  const std::set<FileKey>& grouped_;  // whose group is no agent's doing
  const std::set<FileKey>& linked_;   // that had several names before
  const ShareProgress& progress_;
  Restoration& done_;
  const SharePlace& place_;
  const std::uint32_t own_group_;
  struct Link {
    std::uint32_t links = 0;
    std::uint32_t names = 0;  // of these, seen
    bool is_open = false;     // to the agent
  };
  std::map<FileKey, Link> links_;
  std::vector<std::string> moved_;
  plan::DirectoryLooks looks_;
  bool is_young_ = false;
  bool was_covered_ = false;
  std::optional<Error> failure_;
};

Result<plan::DirectoryLooks> look_again(const SharePlace& place) {
  plan::DirectoryLooks looks;
  const auto visit = [&](const TreeFile& entry) {
    note(looks, entry.status, Writer::kNoAgent);
    return Status();
  };
  const auto nothing = [](const TreeFile&) { return Status(); };
  TRY(walk_tree(place, {.visit = visit, .closed = nothing, .of = TreeVisitor::Of::kDirectories}));
  return looks;
}

}  // namespace

Result<Restoration> restore_share(const ShareWork& work, const SharePlace& place, const ShareProgress& progress) {
  std::map<FileKey, plan::AclBefore> before;
  std::set<FileKey> grouped;
  std::set<FileKey> linked;
  for (const store::OriginalLists& file : work.known.originals) {
    before[{file.device, file.inode}] = file.lists;
    if (file.is_linked) linked.insert({file.device, file.inode});
    if (file.is_grouped) grouped.insert({file.device, file.inode});
  }
  const sys::Epoll clock = TRY(sys::Epoll::make());
  Restoration done;
  for (int pass = 1;; ++pass) {
    Pass one(work, before, grouped, linked, progress, done, place);
    const Status gone_through = one.run();
    // A directory was moved: what is behind it was not seen.
    const bool is_moved = !gone_through && gone_through.error().code == Code::kConflict;
    if (!gone_through && (!is_moved || pass == kPassesMax)) return fail(Error(gone_through.error()));
    if (gone_through && place.status.kind != sys::EntryKind::kDirectory) return done;
    if (gone_through && one.is_sure()) {
      const auto again = look_again(place);
      const Movers movers = pass < kForAgentsAlone ? Movers::kAll : Movers::kAgents;
      if (again && plan::saw_all(one.looks(), *again, movers)) return done;
      if (!again && again.error().code != Code::kConflict) return fail(Error(again.error()));
    }
    if (pass == kPassesMax) break;
    // Nothing is in it: what is waited for is the kernel's clock.
    std::array<sys::Readiness, 1> none;
    TRY(clock.wait(none, plan::kFileClockStep));
  }
  done.is_settled = false;
  return done;
}

}  // namespace hutch::service
