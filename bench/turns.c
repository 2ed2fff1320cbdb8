// Times commands in turn: round after round each command once, so that a noisy moment falls on all of them alike.
//
//   turns ROUNDS COMMAND ARG... [--next COMMAND ARG...]...
//
// Prints "INDEX NANOSECONDS" for each run, from before the spawn until the exit has been waited for. A command that
// does not exit with 0 ends everything: a time without the work would be a lie.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { COMMANDS_MAX = 64, WARM_UP_ROUNDS = 3 };

extern char **environ;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t run_once(char **command, const posix_spawn_file_actions_t *actions) {
  const int64_t began = now_ns();
  pid_t child = 0;
  const int failed = posix_spawn(&child, command[0], actions, NULL, command, environ);
  if (failed != 0) {
    fprintf(stderr, "turns: %s: %s\n", command[0], strerror(failed));
    exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const int64_t took = now_ns() - began;
  if (status != 0) {
    fprintf(stderr, "turns: %s ended with status 0x%x\n", command[0], status);
    exit(1);
  }
  return took;
}

int main(int argc, char **argv) {
  char **commands[COMMANDS_MAX];
  int count = 0;
  if (argc < 3) {
    fprintf(stderr, "usage: turns ROUNDS COMMAND ARG... [--next COMMAND ARG...]...\n");
    return 2;
  }
  const int rounds = atoi(argv[1]);
  commands[count++] = &argv[2];
  for (int i = 2; i < argc; ++i) {
    if (strcmp(argv[i], "--next") != 0) continue;
    argv[i] = NULL;
    if (count == COMMANDS_MAX || i + 1 == argc) return 2;
    commands[count++] = &argv[i + 1];
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  for (int round = -WARM_UP_ROUNDS; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) {
      const int64_t took = run_once(commands[i], &actions);
      if (round >= 0) printf("%d %lld\n", i, (long long)took);
    }
  }
  return 0;
}
