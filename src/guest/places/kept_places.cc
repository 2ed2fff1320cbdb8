// Finds what keeps the kernel from a change that the supervisor lets through: a read-only mount, or a mount on a name.
#include "guest/places/kept_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/text.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"

namespace hutch::guest {

namespace {

// Whether hutch made this directory because it contains a directory that the sandbox sees. Below a private home it
// hides a directory of the host's that the user can write.
bool is_on_the_way(const Places& places, int fd, mode_t mode, std::string path) {
  if (!S_ISDIR(mode) || (mode & 0777) != kPassedThroughMode || !sys::is_on_tmpfs(fd).value_or(false)) return false;
  while (path.rfind('/') != 0 && path.rfind('/') != std::string::npos) {
    path.resize(path.rfind('/'));
    if (places.is_writable(path)) return true;
  }
  return false;
}

// faccessat(2) asks the mode and the ACL first: EROFS means that only the mount is in the way. The sandbox sees
// supervised places read-only too, though the supervisor writes them.
bool is_kept(const Places& places, int fd) {
  const auto what = sys::look_at(fd);
  if (!what || !(S_ISREG(what->mode) || S_ISDIR(what->mode))) return false;
  const Status may = sys::check_access_of(fd, W_OK, AT_EACCESS);
  const int error = may ? 0 : may.error().sys_errno;
  if (error != EROFS && error != EACCES) return false;
  auto path = sys::path_of(places.proc(), fd);
  if (!path || places.is_writable(*path)) return false;
  return error == EROFS || is_on_the_way(places, fd, what->mode, std::move(*path));
}

// An entry of a directory, as the caller names it.
struct NamedEntry {
  UniqueFd directory;
  std::string name;
};

std::optional<NamedEntry> entry_of(const Places& places, const CallerPath& path) {
  std::string_view text = path.text;
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  const std::size_t slash = text.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return std::nullopt;
  CallerPath above = path;
  above.text = slash == std::string_view::npos ? "." : slash == 0 ? "/" : std::string(text.substr(0, slash));
  auto directory = places.seen(above, sys::LastLink::kFollow);
  if (!directory) return std::nullopt;
  return NamedEntry{std::move(*directory), std::string(name)};
}

std::optional<KeptPlace> named_place(const Places& places, const NamedEntry& entry, plan::NameIs name) {
  auto path = sys::path_of(places.proc(), entry.directory.get());
  if (!path || !path->starts_with('/')) return std::nullopt;
  return KeptPlace{*path == "/" ? cat({"/", entry.name}) : cat({*path, "/", entry.name}), name};
}

std::optional<KeptPlace> kept_new_name(const Places& places, const CallerPath& path, plan::NameIs name) {
  const auto entry = entry_of(places, path);
  if (!entry) return std::nullopt;
  const auto there = sys::look_at_name(entry->directory.get(), entry->name);
  if (there || there.error().sys_errno != ENOENT) return std::nullopt;
  return is_kept(places, entry->directory.get()) ? named_place(places, *entry, name) : std::nullopt;
}

// A name that is there. A mount on it lets nobody remove or rename it (EBUSY).
std::optional<KeptPlace> kept_name(const Places& places, const CallerPath& path) {
  const auto entry = entry_of(places, path);
  if (!entry) return std::nullopt;
  const auto there = sys::look_at_name(entry->directory.get(), entry->name);
  const auto above = sys::look_at(entry->directory.get());
  if (!there || !above) return std::nullopt;
  const bool is_mounted = there->mount != above->mount;
  const bool kept = is_mounted || is_kept(places, entry->directory.get());
  return kept ? named_place(places, *entry, plan::NameIs::kThere) : std::nullopt;
}

std::optional<KeptPlace> kept_file(const Places& places, const Result<UniqueFd>& seen) {
  if (!seen || !is_kept(places, seen->get())) return std::nullopt;
  auto path = sys::path_of(places.proc(), seen->get());
  if (!path || !path->starts_with('/')) return std::nullopt;
  return KeptPlace{std::move(*path), plan::NameIs::kThere};
}

std::optional<KeptPlace> kept_from_opening(const Places& places, const AccessCall& call) {
  const bool creates = (call.flags & O_CREAT) != 0;
  const bool writes = (call.flags & O_ACCMODE) != O_RDONLY || (call.flags & O_TRUNC) != 0;
  const auto last = (call.flags & O_NOFOLLOW) != 0 ? sys::LastLink::kKeep : sys::LastLink::kFollow;
  const auto seen = places.seen(call.path, last);
  if (seen) return writes && (call.flags & O_EXCL) == 0 ? kept_file(places, seen) : std::nullopt;
  return creates ? kept_new_name(places, call.path, plan::NameIs::kNewFile) : std::nullopt;
}

std::optional<KeptPlace> find_kept(const Places& places, const AccessCall& call) {
  using enum AccessKind;
  switch (call.kind) {
    case kOpen: return call.descriptor ? std::nullopt : kept_from_opening(places, call);
    case kMakeDirectory: return kept_new_name(places, call.path, plan::NameIs::kNewDirectory);
    case kMakeNode:
    case kMakeSymlink: return kept_new_name(places, call.path, plan::NameIs::kNew);
    case kLink: return kept_new_name(places, call.other, plan::NameIs::kNew);
    case kRemove: return kept_name(places, call.path);
    case kRename: {
      auto from = kept_name(places, call.path);
      if (from) return from;
      auto to = kept_name(places, call.other);
      return to ? std::move(to) : kept_new_name(places, call.other, plan::NameIs::kNew);
    }
    case kMode:
    case kOwner:
    case kTimes:
    case kTruncate:
    case kSetAttribute:
    case kRemoveAttribute:
      return kept_file(places, call.descriptor ? places.seen(call.path.caller, *call.descriptor)
                                               : places.seen(call.path, call.last));
    case kCreationMask:
    case kPutContent:
    case kAskAccess:
    case kLook:
    case kConnect:
    case kBind: break;
  }
  return std::nullopt;
}

bool is_full(const NamedEntry& entry) {
  const auto listing = sys::open_listing_at(entry.directory.get(), entry.name);
  const auto names = listing ? sys::names_in(listing->get(), entry.name) : Result<std::vector<sys::TreeEntry>>();
  return names && !names->empty();
}

// Modes do not hold root outside, which has no such right in the sandbox.
bool is_held_by_mode(int fd) {
  const Status may = sys::check_access_of(fd, W_OK, AT_EACCESS);
  return !may && may.error().sys_errno == EACCES && sys::user_id() != 0;
}

// The directory in which the call makes or removes a name.
int error_of_directory(const NamedEntry& entry) {
  const auto what = sys::look_at(entry.directory.get());
  const bool is_of_person = what && (what->mode & 0777) != kPassedThroughMode;
  return is_of_person && is_held_by_mode(entry.directory.get()) ? EACCES : 0;
}

int error_of_removal(const Places& places, const AccessCall& call) {
  const auto entry = entry_of(places, call.path);
  if (!entry) return 0;
  const auto there = sys::look_at_name(entry->directory.get(), entry->name);
  if (!there) return there.error().sys_errno == ENOENT ? ENOENT : 0;
  const bool is_rmdir = (call.flags & AT_REMOVEDIR) != 0;
  if (is_rmdir && !S_ISDIR(there->mode)) return ENOTDIR;
  if (!is_rmdir && S_ISDIR(there->mode)) return EISDIR;
  return is_rmdir && is_full(*entry) ? ENOTEMPTY : error_of_directory(*entry);
}

int error_of_rename(const Places& places, const AccessCall& call) {
  static constexpr int kMustBeNew = 1;  // RENAME_NOREPLACE of renameat2(2)
  static constexpr int kChange = 2;     // RENAME_EXCHANGE
  const auto from = entry_of(places, call.path);
  const auto to = entry_of(places, call.other);
  if (!from || !to || (call.flags & kChange) != 0) return 0;
  const auto moved = sys::look_at_name(from->directory.get(), from->name);
  const auto there = sys::look_at_name(to->directory.get(), to->name);
  if (!moved || !there || moved->is_same(*there)) return 0;
  if ((call.flags & kMustBeNew) != 0) return EEXIST;
  if (S_ISDIR(moved->mode) && !S_ISDIR(there->mode)) return ENOTDIR;
  if (!S_ISDIR(moved->mode) && S_ISDIR(there->mode)) return EISDIR;
  return S_ISDIR(there->mode) && is_full(*to) ? ENOTEMPTY : 0;
}

int error_of_writing(const Result<UniqueFd>& seen) {
  const auto what = seen ? sys::look_at(seen->get()) : Result<sys::Resolved>(sys::Resolved());
  if (!seen || !what) return 0;
  if (S_ISDIR(what->mode)) return EISDIR;
  return S_ISREG(what->mode) && is_held_by_mode(seen->get()) ? EACCES : 0;
}

int error_of_opening(const Places& places, const AccessCall& call) {
  const bool writes = (call.flags & O_ACCMODE) != O_RDONLY || (call.flags & O_TRUNC) != 0;
  if (call.descriptor || !writes) return 0;
  const auto last = (call.flags & O_NOFOLLOW) != 0 ? sys::LastLink::kKeep : sys::LastLink::kFollow;
  const auto seen = places.seen(call.path, last);
  if (!seen) {
    const auto entry = entry_of(places, call.path);
    return entry ? error_of_directory(*entry) : 0;
  }
  return error_of_writing(seen);
}

int error_of_making(const Places& places, const CallerPath& path) {
  const auto entry = entry_of(places, path);
  return entry ? error_of_directory(*entry) : 0;
}

// Only the owner changes these (chmod(2), chown(2)).
int error_of_change(const Places& places, const AccessCall& call) {
  const auto seen =
      call.descriptor ? places.seen(call.path.caller, *call.descriptor) : places.seen(call.path, call.last);
  const auto what = seen ? sys::identify(seen->get()) : Result<sys::FileIdentity>(sys::FileIdentity());
  const bool is_others = seen && what && what->uid != sys::user_id() && sys::user_id() != 0;
  return is_others ? EPERM : 0;
}

}  // namespace

int error_outside(const Places& places, const AccessCall& call) {
  using enum AccessKind;
  switch (call.kind) {
    case kRemove: return error_of_removal(places, call);
    case kRename: return error_of_rename(places, call);
    case kOpen: return error_of_opening(places, call);
    case kMakeDirectory:
    case kMakeNode:
    case kMakeSymlink: return error_of_making(places, call.path);
    case kLink: return error_of_making(places, call.other);
    case kMode:
    case kOwner: return error_of_change(places, call);
    case kTruncate: return call.descriptor ? 0 : error_of_writing(places.seen(call.path, call.last));
    default: return 0;
  }
}

bool is_of_kernel(std::string_view path) {
  static constexpr std::array<std::string_view, 3> kKernels = {"/proc", "/sys", "/dev"};
  return std::ranges::any_of(kKernels, [&](std::string_view directory) { return is_within(path, directory); });
}

// Python writes its caches wherever it may.
std::optional<KeptPlace> kept_by_mount(const Places& places, const AccessCall& call) {
  static constexpr std::string_view kCaches = "/__pycache__";
  auto kept = find_kept(places, call);
  const bool is_told = kept && !kept->path.contains(kCaches) && !is_of_kernel(kept->path);
  return is_told ? std::move(kept) : std::nullopt;
}

}  // namespace hutch::guest
