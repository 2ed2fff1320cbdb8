// A package makes a socket that reaches a service of the host, another process of the agent, or the bare network.
#include <sys/un.h>

#include "attack.h"

int main(void) {
  struct sockaddr_un place = {.sun_family = AF_UNIX};
  snprintf(place.sun_path, sizeof place.sun_path, "%s", arena("SOCKET"));
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd >= 0 && connect(fd, (struct sockaddr*)&place, sizeof place) == 0) succeeded("the host's socket");
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0) succeeded("datagrams");
  if (socket(AF_PACKET, SOCK_RAW, 0) >= 0 || socket(AF_INET, SOCK_RAW, 1) >= 0) succeeded("raw");
  if (socket(AF_NETLINK, SOCK_RAW, 12) >= 0) succeeded("netfilter");
  return 1;
}
