// Makes a user namespace of its own, in which it may mount: binds over and takes away what hides and protects.
// none: succeeds
#include "attack.h"
static int child(void* unused) {
  (void)unused;
  return mount("/", "/mnt", NULL, MS_BIND | MS_REC, NULL) ? 1 : 0;
}
int main(void) {
  static char stack[65536];
  if (!unshare(CLONE_NEWUSER)) succeeded("unshare(CLONE_NEWUSER)");
  if (!unshare(CLONE_NEWUSER | CLONE_NEWNS)) succeeded("unshare(CLONE_NEWUSER|CLONE_NEWNS)");
  if (!unshare(CLONE_NEWNS)) succeeded("unshare(CLONE_NEWNS)");
  if (clone(child, stack + sizeof stack, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, NULL) > 0) succeeded("clone");
  struct {
    unsigned long long flags, rest[10];
  } arguments = {CLONE_NEWUSER | CLONE_NEWNS, {0}};
  long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) _exit(0);
  if (pid > 0) succeeded("clone3");
  held();
}
