// Joins a namespace that is not its own: those of the init, of its parent and of whatever /proc shows.
// none: succeeds as root
#include "attack.h"
int main(void) {
  const char* names[] = {"mnt", "net", "ipc", "uts", "pid", "cgroup", "user"};
  char path[64];
  for (int i = 0; i < 7; i++) {
    snprintf(path, sizeof path, "/proc/1/ns/%s", names[i]);
    int fd = open(path, O_RDONLY);
    if (fd >= 0 && !setns(fd, 0)) succeeded(path);
    snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
    fd = open(path, O_RDONLY);
    if (fd >= 0 && !setns(fd, 0)) succeeded(path);
  }
  int self = syscall(SYS_pidfd_open, getppid(), 0);
  if (self >= 0 && !setns(self, CLONE_NEWNS)) succeeded("by a pidfd");
  held();
}
