// Threads that change what a connect(2) or bind(2) means while it is looked at: socket_race KIND MILLISECONDS.
// The project has service.sock, of the host, which must not hear of it. It never says whether it did.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static volatile int stop;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static struct sockaddr_un service = {.sun_family = AF_UNIX, .sun_path = "service.sock"};
static int shared = -1;

static int made(void) { return socket(AF_UNIX, SOCK_STREAM, 0); }

static int listening(const char* name) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  strcpy(at.sun_path, name);
  const int fd = made();
  unlink(name);
  if (bind(fd, (void*)&at, sizeof at) || listen(fd, 1000)) perror(name);
  return fd;
}

static void* rewrite(void* unused) {
  while (!stop) {
    strcpy((char*)address.sun_path, "own.sock");
    strcpy((char*)address.sun_path, "service.sock");
  }
  return unused;
}

static void* swap(void* unused) {
  while (!stop) syscall(SYS_renameat2, AT_FDCWD, "one", AT_FDCWD, "two", 2 /* RENAME_EXCHANGE */);
  return unused;
}

// The descriptor is a TCP socket, whose connect would be nobody's business, and then one that is not.
static void* replace(void* unused) {
  while (!stop) {
    const int other = socket(AF_INET, SOCK_STREAM, 0), unix_one = made();
    dup2(other, shared);
    dup2(unix_one, shared);
    close(other);
    close(unix_one);
  }
  return unused;
}

static void* move(void* unused) {
  while (!stop) {
    if (!access("bound.sock", F_OK)) rename("service.sock", "bound.sock");
    rename("bound.sock", "service.sock");
  }
  return unused;
}

static void drain(int listener) {
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) close(fd);
}

static void connect_to(const struct sockaddr_un* to) {
  const int fd = made();
  (void)!connect(fd, (const void*)to, sizeof *to);
  close(fd);
}

static void bind_and_connect(void) {
  struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "bound.sock"};
  const int fd = made();
  (void)!bind(fd, (void*)&at, sizeof at);
  connect_to(&at);
  connect_to(&service);
  close(fd);
  // It may be the service's own name by now, which has another.
  unlink("bound.sock");
  (void)!link("kept.sock", "service.sock");
}

int main(int count, char** words) {
  if (count != 3) return 2;
  const int own = listening("own.sock");
  fcntl(own, F_SETFL, O_NONBLOCK);
  link("service.sock", "kept.sock");
  symlink("own.sock", "one");
  symlink("service.sock", "two");
  shared = made();
  strcpy(address.sun_path, "own.sock");
  const char kind = words[1][0];
  void* (*const others[])(void*) = {rewrite, swap, replace, move};
  const int which = kind == 'a' ? 0 : kind == 'l' ? 1 : kind == 'd' ? 2 : 3;
  pthread_t thread;
  pthread_create(&thread, NULL, others[which], NULL);
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  long tried = 0;
  struct sockaddr_un link = {.sun_family = AF_UNIX, .sun_path = "one"};
  do {
    if (which == 0) connect_to(&address);
    if (which == 1) connect_to(&link);
    if (which == 2) (void)!connect(shared, (void*)&service, sizeof service);
    if (which == 3) bind_and_connect();
    drain(own);
    ++tried;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < atol(words[2]));
  stop = 1;
  pthread_join(thread, NULL);
  printf("tried %ld\n", tried);
  return 0;
}
