// One of two processes in sandboxes of their own that share the current directory: each makes its half of a repository
// in the directories 0, 1, 2, ..., at the same time as the other. Usage: two_makers HALF FIRST COUNT
// HALF is the name that it makes and how: "HEAD", "objects", "config", ...; FIRST is 0 for the one, 1 for the other.
// At the end it prints "made" and waits for the end of its input.
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kEvil[] = "[core]\n\tfsmonitor = ./evil\n";

static void write_new(const char* path, const char* text, int flags) {
  int fd = open(path, O_WRONLY | flags, 0755);
  if (fd < 0) return;
  if (write(fd, text, strlen(text)) < 0) perror(path);
  close(fd);
}

static void make(const char* half, const char* directory) {
  char path[64], other[64];
  snprintf(path, sizeof path, "%s/%s", directory, half);
  if (strcmp(half, "HEAD") == 0) write_new(path, "ref: refs/heads/main\n", O_CREAT | O_EXCL);
  if (strcmp(half, "objects") == 0 && mkdir(path, 0755) != 0) return;
  if (strcmp(half, "config") == 0) write_new(path, kEvil, O_CREAT);
  if (strcmp(half, "opened") == 0) {  // a harmless one is there
    snprintf(path, sizeof path, "%s/config", directory);
    int fd = open(path, O_WRONLY);
    if (fd < 0) return;
    if (write(fd, kEvil, strlen(kEvil)) < 0) perror(path);
    close(fd);
  }
  if (strcmp(half, "linked") == 0 || strcmp(half, "moved") == 0) {
    snprintf(path, sizeof path, "%s/config", directory);
    snprintf(other, sizeof other, "%s/evil", directory);
    if ((half[0] == 'l' ? link(other, path) : rename(other, path)) != 0) return;
  }
  if (strcmp(half, "hooks") == 0) {  // "h" holds a hook
    snprintf(other, sizeof other, "%s/h", directory);
    if (rename(other, path) != 0) return;
  }
  if (strcmp(half, "hook") == 0) {  // "hooks" is empty
    snprintf(path, sizeof path, "%s/hooks/pre-commit", directory);
    write_new(path, "#!/bin/sh\n", O_CREAT | O_EXCL);
  }
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int first = atoi(argv[2]), count = atoi(argv[3]);
  int fd = open("turns", O_RDWR);
  if (fd < 0) return 3;
  _Atomic int32_t* turns = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (turns == MAP_FAILED) return 4;
  uint32_t random = 12345 + first;
  for (int at = 0; at < count; ++at) {
    char directory[16];
    snprintf(directory, sizeof directory, "%d", at);
    atomic_store(&turns[first], at + 1);
    for (int spins = 0; atomic_load(&turns[!first]) < at + 1; ++spins) {
      if (spins > 2000) sched_yield();
    }
    // From nothing to some calls' time later than the other; each tenth time so much that one is done before.
    random = random * 1664525 + 1013904223;
    uint32_t spread = at % 10 == 0 ? 1000 : 1;
    for (volatile uint32_t wait = (random >> 16) % 20000 * spread; wait > 0; --wait) continue;
    make(argv[1], directory);
  }
  puts("made");
  fflush(stdout);
  char end;
  return read(0, &end, 1) < 0;
}
