// Finds what keeps the kernel from a change that the supervisor lets through: a read-only mount, or a mount on a name.
#include "guest/kept_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/text.h"
#include "sys/delegate.h"

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

std::optional<KeptPlace> kept_new_name(const Places& places, const CallerPath& path) {
  const auto entry = entry_of(places, path);
  if (!entry) return std::nullopt;
  const auto there = sys::look_at_name(entry->directory.get(), entry->name);
  if (there || there.error().sys_errno != ENOENT) return std::nullopt;
  return is_kept(places, entry->directory.get()) ? named_place(places, *entry, plan::NameIs::kNew) : std::nullopt;
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
  return creates ? kept_new_name(places, call.path) : std::nullopt;
}

std::optional<KeptPlace> find_kept(const Places& places, const AccessCall& call) {
  using enum AccessKind;
  switch (call.kind) {
    case kOpen: return call.descriptor ? std::nullopt : kept_from_opening(places, call);
    case kMakeDirectory:
    case kMakeNode:
    case kMakeSymlink: return kept_new_name(places, call.path);
    case kLink: return kept_new_name(places, call.other);
    case kRemove: return kept_name(places, call.path);
    case kRename: {
      auto from = kept_name(places, call.path);
      if (from) return from;
      auto to = kept_name(places, call.other);
      return to ? std::move(to) : kept_new_name(places, call.other);
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

}  // namespace

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
