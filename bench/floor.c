// The least that a sandbox can cost on this machine: a static program that starts itself in new namespaces.
//
//   floor true               exits: spawning it is the floor of everything
//   floor namespaces         user, mount, pid, ipc, uts and cgroup namespaces, id maps, exec of itself, exit
//   floor namespaces net     the same and a network namespace: all seven
//   floor sleep              prints a line and waits for the end of its input, which is how an idle command looks
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void write_file(const char *path, const char *text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) fail(path);
  close(fd);
}

static void map_own_id(const char *path, unsigned id) {
  char line[64];
  snprintf(line, sizeof line, "%u %u 1\n", id, id);
  write_file(path, line);
}

static int start_in_namespaces(int flags) {
  const unsigned uid = getuid(), gid = getgid();
  const long child = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
  if (child < 0) fail("clone");
  if (child == 0) {
    write_file("/proc/self/setgroups", "deny");
    map_own_id("/proc/self/uid_map", uid);
    map_own_id("/proc/self/gid_map", gid);
    execl("/proc/self/exe", "floor", "true", NULL);
    fail("exec");
  }
  int status = 0;
  if (waitpid((pid_t)child, &status, 0) < 0) fail("waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "true";
  if (strcmp(what, "true") == 0) return 0;
  if (strcmp(what, "sleep") == 0) {
    char byte;
    if (write(1, "ready\n", 6) < 0) return 1;
    while (read(0, &byte, 1) > 0) {
    }
    return 0;
  }
  if (strcmp(what, "namespaces") != 0) return 2;
  const int net = argc > 2 && strcmp(argv[2], "net") == 0 ? CLONE_NEWNET : 0;
  return start_in_namespaces(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
                             CLONE_NEWCGROUP | net);
}
