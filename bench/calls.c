// What one call about a file costs, and many creations: the workload of `./dev bench access`.
//
//   calls DIR OTHER ROUNDS      "KIND NANOSECONDS" for each kind of call, the median of ROUNDS, in DIR; `let through`
//                               is a call of a kind that a supervisor is asked about, on OTHER, where it has no say
//   calls creations DIR COUNT   COUNT files made, written and closed in DIR: "creations NANOSECONDS" of all of them.
//                               They stay: ext4 is slow to make files for seconds after many went (recently_deleted)
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *other;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void need(int answer, const char *what) {
  if (answer >= 0) return;
  fprintf(stderr, "calls: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void open_and_close(const char *path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC, 0644);
  need(fd, path);
  close(fd);
}

// Each leaves the directory as the next round needs it; what is not timed is in `put_back`.
static void read_file(void) { open_and_close("there", O_RDONLY); }
static void look(void) {
  struct stat info;
  need(stat("there", &info), "stat");
}
static void look_for_nothing(void) {
  struct stat info;
  if (stat("nothing", &info) == 0 || errno != ENOENT) need(-1, "stat of nothing");
}
static void let_through(void) { open_and_close(other, O_WRONLY); }
static void write_file(void) { open_and_close("there", O_WRONLY); }
static void make_file(void) { open_and_close("new", O_WRONLY | O_CREAT | O_EXCL); }
static void remove_new(void) { need(unlink("new"), "unlink"); }
static void make_new(void) { open_and_close("new", O_WRONLY | O_CREAT | O_EXCL); }
static void make_directory(void) { need(mkdir("directory", 0755), "mkdir"); }
static void remove_directory(void) { need(rmdir("directory"), "rmdir"); }
static void move_there(void) { need(rename("moved", "back"), "rename"); }
static void move_back(void) { need(rename("back", "moved"), "rename"); }
static void change_mode(void) { need(chmod("there", 0644), "chmod"); }
static void nothing(void) {}

static const struct {
  const char *name;
  void (*before)(void), (*timed)(void), (*put_back)(void);
} kinds[] = {
    {"stat", nothing, look, nothing},
    {"stat of nothing", nothing, look_for_nothing, nothing},
    {"open to read", nothing, read_file, nothing},
    {"let through", nothing, let_through, nothing},
    {"open to write", nothing, write_file, nothing},
    {"make a file", nothing, make_file, remove_new},
    {"remove a file", make_new, remove_new, nothing},
    {"make a directory", nothing, make_directory, remove_directory},
    {"rename", nothing, move_there, move_back},
    {"change the mode", nothing, change_mode, nothing},
};

static int by_size(const void *left, const void *right) {
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static void time_kinds(int rounds) {
  int64_t *times = malloc((size_t)rounds * sizeof *times);
  open_and_close("there", O_WRONLY | O_CREAT);
  open_and_close("moved", O_WRONLY | O_CREAT);
  open_and_close(other, O_WRONLY | O_CREAT);
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
    for (int round = -rounds / 10; round < rounds; ++round) {
      kinds[kind].before();
      const int64_t began = now_ns();
      kinds[kind].timed();
      const int64_t took = now_ns() - began;
      kinds[kind].put_back();
      if (round >= 0) times[round] = took;
    }
    qsort(times, (size_t)rounds, sizeof *times, by_size);
    printf("%s\t%lld\n", kinds[kind].name, (long long)times[rounds / 2]);
  }
  free(times);
}

static void time_creations(int count) {
  char name[32];
  const int64_t began = now_ns();
  for (int i = 0; i < count; ++i) {
    snprintf(name, sizeof name, "file-%d", i);
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    need(fd, name);
    need((int)write(fd, name, strlen(name)), "write");
    close(fd);
  }
  printf("creations\t%lld\n", (long long)(now_ns() - began));
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const int creations = strcmp(argv[1], "creations") == 0;
  need(chdir(argv[creations ? 2 : 1]), "chdir");
  if (creations) {
    time_creations(atoi(argv[3]));
  } else {
    other = argv[2];
    time_kinds(atoi(argv[3]));
  }
  return 0;
}
