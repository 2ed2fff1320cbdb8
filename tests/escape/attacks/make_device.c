// Makes a node of a disk and opens it.
// none: succeeds as root
#include <sys/sysmacros.h>
#include "attack.h"
int main(void) {
  if (!mknod("disk", S_IFBLK | 0600, makedev(7, 0))) {
    unlink("disk");
    succeeded("mknod(block)");
  }
  if (!mknod("/tmp/disk", S_IFBLK | 0600, makedev(7, 0))) {
    unlink("/tmp/disk");
    succeeded("mknod(/tmp)");
  }
  if (!mknod("memory", S_IFCHR | 0600, makedev(1, 1))) {
    unlink("memory");
    succeeded("mknod(character)");
  }
  if (!mknodat(AT_FDCWD, "kmsg", S_IFCHR | 0600, makedev(1, 11))) {
    unlink("kmsg");
    succeeded("mknodat");
  }
  held();
}
