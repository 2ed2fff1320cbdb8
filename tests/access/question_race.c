// Threads that change what a call means while somebody is asked: question_race KIND read|write ASKED OTHER MS TRIES.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ASKED is what somebody allows, OTHER what nobody does. The current directory has the links to-asked and to-other to
// the directories of both, and asked/f and other/f to the files. It prints how often it has read of OTHER; it tries for
// that long at least, and that often.
static const char *asked, *other;
static volatile char path[4096];
static volatile int stop;
static int writes, asked_fd, other_fd;
static long tried, won;
enum { kFlipping = 50 };

static void use(int fd) {
  char text[64] = {0};
  ++tried;
  if (fd < 0) return;
  if (writes) {
    (void)!write(fd, "evil", 4);
  } else if (read(fd, text, sizeof text - 1) > 0 && strstr(text, "secret") != NULL) {
    ++won;
  }
  close(fd);
}

static int mode(void) { return writes ? O_WRONLY : O_RDONLY; }

static void* rewrite(void* unused) {
  while (!stop) {
    strcpy((char*)path, asked);
    strcpy((char*)path, other);
  }
  return unused;
}
static void by_path(void) { use(open((const char*)path, mode())); }

static void* swap(void* unused) {
  while (!stop) syscall(SYS_renameat2, AT_FDCWD, "to-asked", AT_FDCWD, "to-other", 2);
  return unused;
}
static void by_link(void) { use(open("to-asked/f", mode())); }

static void* flip(void* unused) {
  while (!stop) {
    dup2(asked_fd, kFlipping);
    dup2(other_fd, kFlipping);
  }
  return unused;
}
static void by_descriptor(void) { use(openat(kFlipping, "f", mode())); }

static void* move(void* unused) {
  while (!stop) {
    (void)!fchdir(asked_fd);
    (void)!fchdir(other_fd);
  }
  return unused;
}
static void by_current(void) { use(open("f", mode())); }

// One that is killed while it is asked about, or is not, beside one that goes on.
static void by_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    close(open((const char*)path, mode()));
    _exit(0);
  }
  const struct timespec moment = {0, (tried % 8) * 250000L};
  nanosleep(&moment, NULL);
  if (tried % 3 != 0) kill(child, SIGKILL);
  by_path();
  waitpid(child, NULL, 0);
}

static double now(void) {
  struct timespec moment;
  clock_gettime(CLOCK_MONOTONIC, &moment);
  return (double)moment.tv_sec * 1e3 + (double)moment.tv_nsec / 1e6;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void* (*other)(void*);
    void (*once)(void);
  } kKinds[] = {{"path", rewrite, by_path},
                {"link", swap, by_link},
                {"descriptor", flip, by_descriptor},
                {"current", move, by_current},
                {"child", rewrite, by_child}};
  if (argc != 7) return 2;
  writes = strcmp(argv[2], "write") == 0;
  asked = argv[3];
  other = argv[4];
  strcpy((char*)path, asked);
  asked_fd = open("asked", O_RDONLY | O_DIRECTORY);
  other_fd = open("other", O_RDONLY | O_DIRECTORY);
  if (asked_fd < 0 || other_fd < 0 || dup2(asked_fd, kFlipping) < 0) return 2;
  for (unsigned i = 0; i < sizeof kKinds / sizeof *kKinds; ++i) {
    if (strcmp(kKinds[i].name, argv[1]) != 0) continue;
    pthread_t thread;
    pthread_create(&thread, NULL, kKinds[i].other, NULL);
    const double end = now() + atof(argv[5]);
    do {
      kKinds[i].once();
    } while (now() < end || tried < atol(argv[6]));
    stop = 1;
    pthread_join(thread, NULL);
    printf("%ld\n", won);
    return 0;
  }
  return 2;
}
