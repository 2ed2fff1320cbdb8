// Changes the mode, owner or times of a device, which is the host's; removes one; adds one.
// kind: kernel
#include <sys/xattr.h>
#include "attack.h"
static const char* const kNames[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"};
static int each(int (*change)(const char*, int, const struct stat*)) {
  for (unsigned i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    struct stat info;
    if (stat(kNames[i], &info)) continue;
    if (change(kNames[i], open(kNames[i], O_RDONLY | O_NONBLOCK | O_NOCTTY), &info)) return 1;
  }
  return 0;
}
static int mode(const char* name, int fd, const struct stat* info) {
  (void)fd;
  return !chmod(name, info->st_mode & 07777);
}
static int times(const char* name, int fd, const struct stat* info) {
  const struct timespec same[] = {info->st_atim, info->st_mtim};
  (void)fd;
  return !utimensat(AT_FDCWD, name, same, 0);
}
static int owner(const char* name, int fd, const struct stat* info) {
  (void)fd;
  return !chown(name, info->st_uid, info->st_gid);
}
static int mode_of_fd(const char* name, int fd, const struct stat* info) {
  (void)name;
  return fd >= 0 && !fchmod(fd, info->st_mode & 07777);
}
static int owner_of_fd(const char* name, int fd, const struct stat* info) {
  (void)name;
  return fd >= 0 && !fchown(fd, info->st_uid, info->st_gid);
}
static int attribute(const char* name, int fd, const struct stat* info) {
  (void)fd, (void)info;
  return !setxattr(name, "trusted.hutch", "x", 1, 0) && !removexattr(name, "trusted.hutch");
}
ATTEMPT(mode, root, each(mode));
ATTEMPT(mode_by_a_descriptor, root, each(mode_of_fd));
ATTEMPT(owner, root, each(owner));
ATTEMPT(owner_by_a_descriptor, root, each(owner_of_fd));
ATTEMPT(times, root, each(times));
ATTEMPT(attribute, root, each(attribute));
ATTEMPT(rename, root, !rename("/dev/full", "/dev/fuller") && !rename("/dev/fuller", "/dev/full"));
ATTEMPT(a_second_name, root, !link("/dev/full", "/dev/fuller") && !unlink("/dev/fuller"));
