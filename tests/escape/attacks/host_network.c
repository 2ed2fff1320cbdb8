// Reaches a listener on the host's loopback.
// none: succeeds
#include <arpa/inet.h>
#include "attack.h"
int main(void) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(number("LISTEN_PORT")), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd >= 0 && !connect(fd, (void*)&address, sizeof address)) succeeded("connect");
  held();
}
