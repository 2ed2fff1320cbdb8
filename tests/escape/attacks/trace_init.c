// Traces the init, reads and writes its memory, opens its program and its descriptors, changes its limits.
// none: succeeds as root
#include <sys/ptrace.h>
#include <sys/uio.h>
#include "attack.h"
int main(void) {
  int pid = getppid();
  {
    char path[64], link[4096], byte;
    // Not PTRACE_ATTACH, which would leave the target stopped: the attack is to be known by its exit code.
    if (!ptrace(PTRACE_SEIZE, pid, 0, 0)) succeeded("PTRACE_SEIZE");
    struct iovec mine = {&byte, 1}, its = {(void*)0x400000, 1};
    if (process_vm_readv(pid, &mine, 1, &its, 1, 0) > 0) succeeded("process_vm_readv");
    if (process_vm_writev(pid, &mine, 1, &its, 1, 0) > 0) succeeded("process_vm_writev");
    const char* names[] = {"mem", "environ", "maps", "fd/0", "auxv"};
    for (int n = 0; n < 5; n++) {
      snprintf(path, sizeof path, "/proc/%d/%s", pid, names[n]);
      if (open(path, O_RDWR) >= 0 || open(path, O_RDONLY) >= 0) succeeded(path);
    }
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (open(path, O_WRONLY) >= 0 || readlink(path, link, sizeof link) > 0) succeeded(path);
    int pidfd = syscall(SYS_pidfd_open, pid, 0);
    for (int fd = 0; pidfd >= 0 && fd < 16; fd++)
      if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0) succeeded("pidfd_getfd");
  }
  held();
}
