// Looks for a descriptor that hutch or its caller left open.
// none: cannot; no backend passes any on
#include "attack.h"
int main(void) {
  char name[64];
  for (int fd = 3; fd < 4096; fd++) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    snprintf(name, sizeof name, "descriptor %d", fd);
    succeeded(name);
  }
  held();
}
