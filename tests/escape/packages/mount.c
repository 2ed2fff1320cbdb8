// A package mounts, unmounts, and makes what is read-only writable.
#include "attack.h"

int main(void) {
  if (mount("none", "/tmp", "tmpfs", 0, "") == 0) succeeded("mount");
  if (mount("/", "/tmp", NULL, MS_BIND | MS_REC, NULL) == 0) succeeded("bind");
  if (mount(NULL, "/proc/sys", NULL, MS_REMOUNT | MS_BIND, NULL) == 0) succeeded("remount");
  if (umount2("/proc", MNT_DETACH) == 0) succeeded("umount");
  if (syscall(SYS_open_tree, AT_FDCWD, "/", 1) >= 0) succeeded("open_tree");
  if (syscall(SYS_fsopen, "tmpfs", 0) >= 0) succeeded("fsopen");
  return 1;
}
