// What every attack is made of: attempts, each a name, who succeeds with it on the backend none, and an expression.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct attempt {
  const char* attack;
  const char* name;
  int (*succeeds)(void);
};

// ATTEMPT(name, who, expression): the expression is true where the attack succeeded. `who` succeeds on the backend
// none: everybody, root, user (root does not need it), or nobody; the head of the file says why nobody does.
#define ATTEMPT(NAME, WHO, ...)                                                                             \
  static int attempt_##NAME(void) { return !!(__VA_ARGS__); }                                               \
  static const struct attempt entry_##NAME                                                                  \
      __attribute__((used, section("attempts"), aligned(sizeof(void*)))) = {ATTACK, #NAME, attempt_##NAME}; \
  enum { needs_a_semicolon_##NAME }

// The host lacks what the attempt is about; this counts where nothing protects. Elsewhere the sandbox is what lacks it.
static inline int absent(void) { _exit(2); }
// Every sandbox has an init, which starts the command.
static inline int is_unprotected(void) { return getppid() != 1; }
// Root of a virtual machine or a container may lack a capability; the attempt says nothing there.
static inline int with_capability(int capability, int succeeds) {
  int lacks = is_unprotected() && getuid() == 0 && prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 0;
  return lacks ? absent() : succeeds;
}
static inline const char* arena(const char* name) {
  const char* value = getenv(name);
  if (!value) _exit(2);
  return value;
}
static inline int number(const char* name) { return atoi(arena(name)); }
static inline const char* path_of(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Whether the descriptor's content holds the arena's secret word.
static inline int holds_secret(int fd) {
  char text[4096];
  if (fd < 0) return 0;
  ssize_t size = read(fd, text, sizeof text);
  close(fd);
  return size > 0 && memmem(text, size, arena("SECRET_WORD"), strlen(arena("SECRET_WORD"))) != NULL;
}
static inline int reads_secret(const char* path) { return holds_secret(open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)); }
static inline int writes_to(int fd) {
  if (fd < 0) return 0;
  ssize_t size = write(fd, "attacked\n", 9);
  close(fd);
  return size == 9;
}
static inline int writes(const char* path) {
  return writes_to(open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY, 0644));
}
// Makes a file where there should be none, and takes it away again.
static inline int plants(const char* path) { return writes(path) && (unlink(path), 1); }
static inline int opens(const char* path, int flags) {
  int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd >= 0;
}
static inline int opens_here(const char* path, int flags) {
  if (opens(path, flags)) return 1;
  return errno == ENOENT || errno == ENXIO || errno == ENODEV ? absent() : 0;
}

#include <stdarg.h>
static inline const char* path_of(const char* format, ...) {
  static char text[8][PATH_MAX];
  static unsigned next;
  char* path = text[next++ % 8];
  va_list values;
  va_start(values, format);
  vsnprintf(path, PATH_MAX, format, values);
  va_end(values);
  return path;
}
