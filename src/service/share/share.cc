// The story of a share, and of its end.
#include "service/share/share.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "host/machine/people.h"
#include "plan/facts.h"
#include "plan/setup/share_commands.h"
#include "service/share/files.h"
#include "service/share/path.h"
#include "service/share/restore.h"
#include "service/share/ways.h"
#include "store/record.h"
#include "store/spool.h"
#include "sys/files/files.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

using store::Share;
using store::ShareState;

constexpr std::size_t kAccountsMax = 16 << 20;  // of /etc/passwd
constexpr std::size_t kNamedMax = 3;            // directories in a message

Error share_error(const std::string& path, std::string_view why) {
  return Error::invalid(cat({"share ", printable(path), ": ", why}));
}

Result<KnownShares> read_known(store::Shares& registry) {
  KnownShares known{TRY(registry.list()), TRY(registry.opened()), TRY(registry.originals())};
  const auto common = TRY(host::find_os_user(std::string(plan::kCommonUser)));
  if (common && !common->groups.empty() && host::check_is_no_person(*common)) {
    known.common_group = common->groups.front();
  }
  return known;
}

// The list of a directory as it was before anything was shared in it or below it.
plan::Acl before_shares(const KnownShares& known, const ClosedWay& way) {
  const auto is_it = [&](const store::OriginalLists& file) {
    return file.device == way.status.device && file.inode == way.status.inode;
  };
  const auto original = std::ranges::find_if(known.originals, is_it);
  if (original != known.originals.end()) return original->lists.access;
  const auto opened = std::ranges::find(known.opened, way.directory.path, &store::OpenedDirectory::path);
  if (opened != known.opened.end()) return opened->before;
  const plan::SharedFile now{.mode = way.status.mode, .access = way.directory.before};
  if (now.access.empty()) return {};
  return plan::own_lists(now, known.users_at(way.directory.path), known.groups()).access;
}

// A number may have been another user's, who could use what is shared with it still.
Status check_is_its_own(const std::vector<Share>& shares, const host::OsUser& user) {
  for (const Share& share : shares) {
    if (share.agent != user.uid || share.user == user.name) continue;
    return fail({Code::kConflict, 0,
                 cat({printable(share.path), " is shared with ", share.user, " still, whose number (",
                      std::to_string(share.agent), ") is that of ", user.name, " now: hutch unshare ",
                      shell_word(share.path), " first"})});
  }
  return {};
}

plan::SameRoot compare(const Share& share, const SharePlace& place) {
  return plan::compare_roots({share.device, share.inode, share.born_ns},
                             {place.status.device, place.status.inode, place.born_ns});
}

// In a tree that the agent may write, what has the name now may be something that it put there.
Status check_is_same(const Share& known, const SharePlace& place, const std::vector<Share>& others) {
  const auto writes = [&](const Share& other) {
    return other.agent == known.agent && other.mode == plan::ShareMode::kReadWrite && is_within(known.path, other.path);
  };
  if (compare(known, place) != plan::SameRoot::kOther || std::ranges::none_of(others, writes)) return {};
  return fail({Code::kConflict, 0,
               cat({printable(known.path), " is not what was shared: move that back, or hutch unshare --forget ",
                    shell_word(known.path), " first"})});
}

// What is known of it already goes on.
Status join_known(Share& share, const SharePlace& place, const std::vector<Share>& all) {
  share.owner = place.status.owner;
  share.device = place.status.device;
  share.inode = place.status.inode;
  share.born_ns = place.born_ns;
  const auto known = std::ranges::find_if(
      all, [&](const Share& other) { return other.path == share.path && other.agent == share.agent; });
  if (known == all.end()) return {};
  share.id = known->id;
  share.since = known->since;
  share.state = known->state;
  std::vector<Share> others = all;
  std::erase_if(others, [&](const Share& other) { return other.id == share.id; });
  return check_is_same(*known, place, others);
}

ShareWork work_of(const Share& share, KnownShares known, const Sharer& sharer, std::vector<std::uint32_t> groups) {
  ShareWork work{.share = share,
                 .tree = {share.path, share.agent, share.mode, sharer.umask},
                 .trees = known.trees(),
                 .known = std::move(known),
                 .sharer = {sharer.uid, sharer.groups, sharer.umask},
                 .groups = std::move(groups)};
  std::erase_if(work.trees,
                [&](const plan::SharedTree& tree) { return tree.path == share.path && tree.agent == share.agent; });
  return work;
}

