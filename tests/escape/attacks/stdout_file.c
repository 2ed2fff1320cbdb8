// `> file`: opens the standard output again for reading, changes the file's mode and truncates it.
// kind: streams
// none: cannot; no backend lets a file in as a descriptor
// stdout: file
#include "attack.h"
static int is_file(int fd) {
  struct stat info;
  return !fstat(fd, &info) && S_ISREG(info.st_mode);
}
ATTEMPT(mode, nobody, is_file(1) && !fchmod(1, 0777));
ATTEMPT(truncate, nobody, is_file(1) && !ftruncate(1, 0));
ATTEMPT(opened_again_for_reading, nobody, reads_secret("/proc/self/fd/1") || reads_secret("/proc/self/fd/2"));
ATTEMPT(the_file_itself, nobody, is_file(1));
