// A package traces the first process that it sees, or reads and writes its memory.
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "attack.h"

int main(void) {
  if (ptrace(PTRACE_SEIZE, 1, 0, 0) == 0) succeeded("ptrace");
  if (open("/proc/1/mem", O_RDWR) >= 0) succeeded("mem");
  char byte;
  struct iovec local = {&byte, 1}, remote = {(void*)0x400000, 1};
  if (process_vm_readv(1, &local, 1, &remote, 1, 0) >= 0 || errno == EFAULT) succeeded("process_vm_readv");
  int pidfd = syscall(SYS_pidfd_open, 1, 0);
  if (pidfd >= 0 && syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0) succeeded("pidfd_getfd");
  return 1;
}
