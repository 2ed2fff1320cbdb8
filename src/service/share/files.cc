// Each file's lists: read, judged by plan/setup/sharing, written.
#include "service/share/files.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "service/share/lists.h"
#include "sys/files/birth.h"
#include "sys/files/files.h"

namespace hutch::service {

namespace {

// Progress is told so often, and so many files of others are named in the refusal.
constexpr std::size_t kProgressEvery = 512;
constexpr std::size_t kNamedFilesMax = 3;
constexpr unsigned kSetGroupId = 02000;

bool is_directory(const sys::FileStatus& status) { return status.kind == sys::EntryKind::kDirectory; }
bool has_more_names(const sys::FileStatus& status) { return !is_directory(status) && status.links > 1; }

Error of_others(const std::vector<std::string>& paths, std::size_t count, const std::string& user) {
  const std::string rest = count > paths.size() ? cat({" and ", std::to_string(count - paths.size()), " more"}) : "";
  return Error{.code = Code::kPermissionDenied,
               .message = cat({"not yours to share with ", user, ": ", join(paths, ", "), rest,
                               "; their owner, or root, can share them"})};
}

// Only the innermost share of the agent decides about a file, and the agent's own files need nothing.
bool is_decided_here(const ShareWork& work, const TreeFile& file) {
  if (file.status.owner == work.share.agent) return false;
  const plan::SharedTree* decides = plan::tree_of(work.trees, work.share.agent, file.path);
  return decides == nullptr || decides->path == work.share.path;
}

// Whoever may write a directory can rename what is in it. Which share decides about a file is said by its path.
Status check_is_where_it_was(const ShareWork& work, const TreeFile& file) {
  const store::Share* moved = work.moved_share(file);
  if (moved == nullptr) return {};
  return fail({Code::kConflict, 0,
               cat({printable(file.path), " was ", printable(moved->path),
                    ", which is shared for itself: move it back, "
                    "or hutch unshare --forget ",
                    shell_word(moved->path)})});
}

// Whoever changes the list of a file whose group they are not in takes its set-group-id bit away, as with chmod(2). An
// agent's group is nothing to keep.
bool would_lose_its_group(const ShareWork& work, const TreeFile& file) {
  const bool has_bit = (file.status.mode & kSetGroupId) != 0 && !work.has_agents_group(file);
  const auto& groups = work.sharer.groups;
  return has_bit && work.sharer.uid != 0 && std::ranges::find(groups, file.status.group) == groups.end();
}

unsigned rights_of_agent(const ShareWork& work, const plan::SharedFile& file) {
  return plan::rights_of(plan::access_of(file), file.of, work.share.agent, work.groups);
}

class Inspector {
 public:
  Inspector(const ShareWork& work, const ShareProgress& progress)
      : work_(work),
        progress_(progress),
        names_may_move_(plan::is_written_by_agents(others_and_before(work), work.share.path)) {}

  Status visit(const TreeFile& entry) {
    if (++found_.files % kProgressEvery == 0) progress_(found_.files, 0);
    TRY(check_is_where_it_was(work_, entry));
    if (has_more_names(entry.status))
      --missing_names_.try_emplace(key_of(entry.status), entry.status.links).first->second;
    if (is_directory(entry.status) && entry.status.owner == work_.share.agent) names_may_move_ = true;
    if (!is_decided_here(work_, entry)) return {};
    const auto file = read_lists(entry.file, entry.status);
    if (!file) return fail(list_error(file.error(), entry.path));
    note_rights(entry, *file);
    if (!work_.may_change(entry)) {
      if (plan::may_already(*file, work_.tree, work_.groups)) return {};
      if (++foreign_count_ <= kNamedFilesMax) foreign_.push_back(printable(entry.path));
      return {};
    }
    if (would_lose_its_group(work_, entry)) {
      return fail(Error{.code = Code::kPermissionDenied,
                        .message = cat({printable(entry.path),
                                        " has the set-group-id bit of a group that you are not in,"
                                        " and would lose it: chmod g-s it, or have root share it"})});
    }
    note_original(entry, *file);
    return {};
  }

  Result<Inspection> finish(const WalkCounts& counts) {
    found_.counts = counts;
    if (foreign_count_ > 0) return fail(of_others(foreign_, foreign_count_, work_.share.user));
    for (const auto& [key, missing] : missing_names_) {
      const bool is_inside = names_may_move_ ? writable_.contains(key) : missing == 0;
      if (is_inside) found_.linked_inside.insert(key);
    }
    found_.linked_outside = missing_names_.size() - found_.linked_inside.size();
    return std::move(found_);
  }

 private:
  // What this share itself was before counts: its agent may be renaming things by it.
  static std::vector<plan::SharedTree> others_and_before(const ShareWork& work) {
    std::vector<plan::SharedTree> trees;
    for (const store::Share& share : work.known.shares) {
      if (share.state == store::ShareState::kPreparing) continue;
      const bool is_settled = share.state == store::ShareState::kShared;
      trees.push_back({share.path, share.agent, is_settled ? share.mode : plan::ShareMode::kReadWrite});
    }
    return trees;
  }

  void note_rights(const TreeFile& entry, const plan::SharedFile& file) {
    if (!is_directory(entry.status) && !has_more_names(entry.status)) return;
    if ((rights_of_agent(work_, file) & plan::kAclWrite) == 0) return;
    if (is_directory(entry.status)) names_may_move_ = true;
    if (!is_directory(entry.status)) writable_.insert(key_of(entry.status));
  }

