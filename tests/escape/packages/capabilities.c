// A package gives itself, or a file, a capability that mounts and traces.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/xattr.h>

#include "attack.h"

int main(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2] = {{1u << CAP_SYS_ADMIN, 1u << CAP_SYS_ADMIN, 0}, {0, 0, 0}};
  if (syscall(SYS_capset, &header, sets) == 0) succeeded("capset");
  if (prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 1) succeeded("bounding set");
  struct vfs_cap_data granted = {VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE, {{1u << CAP_SYS_ADMIN, 0}, {0, 0}}};
  int fd = open("/srv/capable", O_WRONLY | O_CREAT, 0755);
  if (fd >= 0 && fsetxattr(fd, "security.capability", &granted, sizeof granted, 0) == 0) succeeded("file capability");
  return 1;
}
