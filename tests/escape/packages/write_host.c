// A package writes to files of the host, or gives them to another user.
#include "attack.h"

int main(void) {
  const char* names[] = {arena("HOME_SECRET"), arena("PROJECT_SECRET"), arena("AGENT_SECRET")};
  for (unsigned i = 0; i < 3; ++i) {
    int fd = open(names[i], O_WRONLY | O_APPEND | O_NOCTTY);
    if (fd >= 0 && write(fd, "attacked", 8) == 8) succeeded(names[i]);
    struct stat there;
    if (lstat(names[i], &there) != 0) continue;
    if (chown(names[i], 0, 0) == 0 || chmod(names[i], 04777) == 0 || unlink(names[i]) == 0) succeeded(names[i]);
  }
  return 1;
}
