// Makes a namespace of its own, in which it may mount: binds over and takes away what hides and protects.
// kind: namespaces
#include "attack.h"
static int child(void* unused) {
  (void)unused;
  return 0;
}
static int clones(int flags) {
  static char stack[65536];
  return clone(child, stack + sizeof stack, flags | SIGCHLD, NULL) > 0;
}
static int clones3(unsigned long long flags) {
  struct {
    unsigned long long flags, rest[10];
  } arguments = {flags, {0}};
  long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) _exit(0);
  return pid > 0;
}
static int binds(void) {
  return !unshare(CLONE_NEWUSER | CLONE_NEWNS) && !mount("/", "/mnt", NULL, MS_BIND | MS_REC, NULL);
}
ATTEMPT(user, everybody, !unshare(CLONE_NEWUSER));
ATTEMPT(user_and_mount, everybody, !unshare(CLONE_NEWUSER | CLONE_NEWNS));
ATTEMPT(user_and_net, everybody, !unshare(CLONE_NEWUSER | CLONE_NEWNET));
ATTEMPT(user_and_pid, everybody, !unshare(CLONE_NEWUSER | CLONE_NEWPID));
ATTEMPT(mount, root, !unshare(CLONE_NEWNS));
ATTEMPT(net, root, !unshare(CLONE_NEWNET));
ATTEMPT(pid, root, !unshare(CLONE_NEWPID));
ATTEMPT(cgroup, root, !unshare(CLONE_NEWCGROUP));
ATTEMPT(time, root, !unshare(0x80 /* CLONE_NEWTIME */));
ATTEMPT(clone, everybody, clones(CLONE_NEWUSER | CLONE_NEWNS));
ATTEMPT(clone_of_mount, root, clones(CLONE_NEWNS));
ATTEMPT(clone3, everybody, clones3(CLONE_NEWUSER | CLONE_NEWNS));
ATTEMPT(bind_in_it, everybody, binds());
