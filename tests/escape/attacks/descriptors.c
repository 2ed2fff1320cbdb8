// Looks for a descriptor that hutch or its caller left open.
// kind: processes
// none: cannot; no backend passes any on
#include "attack.h"
static int finds(int first, int last) {
  for (int fd = first; fd < last; fd++)
    if (fcntl(fd, F_GETFD) >= 0) return 1;
  return 0;
}
static int leads_out(void) {
  char link[PATH_MAX];
  for (int fd = 0; fd < 4096; fd++)
    if (readlink(path_of("/proc/self/fd/%d", fd), link, sizeof link - 1) > 0 && link[0] == '/' &&
        strncmp(link, "/dev/", 5) && strncmp(link, "/proc/", 6))
      return 1;
  return 0;
}
ATTEMPT(above_the_standard_ones, nobody, finds(3, 64));
ATTEMPT(far_above, nobody, finds(64, 65536));
ATTEMPT(of_a_directory, nobody, leads_out());
