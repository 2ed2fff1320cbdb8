// Where the host has what a caller's path leads to.
#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "guest/places/access_place.h"

namespace hutch::guest {

// "..", by the host's own mounts, is the directory that the root is in; in the sandbox another directory is above it.
// Below the root the names are the same. Only what is planned in a ".git" may be what would be judged elsewhere.
Result<std::optional<Outside>> Places::outside_of(const Entry& entry, Outlook outlook) {
  Mount* mount = mount_of(entry);
  if (mount == nullptr || mount->source.empty()) return std::optional<Outside>();
  const bool in_root = mount->what.is_same(entry.directory->twin);
  if (!in_root && !cat({mount->target, "/"}).contains("/.git/")) return std::optional<Outside>();
  if (!mount->outside) return fail(Error::from_errno("a directory that was moved", EPERM));
  std::string& now = mount->outside_path;
  if (outlook == Outlook::kNow || now.empty()) now = TRY(sys::path_in(descriptors_.get(), mount->outside.get()));
  const std::string_view below = std::string_view(entry.path).substr(mount->target == "/" ? 0 : mount->target.size());
  std::string path = now == "/" ? std::string(below) : cat({now, below});
  const bool has_moved = now != mount->source;
  return Outside{in_root ? mount->outside.get() : -1, now, std::move(path), has_moved};
}

// By its number; else the innermost one, as Places::name_of() has it.
Places::Mount* Places::mount_of(const Entry& entry) {
  Mount* found = nullptr;
  for (Mount& mount : mounts_) {
    if (!mount.root || entry.path == mount.target || !is_within(entry.path, mount.target)) continue;
    if (mount.id == entry.directory->what.mount) return &mount;
    if (found == nullptr || mount.target.size() > found->target.size()) found = &mount;
  }
  return found;
}

}  // namespace hutch::guest
