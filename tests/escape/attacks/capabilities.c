// Gives itself, or a file, rights that a sandbox has none of.
// kind: privileges
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/xattr.h>
#include "attack.h"
static int of_the_file(const char* path) {
  struct vfs_cap_data granted = {VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE, {{1u << CAP_SYS_ADMIN, 0}, {0, 0}}};
  int fd = open(path, O_WRONLY | O_CREAT, 0755);
  return fd >= 0 && !fsetxattr(fd, "security.capability", &granted, sizeof granted, 0);
}
static int has(int capability) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2] = {{0, 0, 0}, {0, 0, 0}};
  if (syscall(SYS_capget, &header, sets)) return 0;
  return (sets[capability / 32].effective >> (capability % 32)) & 1;
}
static int takes(int capability) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2] = {{0, 0, 0}, {0, 0, 0}};
  sets[capability / 32].effective = sets[capability / 32].permitted = 1u << (capability % 32);
  return !syscall(SYS_capset, &header, sets);
}
ATTEMPT(cap_sys_admin, root, takes(CAP_SYS_ADMIN));
ATTEMPT(cap_sys_module, root, takes(CAP_SYS_MODULE));
ATTEMPT(cap_sys_ptrace, root, takes(CAP_SYS_PTRACE));
ATTEMPT(cap_dac_read_search, root, takes(CAP_DAC_READ_SEARCH));
ATTEMPT(cap_dac_override, root, has(CAP_DAC_OVERRIDE));
ATTEMPT(cap_chown, root, has(CAP_CHOWN));
ATTEMPT(cap_setuid, root, has(CAP_SETUID));
ATTEMPT(cap_mknod, root, has(CAP_MKNOD));
ATTEMPT(cap_net_admin, root, has(CAP_NET_ADMIN));
ATTEMPT(cap_net_raw, root, has(CAP_NET_RAW));
ATTEMPT(cap_sys_chroot, root, has(CAP_SYS_CHROOT));
ATTEMPT(bounding_set, root, prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 1 && getuid() == 0);
ATTEMPT(file_capability, root, of_the_file("capable"));
ATTEMPT(file_capability_in_tmp, root, of_the_file("/tmp/hutch-capable") && !unlink("/tmp/hutch-capable"));
ATTEMPT(setresuid, root, !setresuid(65534, 65534, 65534) && getuid() == 65534);
ATTEMPT(setresgid, root, !setresgid(65534, 65534, 65534) && getgid() == 65534);
ATTEMPT(chown, root, writes("mine") && !chown("mine", 12345, 12345));
