// `< file`: opens the standard input again for writing, changes the file's mode, times and attributes through it.
// kind: streams
// none: cannot; no backend lets a file in as a descriptor
// stdin: file
#include <sys/xattr.h>
#include "attack.h"
static int is_file(void) {
  struct stat info;
  return !fstat(0, &info) && S_ISREG(info.st_mode);
}
static int again(void) {
  struct stat info;
  int fd = open("/proc/self/fd/0", O_WRONLY | O_APPEND | O_NONBLOCK);
  return fd >= 0 && !fstat(fd, &info) && S_ISREG(info.st_mode) && write(fd, "attacked\n", 9) == 9;
}
ATTEMPT(opened_again, nobody, again());
ATTEMPT(mode, nobody, is_file() && !fchmod(0, 0777));
ATTEMPT(times, nobody, is_file() && !futimens(0, NULL));
ATTEMPT(attribute, nobody, is_file() && !fsetxattr(0, "user.attacked", "x", 1, 0));
ATTEMPT(the_file_itself, nobody, is_file());
