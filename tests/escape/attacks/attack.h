// What every attack is made of: exit code 0 says that it succeeded, 1 that it was held, 2 that it could not be tried.
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static inline int succeeded(const char* how) {
  printf("succeeded: %s\n", how);
  fflush(stdout);
  _exit(0);
}
static inline int held(void) { _exit(1); }
static inline const char* arena(const char* name) {
  const char* value = getenv(name);
  if (!value) _exit(2);
  return value;
}
static inline int number(const char* name) { return atoi(arena(name)); }

// Whether the file can be read and its content holds the arena's secret word.
static inline int reads_secret(const char* path) {
  char text[4096];
  int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return 0;
  ssize_t size = read(fd, text, sizeof text);
  close(fd);
  return size > 0 && memmem(text, size, arena("SECRET_WORD"), strlen(arena("SECRET_WORD"))) != NULL;
}
static inline int writes(const char* path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY, 0644);
  if (fd < 0) return 0;
  ssize_t size = write(fd, "attacked\n", 9);
  close(fd);
  return size == 9;
}
