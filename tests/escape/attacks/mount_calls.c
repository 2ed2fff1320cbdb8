// Mounts, remounts and unmounts, by the old calls and the new ones.
// none: succeeds as root
#include "attack.h"
int main(void) {
  if (!mount("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL)) succeeded("remount");
  mkdir("point", 0755);
  if (!mount("tmpfs", "point", "tmpfs", 0, NULL)) {
    umount("point");
    succeeded("mount(tmpfs)");
  }
  if (!mount("/proc", "point", NULL, MS_BIND, NULL)) {
    umount("point");
    succeeded("mount(bind)");
  }
  if (!umount2("/tmp", MNT_DETACH)) succeeded("umount2(/tmp)");
  if (syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* CLONE */) >= 0) succeeded("open_tree(CLONE)");
  if (syscall(SYS_fsopen, "tmpfs", 0) >= 0) succeeded("fsopen");
  struct {
    unsigned long long set, clear, propagation, userns;
  } attr = {0, 1, 0, 0};
  if (!syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attr, sizeof attr)) succeeded("mount_setattr");
  if (!syscall(SYS_pivot_root, ".", ".")) succeeded("pivot_root");
  if (!chroot(".")) succeeded("chroot");
  held();
}
