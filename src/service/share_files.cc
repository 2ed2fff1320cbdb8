// Each file's lists: read, judged by plan/sharing, written.
#include "service/share_files.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "sys/acl.h"
#include "sys/files.h"

namespace hutch::service {

namespace {

// Progress is told so often, and so many files of others are named in the refusal.
constexpr std::size_t kProgressEvery = 512;
constexpr std::size_t kNamedMax = 3;
constexpr unsigned kSetGroupId = 02000;

FileKey key_of(const sys::FileStatus& status) { return {status.device, status.inode}; }
bool is_directory(const sys::FileStatus& status) { return status.kind == sys::EntryKind::kDirectory; }

Result<plan::Acl> read_list(int directory, const std::string& name, sys::AclKind kind) {
  const std::string attribute = TRY(sys::acl_attribute(directory, name, kind));
  return attribute.empty() ? plan::Acl() : plan::parse_acl(attribute);
}

Result<plan::SharedFile> read_file(int directory, const std::string& name, const sys::FileStatus& status) {
  plan::SharedFile file{
      .is_directory = is_directory(status), .mode = status.mode, .of = {.owner = status.owner, .group = status.group}};
  file.access = TRY(read_list(directory, name, sys::AclKind::kAccess));
  if (file.is_directory) file.defaults = TRY(read_list(directory, name, sys::AclKind::kDefault));
  return file;
}

Status write_lists(int directory, const std::string& name, const plan::AclChange& change) {
  if (change.access) {
    TRY(sys::set_acl_attribute(directory, name, sys::AclKind::kAccess, plan::encode_acl(*change.access)));
  }
  if (!change.defaults) return {};
  if (change.defaults->empty()) return sys::remove_acl_attribute(directory, name, sys::AclKind::kDefault);
  return sys::set_acl_attribute(directory, name, sys::AclKind::kDefault, plan::encode_acl(*change.defaults));
}

// The file was there when its name was read, and may be gone by now.
bool is_gone(const Error& error) { return error.sys_errno == ENOENT || error.sys_errno == ENOTDIR; }

Error in_path(Error error, const std::string& path) {
  if (error.code == Code::kUnsupported) {
    error.message = cat({printable(path), " is on a file system without access control lists; give a copy instead"});
    return error;
  }
  return std::move(error).with_context(printable(path));
}

Error of_others(const std::vector<std::string>& paths, std::size_t count, const std::string& user) {
  const std::string rest = count > paths.size() ? cat({" and ", std::to_string(count - paths.size()), " more"}) : "";
  return Error{.code = Code::kPermissionDenied,
               .message = cat({"not yours to share with ", user, ": ", join(paths, ", "), rest,
                               "; their owner, or root, can share them"})};
}

}  // namespace

Result<SharePlace> find_place(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  SharePlace place{.parent = TRY(sys::open_exact(slash == 0 ? "/" : path.substr(0, slash))),
                   .name = path.substr(slash + 1),
                   .path = path,
                   .status = {}};
  place.status = TRY(sys::file_status(place.parent.get(), place.name));
  if (is_directory(place.status) || place.status.kind == sys::EntryKind::kFile) return place;
  return fail(Error::invalid(cat({printable(path), " is neither a file nor a directory"})));
}

// Only the innermost share of the agent decides about a file, and the agent's own files need nothing.
bool ShareFiles::is_ours(const TreeFile& file) const {
  if (file.status.owner == share_.agent) return false;
  const plan::SharedTree* decides = plan::tree_of(trees_, share_.agent, file.path);
  return decides == nullptr || decides->path == share_.path;
}

// Whoever may write a directory can rename what is in it. Which share decides about a file is said by its path.
const store::Share* ShareFiles::moved_share(const TreeFile& file) const {
  const auto found = std::ranges::find_if(shares_, [&](const store::Share& other) {
    return other.agent == share_.agent && other.inode == file.status.inode && other.device == file.status.device &&
           other.id != share_.id && other.path != file.path;
  });
  return found == shares_.end() ? nullptr : &*found;
}

Status ShareFiles::check_is_where_it_was(const TreeFile& file) const {
  const store::Share* moved = moved_share(file);
  if (moved == nullptr) return {};
  return fail({Code::kConflict, 0,
               cat({printable(file.path), " was ", printable(moved->path),
                    ", which is shared for itself: move it back, "
                    "or hutch unshare --forget ",
                    printable(moved->path)})});
}

// Whoever changes the list of a file whose group they are not in takes its set-group-id bit away, as with chmod(2).
bool ShareFiles::would_lose_its_group(const TreeFile& file) const {
  const bool has_bit = (file.status.mode & kSetGroupId) != 0;
  return has_bit && sharer_.uid != 0 && std::ranges::find(sharer_.groups, file.status.group) == sharer_.groups.end();
}

std::vector<std::uint32_t> ShareFiles::users_at(const std::string& path) const {
  std::vector<std::uint32_t> users;
  for (const store::Share& other : shares_) {
    const bool had_part = other.id != share_.id || other.state != store::ShareState::kPreparing;
    if (!had_part || !is_within(path, other.path)) continue;
    users.push_back(other.agent);
    if (other.owner != 0) users.push_back(other.owner);
  }
  return users;
}

Result<Inspection> ShareFiles::inspect(const SharePlace& place, const ShareProgress& progress) {
  Inspection found;
  std::vector<std::string> foreign;
  std::size_t foreign_count = 0;
  std::map<FileKey, std::uint32_t> missing_names;
  const auto look = [&](const TreeFile& entry) -> Status {
    if (++found.files % kProgressEvery == 0) progress(found.files, 0);
    TRY(check_is_where_it_was(entry));
    if (!is_directory(entry.status) && entry.status.links > 1) {
      --missing_names.try_emplace(key_of(entry.status), entry.status.links).first->second;
    }
    if (!is_ours(entry)) return {};
    const auto file = read_file(entry.directory, entry.name, entry.status);
    if (!file && is_gone(file.error())) return {};
    if (!file) return fail(in_path(file.error(), entry.path));
    if (!may_change(entry)) {
      if (plan::may_already(*file, tree_, groups_)) return {};
      if (++foreign_count <= kNamedMax) foreign.push_back(printable(entry.path));
      return {};
    }
    if (would_lose_its_group(entry)) {
      return fail(Error{.code = Code::kPermissionDenied,
                        .message = cat({printable(entry.path),
                                        " has the set-group-id bit of a group that you are not in,"
                                        " and would lose it: chmod g-s it, or have root share it"})});
    }
    if (file->access.empty() && file->defaults.empty()) return {};
    const std::vector<std::uint32_t> users = users_at(entry.path);
    if (!plan::has_own_lists(*file, users)) return {};
    found.originals.push_back({entry.status.device, entry.status.inode, entry.path, plan::own_lists(*file, users)});
    return {};
  };
  found.counts = TRY(walk_tree(place.parent.get(), place.name, place.path, look));
  if (foreign_count > 0) return fail(of_others(foreign, foreign_count, share_.user));
  for (const auto& [key, missing] : missing_names) {
    if (missing > 0) found.linked_outside.insert(key);
  }
  return found;
}

Result<std::size_t> ShareFiles::apply(const SharePlace& place, const Inspection& found, const ShareProgress& progress) {
  plan::SharedTree for_reading = tree_;
  for_reading.mode = plan::ShareMode::kReadOnly;
  std::size_t done = 0;
  std::size_t changed = 0;
  const auto share_one = [&](const TreeFile& entry) -> Status {
    if (++done % kProgressEvery == 0) progress(done, found.files);
    TRY(check_is_where_it_was(entry));
    if (!is_ours(entry) || !may_change(entry)) return {};
    const auto file = read_file(entry.directory, entry.name, entry.status);
    if (!file && is_gone(file.error())) return {};
    if (!file) return fail(in_path(file.error(), entry.path));
    const bool reads = found.linked_outside.contains(key_of(entry.status));
    const plan::AclChange change = plan::share_file(*file, reads ? for_reading : tree_, share_.owner);
    if (!change.access && !change.defaults) return {};
    const Status written = write_lists(entry.directory, entry.name, change);
    if (!written && !is_gone(written.error())) return fail(in_path(written.error(), entry.path));
    if (written) ++changed;
    return {};
  };
  TRY(walk_tree(place.parent.get(), place.name, place.path, share_one));
  return changed;
}

Result<Restoration> ShareFiles::restore(const SharePlace& place, const std::vector<store::OriginalLists>& originals,
                                        const ShareProgress& progress) {
  std::map<FileKey, plan::AclBefore> before;
  for (const store::OriginalLists& file : originals) before[{file.device, file.inode}] = file.lists;
  Restoration done;
  // What has another name by now gets nothing again by that name.
  std::vector<std::string> moved;
  const auto restore_one = [&](const TreeFile& entry) -> Status {
    if (++done.files % kProgressEvery == 0) progress(done.files, 0);
    if (moved_share(entry) != nullptr) moved.push_back(entry.path);
    if (entry.status.owner == share_.agent || !may_change(entry)) return {};
    const auto file = read_file(entry.directory, entry.name, entry.status);
    if (!file && is_gone(file.error())) return {};
    if (!file) return fail(in_path(file.error(), entry.path));
    if (file->access.empty() && file->defaults.empty()) return {};
    const plan::SharedTree* gives = plan::tree_of(trees_, share_.agent, entry.path);
    const auto covers = [&](const plan::SharedTree& tree) { return is_within(entry.path, tree.path); };
    plan::Remaining remaining{.owner_stays = std::ranges::any_of(trees_, covers)};
    const auto has_it = [&](const std::string& top) { return is_within(entry.path, top); };
    if (gives != nullptr && std::ranges::none_of(moved, has_it)) remaining.mode = gives->mode;
    const auto was = before.find(key_of(entry.status));
    const auto lists = was == before.end() ? std::nullopt : std::optional(was->second);
    if (gives == nullptr && plan::is_way_to_a_tree(trees_, share_.agent, entry.path)) {
      const plan::AclChange closed = plan::unshare_file(*file, tree_, share_.owner, remaining, lists);
      done.ways.push_back({entry.path, share_.agent, closed.access.value_or(file->access)});
      remaining.passes = true;
    }
    const plan::AclChange change = plan::unshare_file(*file, tree_, share_.owner, remaining, lists);
    if (!change.access && !change.defaults) return {};
    const Status written = write_lists(entry.directory, entry.name, change);
    if (!written && !is_gone(written.error())) return fail(in_path(written.error(), entry.path));
    if (written) ++done.changed;
    return {};
  };
  done.counts = TRY(walk_tree(place.parent.get(), place.name, place.path, restore_one));
  return done;
}

Result<std::vector<store::OpenedDirectory>> ancestors_to_open(const std::string& path, const host::OsUser& user,
                                                              std::uint32_t sharer) {
  std::vector<store::OpenedDirectory> closed;
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string directory = path.substr(0, slash);
    const SharePlace place = TRY(find_place(directory));
    const auto file = read_file(place.parent.get(), place.name, place.status);
    if (!file && file.error().code != Code::kUnsupported) return fail(in_path(file.error(), directory));
    // A directory whose file system keeps no lists lets through whom its mode lets through.
    const plan::SharedFile by_mode{.mode = place.status.mode,
                                   .of = {.owner = place.status.owner, .group = place.status.group}};
    const plan::SharedFile& found = file ? *file : by_mode;
    const plan::Acl access = plan::access_of(found);
    if ((plan::rights_of(access, found.of, user.uid, user.groups) & plan::kAclExecute) != 0) continue;
    if (!file) return fail(in_path(file.error(), directory));
    if (sharer != 0 && place.status.owner != sharer) {
      return fail(Error{.code = Code::kPermissionDenied,
                        .message = cat({user.name, " cannot pass through ", printable(directory),
                                        ", which is not yours; its owner, or root, can share what is below it"})});
    }
    closed.push_back({directory, user.uid, found.access});
  }
  return closed;
}

Status open_directory(const store::OpenedDirectory& directory) {
  const SharePlace place = TRY(find_place(directory.path));
  const plan::SharedFile file = TRY(read_file(place.parent.get(), place.name, place.status));
  const plan::AclChange change{.access = plan::with_user(plan::access_of(file), directory.agent, plan::kAclExecute),
                               .defaults = {}};
  return write_lists(place.parent.get(), place.name, change);
}

Status close_directory(const store::OpenedDirectory& directory) {
  const auto place = find_place(directory.path);
  if (!place && is_gone(place.error())) return {};
  if (!place) return fail(Error(place.error()));
  const plan::SharedFile file = TRY(read_file(place->parent.get(), place->name, place->status));
  if (file.access.empty()) return {};
  const std::array users = {directory.agent};
  const plan::Acl access = directory.before.empty() ? plan::without_users(file.access, users)
                                                    : plan::restored(file.access, directory.before, users);
  if (access == file.access) return {};
  return write_lists(place->parent.get(), place->name, {.access = access, .defaults = {}});
}

}  // namespace hutch::service