// All that is known of the file system's files is known by its number.
Status renumber(store::Shares& registry, const SharePlace& place) {
  for (const Share& share : TRY(registry.list())) {
    const bool is_there = share.path == place.path && compare(share, place) == plan::SameRoot::kRenumbered;
    if (is_there) TRY(registry.renumber(share, place.status.device));
  }
  return {};
}

Result<ShareReport> apply(store::Shares& registry, Share share, const ShareRequest& request, const Sharer& sharer,
                          const ShareVoice& voice) {
  const SharePlace place = TRY(find_place(share.path));
  TRY(renumber(registry, place));
  KnownShares known = TRY(read_known(registry));
  TRY(check_is_its_own(known.shares, request.user));
  TRY(join_known(share, place, known.shares));
  ShareWork work = work_of(share, std::move(known), sharer, request.user.groups);
  work.trees.push_back({share.path, share.agent, share.mode});
  const Inspection found = TRY(inspect_share(work, place, voice.progress));
  std::vector<ClosedWay> closed = TRY(ways_to_open(share.path, request.user, sharer.uid));
  std::vector<std::string> names;
  for (ClosedWay& way : closed) {
    names.push_back(way.directory.path);
    way.directory.before = before_shares(work.known, way);
  }
  if (!names.empty()) TRY(voice.consent(names));

  // From here on whatever is changed can be found again: what was there is on the disk before.
  if (share.id == 0) share.id = TRY(registry.add(share));
  work.share.id = share.id;
  TRY(registry.set_root(share));
  TRY(registry.remember(found.originals));
  TRY(registry.update(share.id, share.mode, ShareState::kSharing));
  for (const ClosedWay& way : closed) {
    TRY(registry.add_opened(way.directory));
    TRY(open_way(way));
  }
  const std::size_t changed =
      TRY_CTX(apply_share(work, place, found, voice.progress),
              cat({"share ", printable(share.path), " (hutch unshare takes back what was done)"}));
  TRY(registry.update(share.id, share.mode, ShareState::kShared));
  share.state = ShareState::kShared;
  return ShareReport{.share = share,
                     .files = found.files,
                     .changed = changed,
                     .opened = names,
                     .linked = found.linked_outside,
                     .elsewhere = found.counts.elsewhere,
                     .unreadable = found.counts.unreadable};
}

// What another share gives by now has its list of before among the originals.
Status hand_over(store::Shares& registry, const store::OpenedDirectory& directory) {
  const auto place = find_place(directory.path);
  if (directory.before.empty() || !place) return {};
  return registry.remember({{place->status.device, place->status.inode, directory.path, {directory.before, {}}}});
}

Status close_ways(store::Shares& registry, const ShareWork& work, std::vector<std::string>& closed) {
  const std::uint32_t agent = work.share.agent;
  for (const store::OpenedDirectory& directory : TRY(registry.opened())) {
    if (directory.agent != agent || plan::is_way_to_a_tree(work.trees, agent, directory.path)) continue;
    if (plan::tree_of(work.trees, agent, directory.path) != nullptr) {
      TRY(hand_over(registry, directory));
    } else {
      std::vector<std::uint32_t> others = work.known.users_at(directory.path);
      std::erase(others, agent);
      TRY_CTX(close_way(directory, others), cat({"unshare: ", printable(directory.path)}));
      closed.push_back(directory.path);
    }
    TRY(registry.remove_opened(directory));
  }
  return {};
}

// Nothing where it is gone: there is nothing, or no file or directory, or no directory where one was above it.
Result<std::optional<SharePlace>> found_place(const Share& share) {
  auto place = find_place(share.path);
  if (place) return std::optional(std::move(*place));
  const Error& error = place.error();
  const bool is_gone = error.sys_errno == ENOENT || error.sys_errno == ENOTDIR || error.sys_errno == ELOOP ||
                       error.code == Code::kInvalidArgument;
  return is_gone ? Result<std::optional<SharePlace>>(std::nullopt) : fail(Error(error));
}

// What had other names as well and has none here any more: by those it may still let the agent in.
std::size_t count_moved_links(const ShareWork& work, const std::set<FileKey>& seen) {
  return static_cast<std::size_t>(std::ranges::count_if(work.known.originals, [&](const store::OriginalLists& file) {
    const auto covers = [&](const Share& other) { return is_within(file.path, other.path); };
    return file.is_linked && !seen.contains({file.device, file.inode}) && is_within(file.path, work.share.path) &&
           std::ranges::none_of(work.known.shares, covers);
  }));
}

