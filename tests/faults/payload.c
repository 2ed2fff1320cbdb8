// What runs if anything runs: leaves a mark, then prints how strong the walls round it are, a line each.
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void print_status(void) {
  static const char* wanted[] = {"Cap", "NoNewPrivs", "Seccomp", "Groups", "Uid", "Gid", "Sig"};
  char line[4096];
  FILE* status = fopen("/proc/self/status", "r");
  if (!status) {
    puts("status none");
    return;
  }
  while (fgets(line, sizeof line, status)) {
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
      if (!strncmp(line, wanted[i], strlen(wanted[i]))) fputs(line, stdout);
  }
  fclose(status);
}

// Mount points, options and types; ids, devices and the names of sources differ from run to run.
static void print_mounts(void) {
  char line[8192], point[4096], options[1024];
  FILE* mounts = fopen("/proc/self/mountinfo", "r");
  if (!mounts) {
    puts("mounts none");
    return;
  }
  while (fgets(line, sizeof line, mounts)) {
    char* type = strstr(line, " - ");
    if (sscanf(line, "%*d %*d %*s %*s %4095s %1023s", point, options) == 2)
      printf("mount %s %s %s\n", point, options, type ? strtok(type + 3, " ") : "");
  }
  fclose(mounts);
}

static void print_namespaces(void) {
  static const char* names[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
  for (int i = 0; i < 7; i++) {
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
    if (readlink(path, text, sizeof text - 1) < 0) strcpy(text, "none");
    printf("ns %s %s\n", names[i], text);
  }
}

// A process can be in 16 Landlock domains at once (landlock(7)): how many more can be entered tells whether it is in
// one.
static void print_landlock(void) {
  struct landlock_ruleset_attr attr = {.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_BLOCK};
  int layers = 0;
  for (; layers < 32; layers++) {
    int fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr.handled_access_fs, 0);
    if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0)) break;
    close(fd);
  }
  printf("landlock layers left %d\n", layers);
}

static void print_attempt(const char* name, long answer) {
  printf("%s: %s\n", name, answer < 0 ? strerror(errno) : "done");
}

int main(int argc, char** argv) {
  int mark = open(argc > 1 ? argv[1] : "mark", O_CREAT | O_WRONLY, 0644);
  if (mark >= 0) close(mark);
  char name[256] = "", link[256] = "";
  print_status();
  print_mounts();
  print_namespaces();
  gethostname(name, sizeof name - 1);
  printf("hostname %s\nsession leader %d\n", name, getsid(0) == getpid());
  print_attempt("init exe", readlink("/proc/1/exe", link, sizeof link));
  print_attempt("unix socket", socket(AF_UNIX, SOCK_DGRAM, 0));
  print_attempt("vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
  print_attempt("unshare user", unshare(CLONE_NEWUSER));
  print_attempt("unshare mounts", unshare(CLONE_NEWNS));
  print_attempt("terminal", open("/dev/tty", O_RDWR));
  for (int fd = 3; fd < 64; fd++)
    if (fcntl(fd, F_GETFD) >= 0) printf("descriptor %d\n", fd);
  print_landlock();
  return 0;
}
