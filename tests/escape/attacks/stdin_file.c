// `< file`: opens the standard input again for writing, changes the file's mode, times and attributes through it.
// none: cannot; no backend lets a file in as a descriptor
// stdin: file
#include <sys/xattr.h>
#include "attack.h"
int main(void) {
  struct stat info;
  int fd = open("/proc/self/fd/0", O_WRONLY | O_APPEND | O_NONBLOCK);
  if (fd >= 0 && !fstat(fd, &info) && S_ISREG(info.st_mode) && write(fd, "attacked\n", 9) == 9)
    succeeded("opened again");
  if (!fstat(0, &info) && S_ISREG(info.st_mode)) {
    if (!fchmod(0, 0777)) succeeded("fchmod");
    if (!futimens(0, NULL)) succeeded("futimens");
    if (!fsetxattr(0, "user.attacked", "x", 1, 0)) succeeded("fsetxattr");
    succeeded("the file itself is descriptor 0");
  }
  held();
}
