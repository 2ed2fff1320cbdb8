// The two ends of the network benchmark: a server that sends as much as it is asked for, and clients that ask.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// net serve ADDRESS PORT
// net stream ADDRESS PORT BYTES STREAMS [PROXYPORT]: seconds for all streams together
// net connect ADDRESS PORT COUNT CLIENTS [PROXYPORT]: seconds for COUNT connections, one byte each
// net rtt ADDRESS PORT COUNT 1 [PROXYPORT]: seconds for COUNT requests of eight bytes, answered by one, on one
// connection net idle ADDRESS PORT COUNT: opens COUNT connections, prints "open", waits for the end of its input

static const int kOne = 1;
static char buffer[1 << 20];

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void write_all(int fd, const void* data, size_t size) {
  const char* from = data;
  while (size > 0) {
    ssize_t count = write(fd, from, size);
    if (count <= 0) fail("write");
    from += count;
    size -= (size_t)count;
  }
}

static struct sockaddr_in address_of(const char* address, int port) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  if (inet_pton(AF_INET, address, &at.sin_addr) != 1) fail("address");
  return at;
}

static void* serve_one(void* given) {
  int fd = (int)(intptr_t)given;
  uint64_t wanted = 0;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &kOne, sizeof kOne);
  while (read(fd, &wanted, sizeof wanted) == sizeof wanted) {
    while (wanted > 0) {
      size_t part = wanted < sizeof buffer ? wanted : sizeof buffer;
      ssize_t count = send(fd, buffer, part, MSG_NOSIGNAL);
      if (count <= 0) break;
      wanted -= (uint64_t)count;
    }
  }
  close(fd);
  return NULL;
}

static void serve(const char* address, int port) {
  struct sockaddr_in at = address_of(address, port);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &kOne, sizeof kOne);
  if (bind(listener, (struct sockaddr*)&at, sizeof at) < 0 || listen(listener, 4096) < 0) fail("bind");
  puts("ready");
  fflush(stdout);
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) continue;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    if (pthread_create(&thread, &attributes, serve_one, (void*)(intptr_t)fd) != 0) close(fd);
    pthread_attr_destroy(&attributes);
  }
}

// By way of a proxy on the loopback when `proxy` is a port.
static int open_to(const char* address, int port, int proxy) {
  struct sockaddr_in at = address_of(proxy ? "127.0.0.1" : address, proxy ? proxy : port);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, (struct sockaddr*)&at, sizeof at) < 0) fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &kOne, sizeof kOne);
  if (!proxy) return fd;
  char head[256];
  int size = snprintf(head, sizeof head, "CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n\r\n", address, port, address, port);
  write_all(fd, head, (size_t)size);
  size_t have = 0;
  while (have < 4 || memcmp(head + have - 4, "\r\n\r\n", 4) != 0) {
    if (have == sizeof head || read(fd, head + have, 1) != 1) fail("proxy");
    ++have;
  }
  return fd;
}

static void fetch(int fd, uint64_t bytes) {
  write_all(fd, &bytes, sizeof bytes);
  while (bytes > 0) {
    ssize_t count = read(fd, buffer, sizeof buffer);
    if (count <= 0) fail("read");
    bytes -= (uint64_t)count;
  }
}

// `work` in as many processes, all at once.
static double together(int processes, void (*work)(char**), char** arguments) {
  double began = now();
  for (int i = 0; i < processes; ++i) {
    if (fork() == 0) {
      work(arguments);
      _exit(0);
    }
  }
  int status = 0, failed = 0;
  while (wait(&status) > 0) failed |= status;
  if (failed) exit(1);
  return now() - began;
}

static int proxy_of(char** arguments) { return arguments[4] ? atoi(arguments[4]) : 0; }

static void stream(char** arguments) {
  int fd = open_to(arguments[0], atoi(arguments[1]), proxy_of(arguments));
  fetch(fd, strtoull(arguments[2], NULL, 10) / strtoull(arguments[3], NULL, 10));
}

static void connections(char** arguments) {
  long count = atol(arguments[2]) / atol(arguments[3]);
  for (long i = 0; i < count; ++i) {
    int fd = open_to(arguments[0], atoi(arguments[1]), proxy_of(arguments));
    fetch(fd, 1);
    close(fd);
  }
}

static void round_trips(char** arguments) {
  int fd = open_to(arguments[0], atoi(arguments[1]), proxy_of(arguments));
  for (long i = 0; i < atol(arguments[2]); ++i) fetch(fd, 1);
}

static void idle(char** arguments) {
  for (long i = 0; i < atol(arguments[2]); ++i) fetch(open_to(arguments[0], atoi(arguments[1]), 0), 1);
  puts("open");
  fflush(stdout);
  while (read(0, buffer, 1) > 0) {}
}

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  if (argc >= 4 && strcmp(argv[1], "serve") == 0) serve(argv[2], atoi(argv[3]));
  if (argc >= 5 && strcmp(argv[1], "idle") == 0) idle(argv + 2);
  if (argc >= 6 && strcmp(argv[1], "stream") == 0) printf("%.6f\n", together(atoi(argv[5]), stream, argv + 2));
  if (argc >= 6 && strcmp(argv[1], "connect") == 0) printf("%.6f\n", together(atoi(argv[5]), connections, argv + 2));
  if (argc >= 6 && strcmp(argv[1], "rtt") == 0) printf("%.6f\n", together(1, round_trips, argv + 2));
  return 0;
}
