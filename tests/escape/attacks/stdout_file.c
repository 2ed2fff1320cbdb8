// `> file`: opens the standard output again for reading, changes the file's mode and truncates it.
// none: cannot; no backend lets a file in as a descriptor
// stdout: file
#include <sys/xattr.h>
#include "attack.h"
int main(void) {
  struct stat info;
  for (int fd = 1; fd <= 2; fd++) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!fstat(fd, &info) && S_ISREG(info.st_mode)) {
      fchmod(fd, 0777);
      ftruncate(fd, 0);
      succeeded("the file itself is a descriptor");
    }
    if (reads_secret(path)) succeeded("opened again for reading");
  }
  held();
}
