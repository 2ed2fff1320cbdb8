// Mounts by the descriptor API: fsopen(2), open_tree(2), mount_setattr(2), move_mount(2), pivot_root(2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// Flags of a mount as mount_setattr(2) takes them; all are only ever added.
struct MountFlags {
  bool read_only = false;
  bool no_devices = false;
};

using MountOptions = std::vector<std::pair<std::string, std::string>>;

// A new file system, attached nowhere yet; always nosuid. An option with an empty value is a flag.
Result<UniqueFd> new_file_system(const std::string& type, const MountOptions& options, MountFlags flags);

// A copy of what `fd` (O_PATH) shows, with all mounts below it, attached nowhere yet. The copy must be recursive:
// mounts that come from a more privileged mount namespace are locked together (mount_namespaces(7)).
Result<UniqueFd> clone_tree(int fd, std::string_view name);

// A copy of the one mount that `fd` (O_PATH) shows, without those below it.
Result<UniqueFd> clone_mount(int fd, std::string_view name);

// The same as clone_tree() by a path that only the machine's owner can change; a symlink at its end is not followed.
Result<UniqueFd> clone_tree_at(const std::string& path);

// Adds the flags, and nosuid, to the mount at `fd`, which must be its root, and to all mounts below it.
Status restrict_tree(int fd, std::string_view name, MountFlags flags);

// The same for the single mount at `fd`.
Status restrict_mount(int fd, std::string_view name, MountFlags flags);

// Takes "read-only" from the mount at `fd`, which must be its root; EPERM where that is locked.
Status allow_writing(int fd, std::string_view name);

// Takes the mount at `name` in the current directory off, with all below it; what is open there stays open. A link is
// not followed.
Status detach_in_cwd(const std::string& name);

// Attaches a detached tree on the directory or file that `onto` (O_PATH) is.
Status attach(int tree, int onto, std::string_view name);

// No mount event of this namespace reaches another, nor the other way round.
Status make_all_private();

// The current directory, which must be the root of a mount, becomes "/" of this mount namespace; the old one goes.
Status pivot_to_cwd();

}  // namespace hutch::sys
