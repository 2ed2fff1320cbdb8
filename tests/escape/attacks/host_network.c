// Reaches a listener on the host's loopback, or takes its place.
// kind: network
#include <arpa/inet.h>
#include "attack.h"
static int connects(unsigned address, int flags) {
  struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = htons(number("LISTEN_PORT")), .sin_addr = {htonl(address)}};
  int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
  return fd >= 0 && !connect(fd, (void*)&to, sizeof to);
}
static int connects6(const char* text) {
  struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(number("LISTEN_PORT"))};
  inet_pton(AF_INET6, text, &to.sin6_addr);
  int fd = socket(AF_INET6, SOCK_STREAM, 0);
  return fd >= 0 && !connect(fd, (void*)&to, sizeof to);
}
static int fast_open(void) {
  struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = htons(number("LISTEN_PORT")), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  char byte;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  return fd >= 0 && sendto(fd, "x", 1, MSG_FASTOPEN, (void*)&to, sizeof to) == 1 && recv(fd, &byte, 1, 0) == 1;
}
static int multipath(void) {
  struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = htons(number("LISTEN_PORT")), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int fd = socket(AF_INET, SOCK_STREAM, 262 /* IPPROTO_MPTCP */);
  if (fd < 0 && errno == EPROTONOSUPPORT) return absent();
  return fd >= 0 && !connect(fd, (void*)&to, sizeof to);
}
// Datagrams have no handshake: the answer says that the host's service heard it.
static int datagram(void) {
  struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = htons(number("DATAGRAM_PORT")), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct timeval second = {1, 0};
  char byte;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  return fd >= 0 && sendto(fd, "x", 1, 0, (void*)&to, sizeof to) == 1 && recv(fd, &byte, 1, 0) == 1;
}
ATTEMPT(by_its_address, everybody, connects(INADDR_LOOPBACK, 0));
ATTEMPT(by_another_of_the_loopback, everybody, connects(0x7f010203, 0));
ATTEMPT(by_the_wildcard, everybody, connects(INADDR_ANY, 0));
ATTEMPT(by_the_mapped_address, everybody, connects6("::ffff:127.0.0.1"));
ATTEMPT(by_the_mapped_wildcard, everybody, connects6("::ffff:0.0.0.0"));
ATTEMPT(by_fast_open, everybody, fast_open());
ATTEMPT(by_multipath, everybody, multipath());
ATTEMPT(by_a_datagram, everybody, datagram());
