// Connects to a service of the host over a Unix socket: by its path in the project, and by an abstract name.
// none: succeeds
#include <stddef.h>
#include <sys/un.h>
#include "attack.h"
int main(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path, arena("SOCKET_PATH"), sizeof address.sun_path - 1);
  if (fd >= 0 && !connect(fd, (void*)&address, sizeof address)) succeeded("by its path");
  const char* name = arena("ABSTRACT_NAME");
  memset(address.sun_path, 0, sizeof address.sun_path);
  memcpy(address.sun_path + 1, name, strlen(name));
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd >= 0 && !connect(fd, (void*)&address, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)))
    succeeded("abstract");
  int pair[2];
  if (!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) && !connect(pair[0], (void*)&address, sizeof address))
    succeeded("by one of a pair");
  strncpy(address.sun_path, arena("DATAGRAM_PATH"), sizeof address.sun_path - 1);
  if (!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) && sendto(pair[0], "x", 1, 0, (void*)&address, sizeof address) == 1)
    succeeded("a datagram from one of a pair");
  held();
}
