// Mounts by the descriptor API.
#include "sys/files/mounts.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/call.h"

namespace hutch::sys {

namespace {

std::uint64_t attributes_of(MountFlags flags) {
  std::uint64_t attributes = MOUNT_ATTR_NOSUID;
  if (flags.read_only) attributes |= MOUNT_ATTR_RDONLY;
  if (flags.no_devices) attributes |= MOUNT_ATTR_NODEV;
  return attributes;
}

Status set_attributes(int fd, std::string_view name, MountFlags flags, unsigned int recursive) {
  mount_attr attributes{};
  attributes.attr_set = attributes_of(flags);
  const auto answer = ::syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | recursive, &attributes, sizeof attributes);
  return check(answer, {"mount_setattr(", name, ")"});
}

Status configure(int context, const std::string& type, const std::string& key, const std::string& value) {
  const bool flag = value.empty();
  const auto command = flag ? FSCONFIG_SET_FLAG : FSCONFIG_SET_STRING;
  const auto answer = ::syscall(SYS_fsconfig, context, command, key.c_str(), flag ? nullptr : value.c_str(), 0);
  return check(answer, {"fsconfig(", type, ", ", key, "=", value, ")"});
}

}  // namespace

Result<UniqueFd> new_file_system(const std::string& type, const MountOptions& options, MountFlags flags) {
  const auto raw = ::syscall(SYS_fsopen, type.c_str(), FSOPEN_CLOEXEC);
  const UniqueFd context = TRY(check_fd(raw, {"fsopen(", type, ")"}));
  for (const auto& [key, value] : options) TRY(configure(context.get(), type, key, value));
  TRY(check(::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0),
            {"fsconfig(", type, ", create)"}));
  const auto tree = ::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, attributes_of(flags));
  return check_fd(tree, {"fsmount(", type, ")"});
}

Result<UniqueFd> clone_tree(int fd, std::string_view name) {
  const unsigned int flags = AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  return check_fd(::syscall(SYS_open_tree, fd, "", flags), {"open_tree(", name, ")"});
}

Result<UniqueFd> clone_mount(int fd, std::string_view name) {
  const unsigned int flags = AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  return check_fd(::syscall(SYS_open_tree, fd, "", flags), {"open_tree(", name, ")"});
}

Result<UniqueFd> clone_tree_at(const std::string& path) {
  const unsigned int flags = AT_SYMLINK_NOFOLLOW | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  return check_fd(::syscall(SYS_open_tree, AT_FDCWD, path.c_str(), flags), {"open_tree(", path, ")"});
}

Status restrict_tree(int fd, std::string_view name, MountFlags flags) {
  return set_attributes(fd, name, flags, AT_RECURSIVE);
}

Status restrict_mount(int fd, std::string_view name, MountFlags flags) { return set_attributes(fd, name, flags, 0); }

Status allow_writing(int fd, std::string_view name) {
  mount_attr attributes{};
  attributes.attr_clr = MOUNT_ATTR_RDONLY;
  const auto answer = ::syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes);
  return check(answer, {"mount_setattr(", name, ")"});
}

Status detach_in_cwd(const std::string& name) {
  return check(::umount2(name.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW), {"umount2(", name, ")"});
}

Status attach(int tree, int onto, std::string_view name) {
  const unsigned int flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
  return check(::syscall(SYS_move_mount, tree, "", onto, "", flags), {"move_mount(", name, ")"});
}

Status make_all_private() {
  return check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), {"mount(/, MS_REC|MS_PRIVATE)"});
}

Status pivot_to_cwd() {
  // The old root lands on top of the new one, and the current directory stays below it: pivot_root(2), "." twice.
  TRY(check(::syscall(SYS_pivot_root, ".", "."), {"pivot_root(., .)"}));
  TRY(check(::umount2(".", MNT_DETACH), {"umount2(old root, MNT_DETACH)"}));
  return check(::chdir("/"), {"chdir(/)"});
}

}  // namespace hutch::sys
