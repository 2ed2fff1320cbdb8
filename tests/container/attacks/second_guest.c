// Connects to the stream's name as the guest does, to be taken for it.
#include "ends.h"
#include <sys/un.h>
int main(void) {
  const char* names[] = {arena("STREAM"), "/.hutch-place/stream"};
  for (int i = 0; i < 2; i++) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, names[i], sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && !connect(fd, (struct sockaddr*)&address, sizeof address)) succeeded(names[i]);
    if (!access(names[i], F_OK)) succeeded("its name is there");
  }
  if (open("/.hutch-place/new", O_WRONLY | O_CREAT, 0600) >= 0) succeeded("a file beside it");
  held();
}
