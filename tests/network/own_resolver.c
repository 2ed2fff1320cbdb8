// What a static program with a resolver of its own does: reads /etc/resolv.conf, asks over UDP or TCP, connects.
// own_resolver udp|tcp NAME PORT
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fail(const char* what) {
  perror(what);
  exit(1);
}

static struct sockaddr_in name_server(void) {
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(53)};
  char line[256], address[64];
  FILE* file = fopen("/etc/resolv.conf", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "nameserver %63s", address) == 1 && inet_pton(AF_INET, address, &server.sin_addr) == 1) {
      fclose(file);
      return server;
    }
  }
  fprintf(stderr, "no name server\n");
  exit(1);
}

static size_t make_query(unsigned char* query, const char* name) {
  static const unsigned char head[12] = {0x12, 0x34, 1, 0, 0, 1};
  memcpy(query, head, sizeof head);
  size_t size = sizeof head;
  while (*name) {
    const size_t label = strcspn(name, ".");
    query[size++] = (unsigned char)label;
    memcpy(query + size, name, label);
    size += label;
    name += label + (name[label] == '.');
  }
  const unsigned char tail[5] = {0, 0, 1, 0, 1};
  memcpy(query + size, tail, sizeof tail);
  return size + sizeof tail;
}

static ssize_t ask(int tcp, const unsigned char* query, size_t size, unsigned char* answer, size_t answer_size) {
  const struct sockaddr_in server = name_server();
  const int fd = socket(AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
  if (fd < 0 || connect(fd, (const struct sockaddr*)&server, sizeof server)) fail("connect to the name server");
  unsigned char length[2] = {(unsigned char)(size >> 8), (unsigned char)size};
  if (tcp && write(fd, length, 2) != 2) fail("write");
  if (write(fd, query, size) != (ssize_t)size) fail("write");
  if (!tcp) return read(fd, answer, answer_size);
  if (recv(fd, length, 2, MSG_WAITALL) != 2) fail("no answer");
  return recv(fd, answer, (size_t)(length[0] << 8 | length[1]), MSG_WAITALL);
}

int main(int argc, char** argv) {
  unsigned char query[512], answer[512];
  const size_t size = make_query(query, argv[2]);
  const ssize_t got = ask(!strcmp(argv[1], "tcp"), query, size, answer, sizeof answer);
  if (got < (ssize_t)size + 16) {
    fprintf(stderr, "answer of %zd bytes, code %d\n", got, got > 3 ? answer[3] & 15 : -1);
    return 2;
  }
  // The first record follows the question; its name is a pointer, its data the last four of its sixteen bytes.
  struct sockaddr_in host = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[3]))};
  memcpy(&host.sin_addr, answer + size + 12, 4);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, (struct sockaddr*)&host, sizeof host)) fail("connect");
  if (write(fd, "hello\n", 6) != 6) fail("write");
  char text[64];
  const ssize_t echoed = read(fd, text, sizeof text);
  if (echoed <= 0) fail("read");
  return write(1, text, (size_t)echoed) == echoed ? 0 : 1;
}
