// Mounts, remounts and unmounts, by the old calls and the new ones.
// none: cannot; nothing is mounted there
// kind: namespaces
#include "attack.h"
static int mounts(const char* what, const char* type, unsigned long flags) {
  mkdir("point", 0755);
  return !mount(what, "point", type, flags, NULL) && !umount2("point", MNT_DETACH);
}
static int changes(void) {
  struct {
    unsigned long long set, clear, propagation, userns;
  } attributes = {0, 1, 0, 0};
  return !syscall(442 /* mount_setattr */, AT_FDCWD, "/", 0, &attributes, sizeof attributes);
}
static int moves(void) {
  mkdir("point", 0755);
  int tree = syscall(428 /* open_tree */, AT_FDCWD, "/proc", 1 /* CLONE */);
  return tree >= 0 && !syscall(429 /* move_mount */, tree, "", AT_FDCWD, "point", 4) && !umount2("point", MNT_DETACH);
}
ATTEMPT(remount, root, !mount("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL));
ATTEMPT(remount_of_proc, root, !mount(NULL, "/proc", NULL, MS_REMOUNT | MS_BIND, NULL));
ATTEMPT(tmpfs, root, mounts("tmpfs", "tmpfs", 0));
ATTEMPT(proc, root, mounts("proc", "proc", 0));
ATTEMPT(sysfs, root, mounts("sysfs", "sysfs", 0));
ATTEMPT(devpts, root, mounts("devpts", "devpts", 0));
ATTEMPT(devtmpfs, root, mounts("devtmpfs", "devtmpfs", 0));
ATTEMPT(bind, root, mounts("/proc", NULL, MS_BIND));
ATTEMPT(bind_of_the_project, root, mounts(".", NULL, MS_BIND));
ATTEMPT(propagation, root, !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
ATTEMPT(overlay, root, !mkdir("l", 0755) && !mkdir("u", 0755) && !mkdir("w", 0755) && !mkdir("m", 0755) &&
                           !mount("o", "m", "overlay", 0, "lowerdir=l,upperdir=u,workdir=w") && !umount("m"));
ATTEMPT(umount_of_tmp, root, !mount("none", "/tmp", "tmpfs", 0, NULL) && !umount2("/tmp", MNT_DETACH));
ATTEMPT(umount_of_what_hides, nobody, !umount2("denied", MNT_DETACH) || !umount2("locked", MNT_DETACH));
ATTEMPT(open_tree, root, syscall(428, AT_FDCWD, "/", 1 /* CLONE */) >= 0);
ATTEMPT(fsopen, root, syscall(430, "tmpfs", 0) >= 0);
ATTEMPT(fspick, root, syscall(433, AT_FDCWD, "/proc", 0) >= 0);
ATTEMPT(move_mount, root, moves());
ATTEMPT(mount_setattr, root, changes());
ATTEMPT(pivot_root, nobody, !syscall(SYS_pivot_root, ".", "."));
ATTEMPT(chroot, root, !chroot("."));