Result<std::set<FileKey>> restore(store::Shares& registry, const ShareWork& work, const SharePlace& place,
                                  const ShareVoice& voice, ShareReport& report) {
  Restoration done = TRY_CTX(restore_share(work, place, voice.progress),
                             cat({"unshare ", printable(work.share.path), " (again finishes it)"}));
  for (const auto& directory : done.ways) TRY(registry.add_opened(directory));
  report.files = done.files;
  report.changed = done.changed;
  report.linked = done.linked;
  report.elsewhere = done.counts.elsewhere;
  report.unreadable = done.counts.unreadable;
  report.of_others = done.of_others;
  report.open_links = done.open_links;
  report.left = done.left;
  report.covered = done.covered;
  report.is_settled = done.is_settled;
  report.moved_links = count_moved_links(work, done.seen);
  return std::move(done.seen);
}

// A file may have been moved to another share meanwhile: what was not seen stays known until no share is left.
std::vector<store::OriginalLists> originals_over(const ShareWork& work, const std::set<FileKey>& seen) {
  if (work.known.shares.empty()) return work.known.originals;
  std::vector<store::OriginalLists> over;
  std::ranges::copy_if(work.known.originals, std::back_inserter(over), [&](const store::OriginalLists& file) {
    const auto covers = [&](const Share& share) { return is_within(file.path, share.path); };
    // Where the other names are nobody knows.
    return !file.is_linked && seen.contains({file.device, file.inode}) &&
           std::ranges::none_of(work.known.shares, covers);
  });
  return over;
}

Result<ShareReport> take_back(store::Shares& registry, const Share& share, Gone gone, const Sharer& sharer,
                              const ShareVoice& voice) {
  TRY(registry.update(share.id, share.mode, ShareState::kEnding));
  const auto place = TRY(found_place(share));
  if (place) TRY(renumber(registry, *place));
  KnownShares others = TRY(read_known(registry));
  std::erase_if(others.shares, [&](const Share& other) { return other.id == share.id; });
  const auto user = TRY(host::find_os_user(share.user));
  const bool has_user = user && user->uid == share.agent;
  const ShareWork work =
      work_of(share, std::move(others), sharer, has_user ? user->groups : std::vector<std::uint32_t>());
  ShareReport report{.share = share};
  const bool is_same = place && compare(share, *place) != plan::SameRoot::kOther;
  report.gone = !is_same;
  // Something else there may have entries all the same: a copy of an editor's, a disk that has another number now.
  const bool is_another_shares = plan::tree_of(work.trees, share.agent, share.path) != nullptr;
  const bool is_tried = place && gone == Gone::kForgotten && !is_another_shares;
  std::set<FileKey> seen;
  if (is_same || is_tried) seen = TRY(restore(registry, work, *place, voice, report));
  TRY(close_ways(registry, work, report.opened));
  if (!report.is_over() && gone == Gone::kKept) return report;
  TRY(registry.forget(originals_over(work, seen)));
  TRY(registry.remove(share.id));
  return report;
}

Error not_there(const Share& share) {
  return {
      Code::kConflict, 0,
      cat({"what was shared is not at ", printable(share.path), " any more: where it was moved to it lets ", share.user,
           " in still. Move it back and unshare it again, which restores what it had before; hutch unshare --forget ",
           shell_word(share.path), " forgets that"})};
}

std::string named(const std::vector<std::string>& places) {
  std::vector<std::string> first;
  for (const std::string& place : places) {
    if (first.size() < kNamedMax) first.push_back(printable(place));
  }
  const std::size_t more = places.size() - first.size();
  return cat({join(first, ", "), more > 0 ? cat({" and ", std::to_string(more), " more"}) : ""});
}

Error not_over(const ShareReport& report) {
  const std::string& path = report.share.path;
  const std::string forgets = cat({"; hutch unshare --forget ", shell_word(path), " forgets that"});
  if (!report.covered.empty()) {
    return {Code::kConflict, 0,
            cat({"an agent has mounted something at ", named(report.covered), ", over what was shared, which ",
                 report.share.user, " may have still: unmount that (fusermount -u), then unshare ", printable(path),
                 " again", forgets})};
  }
  if (report.left.empty()) {
    return {Code::kConflict, 0,
            cat({printable(path),
                 " was changed by agents again and again while it was taken back, so that something may have been "
                 "missed: end what runs as ",
                 report.share.user, ", and as others that have it, and unshare it again", forgets})};
  }
  return {Code::kConflict, 0,
          cat({"you may not look into ", named(report.left), ", where ", report.share.user,
               " may have put what was shared: open that to yourself, or have root do so, then unshare ",
               printable(path), " again", forgets})};
}

Error not_ended(const ShareReport& report) { return report.gone ? not_there(report.share) : not_over(report); }

