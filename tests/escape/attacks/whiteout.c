// Leaves a character device behind in the project: the whiteout of a rename.
// kind: files
#include "attack.h"
static int leaves_device(void) {
  struct stat found;
  close(open("moved-from", O_RDWR | O_CREAT, 0644));
  int moved = !syscall(SYS_renameat2, AT_FDCWD, "moved-from", AT_FDCWD, "moved-to", 4);
  int left = moved && !lstat("moved-from", &found) && S_ISCHR(found.st_mode);
  unlink("moved-to");
  unlink("moved-from");
  return left;
}
ATTEMPT(rename, everybody, leaves_device());
