// Makes a node of a disk, or of memory.
// kind: kernel
#include <sys/sysmacros.h>
#include "attack.h"
static int makes(const char* path, int kind, int major, int minor) {
  return !mknod(path, kind | 0600, makedev(major, minor)) && !unlink(path);
}
ATTEMPT(block_device, root, makes("disk", S_IFBLK, 7, 0));
ATTEMPT(block_device_in_tmp, root, makes("/tmp/hutch-disk", S_IFBLK, 7, 0));
ATTEMPT(block_device_in_shm, root, makes("/dev/shm/hutch-disk", S_IFBLK, 7, 0));
ATTEMPT(dev_mem, root, makes("memory", S_IFCHR, 1, 1));
ATTEMPT(kmsg, root, makes("kmsg", S_IFCHR, 1, 11));
ATTEMPT(null, root, makes("null", S_IFCHR, 1, 3));
ATTEMPT(mknodat, root, !mknodat(open(".", O_PATH), "zero", S_IFCHR | 0600, makedev(1, 5)) && !unlink("zero"));
