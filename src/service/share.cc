// The story of a share, and of its end.
#include "service/share.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "plan/share_commands.h"
#include "service/share_files.h"
#include "store/record.h"
#include "store/spool.h"
#include "sys/files.h"
#include "sys/host_info.h"

namespace hutch::service {

namespace {

using store::Share;
using store::ShareState;

constexpr std::size_t kAccountsMax = 16 << 20;  // of /etc/passwd

Error refused(const std::string& path, std::string_view why) {
  return Error::invalid(cat({"share ", printable(path), ": ", why}));
}

std::vector<plan::SharedTree> trees_of(const std::vector<Share>& shares) {
  std::vector<plan::SharedTree> trees;
  for (const Share& share : shares) trees.push_back({share.path, share.agent, share.mode});
  return trees;
}

// A number may have been another user's, who could use what is shared with it still.
Status check_is_its_own(const std::vector<Share>& shares, const host::OsUser& user) {
  for (const Share& share : shares) {
    if (share.agent != user.uid || share.user == user.name) continue;
    return fail({Code::kConflict, 0,
                 cat({printable(share.path), " is shared with ", share.user, " still, whose number (",
                      std::to_string(share.agent), ") is that of ", user.name, " now: hutch unshare ",
                      printable(share.path), " first"})});
  }
  return {};
}

// In a tree that the agent may write, what has the name now may be something that it put there.
Status check_is_same(const Share& known, const SharePlace& place, const std::vector<Share>& others) {
  const bool same = known.inode == place.status.inode && known.device == place.status.device;
  const auto writes = [&](const Share& other) {
    return other.agent == known.agent && other.mode == plan::ShareMode::kReadWrite && is_within(known.path, other.path);
  };
  if (known.inode == 0 || same || std::ranges::none_of(others, writes)) return {};
  return fail({Code::kConflict, 0,
               cat({printable(known.path), " is not what was shared: move that back, or hutch unshare --forget ",
                    printable(known.path), " first"})});
}

Result<ShareReport> apply(store::Shares& registry, Share share, const ShareRequest& request, const Sharer& sharer,
                          const ShareVoice& voice) {
  std::vector<Share> all = TRY(registry.list());
  TRY(check_is_its_own(all, request.user));
  const SharePlace place = TRY(find_place(share.path));
  const auto known = std::ranges::find_if(
      all, [&](const Share& other) { return other.path == share.path && other.agent == share.agent; });
  if (known != all.end()) {
    share.id = known->id;
    share.since = known->since;
    share.state = known->state;
    const Share before = *known;
    all.erase(known);
    TRY(check_is_same(before, place, all));
  }
  share.owner = place.status.owner;
  share.device = place.status.device;
  share.inode = place.status.inode;
  all.push_back(share);
  ShareFiles files(share, trees_of(all), all, {sharer.uid, sharer.groups, sharer.umask}, request.user.groups);
  const Inspection found = TRY(files.inspect(place, voice.progress));
  const std::vector<store::OpenedDirectory> closed = TRY(ancestors_to_open(share.path, request.user, sharer.uid));
  std::vector<std::string> names;
  for (const auto& directory : closed) names.push_back(directory.path);
  if (!names.empty()) TRY(voice.consent(names));

  // From here on whatever is changed can be found again: what was there is on the disk before.
  if (share.id == 0) share.id = TRY(registry.add(share));
  TRY(registry.set_root(share));
  TRY(registry.remember(found.originals));
  TRY(registry.update(share.id, share.mode, ShareState::kSharing));
  for (const auto& directory : closed) {
    TRY(registry.add_opened(directory));
    TRY(open_directory(directory));
  }
  const std::size_t changed =
      TRY_CTX(files.apply(place, found, voice.progress),
              cat({"share ", printable(share.path), " (hutch unshare takes back what was done)"}));
  TRY(registry.update(share.id, share.mode, ShareState::kShared));
  share.state = ShareState::kShared;
  return ShareReport{.share = share,
                     .files = found.files,
                     .changed = changed,
                     .opened = names,
                     .linked = found.linked_outside.size(),
                     .elsewhere = found.counts.elsewhere,
                     .unreadable = found.counts.unreadable};
}

Status close_ancestors(store::Shares& registry, std::uint32_t agent, const std::vector<plan::SharedTree>& others,
                       std::vector<std::string>& closed) {
  for (const store::OpenedDirectory& directory : TRY(registry.opened())) {
    if (directory.agent != agent || plan::is_way_to_a_tree(others, agent, directory.path)) continue;
    TRY_CTX(close_directory(directory), cat({"unshare: ", printable(directory.path)}));
    TRY(registry.remove_opened(directory));
    closed.push_back(directory.path);
  }
  return {};
}

Result<ShareReport> take_back(store::Shares& registry, const Share& share, Gone gone, const Sharer& sharer,
                              const ShareVoice& voice) {
  TRY(registry.update(share.id, share.mode, ShareState::kEnding));
  std::vector<Share> others = TRY(registry.list());
  std::erase_if(others, [&](const Share& other) { return other.id == share.id; });
  const std::vector<plan::SharedTree> trees = trees_of(others);
  const std::vector<store::OriginalLists> originals = TRY(registry.originals());
  ShareReport report{.share = share};
  const auto place = find_place(share.path);
  if (place) {
    ShareFiles files(share, trees, others, {sharer.uid, sharer.groups, sharer.umask}, {});
    const Restoration done = TRY_CTX(files.restore(*place, originals, voice.progress),
                                     cat({"unshare ", printable(share.path), " (again finishes it)"}));
    for (const auto& directory : done.ways) TRY(registry.add_opened(directory));
    report.files = done.files;
    report.changed = done.changed;
    report.elsewhere = done.counts.elsewhere;
    report.unreadable = done.counts.unreadable;
  } else if (place.error().sys_errno != ENOENT) {
    return fail(Error(place.error()));
  }
  report.gone = !place;
  TRY(close_ancestors(registry, share.agent, trees, report.opened));
  if (report.gone && gone == Gone::kKept) return report;
  std::vector<store::OriginalLists> over;
  std::ranges::copy_if(originals, std::back_inserter(over), [&](const store::OriginalLists& file) {
    const auto covers = [&](const plan::SharedTree& tree) { return is_within(file.path, tree.path); };
    return is_within(file.path, share.path) && std::ranges::none_of(trees, covers);
  });
  TRY(registry.forget(over));
  TRY(registry.remove(share.id));
  return report;
}

Error not_there(const Share& share) {
  return {
      Code::kConflict, 0,
      cat({"nothing is at ", printable(share.path), " any more: what was moved away lets ", share.user,
           " in still. Move it back and unshare it again, which restores what it had before; hutch unshare --forget ",
           printable(share.path), " forgets that"})};
}

Error not_shared(const std::string& path, const std::vector<Share>& shares) {
  for (const Share& share : shares) {
    if (!is_within(path, share.path)) continue;
    return Error::not_found(cat({printable(path), " is not shared itself; it lies in ", printable(share.path),
                                 ", which is: hutch unshare ", printable(share.path)}));
  }
  return Error::not_found(cat({printable(path), " is not shared; hutch shared lists what is"}));
}

}  // namespace

Status check_place(const std::string& path, const host::OsUser& user, const Sharer& sharer) {
  if (path == "/") return fail(refused(path, "that is the whole machine; share what is below it"));
  if (path == sharer.home) {
    return fail(refused(path, "that is your home, with all credentials in it; share directories below it"));
  }
  for (const std::string& own : {sharer.dirs.config, sharer.dirs.data, sharer.dirs.runtime}) {
    const std::string real = sys::canonical_path(own).value_or(own);
    if (!is_within(path, real) && !is_within(real, path)) continue;
    return fail(refused(path, cat({"hutch keeps its own files in ", printable(real), "; name another directory"})));
  }
  if (user.uid == sharer.uid) return fail(refused(path, cat({"you are ", user.name, " yourself"})));
  return {};
}

Result<ShareReport> share(const ShareRequest& request, const Sharer& sharer, const ShareVoice& voice) {
  const std::string path = TRY_CTX(sys::canonical_path(request.path), "share");
  TRY(check_place(path, request.user, sharer));
  store::Shares registry = TRY(store::Shares::open(sharer.dirs.data));
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
  // What was shared may be gone: then its name is all there is.
  const std::string canonical = sys::canonical_path(path).value_or(path);
  const std::vector<Share> shares = TRY(registry.list());
  std::vector<ShareReport> reports;
  for (const Share& share : shares) {
    if (share.path != canonical || (!user.empty() && share.user != user)) continue;
    reports.push_back(TRY(take_back(registry, share, gone, sharer, voice)));
    if (reports.back().gone && gone == Gone::kKept) return fail(not_there(share));
  }
  if (reports.empty()) return fail(not_shared(canonical, shares));
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
  const std::string path = TRY_CTX(sys::canonical_path(request.path), "share");
  TRY(check_place(path, request.user, sharer));
  const SharePlace place = TRY(find_place(path));
  plan::ShareCommands commands{
      .path = path, .user = request.user.name, .owner = {}, .mode = request.mode, .ancestors = {}};
  for (auto& directory : TRY(ancestors_to_open(path, request.user, sharer.uid))) {
    commands.ancestors.push_back(std::move(directory.path));
  }
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kAccountsMax));
  if (const auto owner = host::find_account(passwd, place.status.owner); owner && place.status.owner != 0) {
    commands.owner = owner->name;
  }
  return plan::share_commands(commands, plan::Platform::kLinux);
}

}  // namespace hutch::service
