// Threads that change what a call means while it is looked at: race KIND MILLISECONDS. It never says whether it won.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The project has plain/ and repo/.git/hooks/. What must not come: .mcp.json anywhere, repo/.git/hooks/pre-commit.
static volatile char path[64];
static volatile int stop;

static void put(int fd) {
  if (fd < 0) return;
  (void)!write(fd, "evil", 4);
  close(fd);
}

static void* rewrite(void* unused) {
  while (!stop) {
    strcpy((char*)path, "plain/a");
    strcpy((char*)path, ".mcp.json");
  }
  return unused;
}

static void buffer(void) {
  static int turn;
  const char* now = (const char*)path;
  switch (turn++ % 5) {
    case 0: put(open(now, O_WRONLY | O_CREAT, 0644)); break;
    case 1:
      close(open("plain/b", O_WRONLY | O_CREAT, 0644));
      rename("plain/b", now);
      break;
    case 2: link("plain/kept", now); break;
    case 3: symlink("plain/kept", now); break;
    case 4:
      mkdir(now, 0755);
      rmdir("plain/a");
      break;
  }
  unlink("plain/a");
}

static int dir_fd;

static void* swap(void* unused) {
  while (!stop) syscall(SYS_renameat2, AT_FDCWD, "plain/link", AT_FDCWD, "plain/dir", 2);
  return unused;
}

static void parent(void) {
  put(open("plain/dir/pre-commit", O_WRONLY | O_CREAT, 0644));
  unlinkat(dir_fd, "pre-commit", 0);
  close(open("plain/b", O_WRONLY | O_CREAT, 0644));
  rename("plain/b", "plain/dir/pre-commit");
  link("plain/kept", "plain/dir/pre-commit");
}

static int plain_fd, hooks_fd;
enum { kFlipping = 50 };

static void* flip(void* unused) {
  while (!stop) {
    dup2(plain_fd, kFlipping);
    dup2(hooks_fd, kFlipping);
  }
  return unused;
}

static void descriptor(void) {
  put(openat(kFlipping, "pre-commit", O_WRONLY | O_CREAT, 0644));
  linkat(plain_fd, "kept", kFlipping, "pre-commit", 0);
  unlinkat(plain_fd, "pre-commit", 0);
}

static void* move(void* unused) {
  while (!stop) {
    fchdir(plain_fd);
    fchdir(hooks_fd);
  }
  return unused;
}

static void current(void) {
  put(open("pre-commit", O_WRONLY | O_CREAT, 0644));
  mknod("pre-commit", S_IFREG | 0644, 0);
  unlinkat(plain_fd, "pre-commit", 0);
}

// Trees that are built under other names and get their own while something is made in them.
static void* rename_ancestors(void* unused) {
  while (!stop) {
    rename("t/x", "t/.git");
    rename("t/.git", "t/x");
    rename("t/x/other", "t/x/hooks");
    rename("t/x/hooks", "t/x/other");
  }
  return unused;
}

static void ancestors(void) {
  put(open("t/x/hooks/pre-commit", O_WRONLY | O_CREAT, 0644));
  put(open("t/x/other/pre-commit", O_WRONLY | O_CREAT, 0644));
  put(open("t/.git/hooks/pre-commit", O_WRONLY | O_CREAT, 0644));
  put(open("t/.git/other/pre-commit", O_WRONLY | O_CREAT, 0644));
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void* (*other)(void*);
    void (*once)(void);
  } kKinds[] = {{"buffer", rewrite, buffer},
                {"parent", swap, parent},
                {"descriptor", flip, descriptor},
                {"current", move, current},
                {"ancestors", rename_ancestors, ancestors}};
  if (argc != 3) return 2;
  close(open("plain/kept", O_WRONLY | O_CREAT, 0644));
  mkdir("plain/dir", 0755);
  symlink("../repo/.git/hooks", "plain/link");
  mkdir("t", 0755);
  mkdir("t/x", 0755);
  mkdir("t/x/other", 0755);
  plain_fd = open("plain", O_RDONLY | O_DIRECTORY);
  dir_fd = open("plain/dir", O_RDONLY | O_DIRECTORY);
  hooks_fd = open("repo/.git/hooks", O_RDONLY | O_DIRECTORY);
  if (plain_fd < 0 || hooks_fd < 0) return 2;
  dup2(plain_fd, kFlipping);
  for (unsigned i = 0; i < sizeof kKinds / sizeof *kKinds; ++i) {
    if (strcmp(kKinds[i].name, argv[1]) != 0) continue;
    pthread_t others[2];
    for (int t = 0; t < 2; ++t) pthread_create(&others[t], NULL, kKinds[i].other, NULL);
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    long count = 0;
    do {
      kKinds[i].once();
      ++count;
      clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < atoi(argv[2]));
    stop = 1;
    for (int t = 0; t < 2; ++t) pthread_join(others[t], NULL);
    printf("tried %ld times\n", count);
    return 0;
  }
  return 2;
}