Error not_shared(const std::string& path, const std::vector<Share>& shares) {
  for (const Share& share : shares) {
    if (!is_within(path, share.path)) continue;
    return Error::not_found(cat({printable(path), " is not shared itself; it lies in ", printable(share.path),
                                 ", which is: hutch unshare ", shell_word(share.path)}));
  }
  return Error::not_found(cat({printable(path), " is not shared; hutch shared lists what is"}));
}

}  // namespace

Status check_place(const std::string& path, const host::OsUser& user, const Sharer& sharer) {
  if (path == "/") return fail(share_error(path, "that is the whole machine; share what is below it"));
  if (path == sharer.home) {
    return fail(share_error(path, "that is your home, with all credentials in it; share directories below it"));
  }
  for (const std::string& own : {sharer.dirs.config, sharer.dirs.data, sharer.dirs.runtime}) {
    const std::string real = sys::canonical_path(own).value_or(own);
    if (!is_within(path, real) && !is_within(real, path)) continue;
    return fail(share_error(path, cat({"hutch keeps its own files in ", printable(real), "; name another directory"})));
  }
  if (user.uid == sharer.uid) return fail(share_error(path, cat({"you are ", user.name, " yourself"})));
  return {};
}

Result<ShareReport> share(const ShareRequest& request, const Sharer& sharer, const ShareVoice& voice) {
  store::Shares registry = TRY(store::Shares::open(sharer.dirs.data));
  const std::vector<Share> shares = TRY(registry.list());
  const auto agents = TRY(agents_of(shares, {request.user}));
  const std::string path = TRY_CTX(resolve_path(request.path, sharer.uid, agents), "share");
  TRY(check_place(path, request.user, sharer));
  const Share share{.path = path,
                    .user = request.user.name,
                    .agent = request.user.uid,
                    .mode = request.mode,
                    .state = ShareState::kPreparing,
                    .since = store::format_time(store::now())};
  return apply(registry, share, request, sharer, voice);
}

Result<std::vector<ShareReport>> end_share(const std::string& path, const std::string& user, Gone gone,
                                           const Sharer& sharer, const ShareVoice& voice) {
  store::Shares registry = TRY(store::Shares::open(sharer.dirs.data));
  const std::vector<Share> shares = TRY(registry.list());
  // What has the share's own name by now is not asked where it leads.
  std::string name = TRY(absolute_path(path));
  if (std::ranges::find(shares, name, &Share::path) == shares.end()) {
    const auto agents = TRY(agents_of(shares, {}));
    auto resolved = resolve_path(path, sharer.uid, agents);
    if (!resolved && resolved.error().sys_errno == 0) return fail(std::move(resolved).error().with_context("unshare"));
    if (resolved) name = std::move(*resolved);
  }
  std::vector<ShareReport> reports;
  for (const Share& share : shares) {
    if (share.path != name || (!user.empty() && share.user != user)) continue;
    reports.push_back(TRY(take_back(registry, share, gone, sharer, voice)));
    if (!reports.back().is_over() && gone == Gone::kKept) return fail(not_ended(reports.back()));
  }
  if (reports.empty()) return fail(not_shared(name, shares));
  return reports;
}

Result<std::vector<ShareReport>> end_shares_with(const host::OsUser& user, const Sharer& sharer,
                                                 const ShareVoice& voice) {
  store::Shares registry = TRY(store::Shares::open(sharer.dirs.data));
  std::vector<ShareReport> reports;
  for (const Share& share : TRY(registry.list())) {
    if (share.agent != user.uid) continue;
    reports.push_back(TRY(take_back(registry, share, Gone::kKept, sharer, voice)));
  }
  return reports;
}

Result<std::vector<store::Share>> list_shares(const Sharer& sharer) {
  store::Shares registry = TRY(store::Shares::open(sharer.dirs.data));
  return registry.list();
}

Result<std::vector<std::string>> share_commands(const ShareRequest& request, const Sharer& sharer) {
  const auto agents = TRY(agents_of({}, {request.user}));
  const std::string path = TRY_CTX(resolve_path(request.path, sharer.uid, agents), "share");
  TRY(check_place(path, request.user, sharer));
  const SharePlace place = TRY(find_place(path));
  plan::ShareCommands commands{
      .path = path, .user = request.user.name, .owner = {}, .mode = request.mode, .ancestors = {}};
  for (auto& way : TRY(ways_to_open(path, request.user, sharer.uid))) {
    commands.ancestors.push_back(std::move(way.directory.path));
  }
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kAccountsMax));
  if (const auto owner = host::find_account(passwd, place.status.owner); owner && place.status.owner != 0) {
    commands.owner = owner->name;
  }
  return plan::share_commands(commands, plan::Platform::kLinux);
}

}  // namespace hutch::service
