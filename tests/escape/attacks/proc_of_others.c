// Looks into a process of the host through /proc.
// none: succeeds
#include "attack.h"
int main(void) {
  char path[64], link[4096];
  int pid = number("VICTIM_PID");
  const char* names[] = {"environ", "cmdline", "maps", "status"};
  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "/proc/%d/%s", pid, names[i]);
    if (open(path, O_RDONLY) >= 0) succeeded(path);
  }
  for (int other = 1; other < 100000; other++) {
    snprintf(path, sizeof path, "/proc/%d/environ", other);
    if (other != getpid() && other != getppid() && reads_secret(path)) succeeded(path);
  }
  snprintf(path, sizeof path, "/proc/%d/root", pid);
  if (readlink(path, link, sizeof link) > 0) succeeded(path);
  held();
}