  void note_original(const TreeFile& entry, const plan::SharedFile& file) {
    const bool has_agents_group = work_.has_agents_group(entry);
    // A name of such a file is the agent's to move away; by another one the file goes on.
    const bool is_linked = has_more_names(entry.status);
    if (file.access.empty() && file.defaults.empty() && !has_agents_group && !is_linked) return;
    const std::vector<std::uint32_t> users = work_.known.users_at(entry.path);
    const std::vector<std::uint32_t> agents = work_.known.agents();
    plan::AclBefore lists = plan::own_lists(file, users, work_.known.groups());
    const auto& opened = work_.known.opened;
    const auto way = std::ranges::find(opened, entry.path, &store::OpenedDirectory::path);
    if (way != opened.end()) lists.access = way->before;
    // A group that was the agent's before anything was shared stays so; later an agent's directory may have given it.
    const bool may_be_given = entry.status.group == work_.share.agent
                                  ? std::ranges::find(agents, work_.share.agent) != agents.end()
                                  : !agents.empty();
    const bool keeps_group = has_agents_group && !may_be_given;
    if (lists.access.empty() && lists.defaults.empty() && !keeps_group && !is_linked) return;
    found_.originals.push_back(
        {entry.status.device, entry.status.inode, entry.path, std::move(lists), is_linked, keeps_group});
  }

  const ShareWork& work_;
  const ShareProgress& progress_;
  Inspection found_;
  std::vector<std::string> foreign_;
  std::size_t foreign_count_ = 0;
  // A name that an agent moves during the walk may be counted twice, or not: then nothing follows from their number,
  // and a file that the agent may not write already is for reading alone.
  bool names_may_move_;
  std::map<FileKey, std::uint32_t> missing_names_;
  std::set<FileKey> writable_;
};

}  // namespace

FileKey key_of(const sys::FileStatus& status) { return {status.device, status.inode}; }

Result<SharePlace> find_place(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  SharePlace place{.parent = TRY(sys::open_exact(slash == 0 ? "/" : path.substr(0, slash))),
                   .name = path.substr(slash + 1),
                   .path = path,
                   .status = {}};
  place.status = TRY(sys::file_status(place.parent.get(), place.name));
  place.born_ns = TRY(sys::birth_ns(place.parent.get(), place.name));
  if (is_directory(place.status) || place.status.kind == sys::EntryKind::kFile) return place;
  return fail(Error::invalid(cat({printable(path), " is neither a file nor a directory"})));
}

std::vector<plan::SharedTree> KnownShares::trees() const {
  std::vector<plan::SharedTree> trees;
  for (const store::Share& share : shares) {
    if (share.state != store::ShareState::kEnding) trees.push_back({share.path, share.agent, share.mode});
  }
  return trees;
}

std::vector<std::uint32_t> KnownShares::agents() const {
  std::vector<std::uint32_t> agents;
  for (const store::Share& share : shares) {
    if (share.state != store::ShareState::kPreparing) agents.push_back(share.agent);
  }
  for (const store::OpenedDirectory& directory : opened) agents.push_back(directory.agent);
  return agents;
}

std::vector<std::uint32_t> KnownShares::groups() const {
  std::vector<std::uint32_t> groups = agents();
  if (common_group) groups.push_back(*common_group);
  return groups;
}

// A file may have come from where an agent's share is, or have another name there.
std::vector<std::uint32_t> KnownShares::users_at(const std::string& path) const {
  std::vector<std::uint32_t> users = agents();
  for (const store::Share& share : shares) {
    if (share.state == store::ShareState::kPreparing) continue;
    if (share.owner != 0 && is_within(path, share.path)) users.push_back(share.owner);
  }
  return users;
}

const store::Share* ShareWork::moved_share(const TreeFile& file) const {
  const auto found = std::ranges::find_if(known.shares, [&](const store::Share& other) {
    return other.agent == share.agent && other.inode == file.status.inode && other.device == file.status.device &&
           other.id != share.id && other.path != file.path;
  });
  return found == known.shares.end() ? nullptr : &*found;
}

Result<Inspection> inspect_share(const ShareWork& work, const SharePlace& place, const ShareProgress& progress) {
  Inspector inspector(work, progress);
  const auto nothing = [](const TreeFile&) { return Status(); };
  const auto visit = [&](const TreeFile& entry) { return inspector.visit(entry); };
  const WalkCounts counts = TRY(walk_tree(place, {.visit = visit, .closed = nothing}));
  return inspector.finish(counts);
}

Result<std::size_t> apply_share(const ShareWork& work, const SharePlace& place, const Inspection& found,
                                const ShareProgress& progress) {
  plan::SharedTree for_reading = work.tree;
  for_reading.mode = plan::ShareMode::kReadOnly;
  std::size_t done = 0;
  std::size_t changed = 0;
  const auto share_one = [&](const TreeFile& entry) -> Status {
    if (++done % kProgressEvery == 0) progress(done, found.files);
    TRY(check_is_where_it_was(work, entry));
    if (!is_decided_here(work, entry) || !work.may_change(entry)) return {};
    const auto file = read_lists(entry.file, entry.status);
    if (!file) return fail(list_error(file.error(), entry.path));
    const bool reads = has_more_names(entry.status) && !found.linked_inside.contains(key_of(entry.status));
    const plan::AclChange change = plan::share_file(*file, reads ? for_reading : work.tree, work.share.owner);
    if (!change.access && !change.defaults) return {};
    const Status written = write_lists(entry.file, change);
    if (!written) return fail(list_error(written.error(), entry.path));
    ++changed;
    return {};
  };
  const auto nothing = [](const TreeFile&) { return Status(); };
  TRY(walk_tree(place, {.visit = share_one, .closed = nothing}));
  return changed;
}

}  // namespace hutch::service
