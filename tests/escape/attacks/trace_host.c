// Traces a process of the host and reads its memory.
// kind: processes
#include <sys/ptrace.h>
#include <sys/uio.h>
#include "attack.h"
static int by_vector(long call) {
  char byte;
  struct iovec mine = {&byte, 1}, its = {(void*)8, 1};
  return syscall(call, number("VICTIM_PID"), &mine, 1, &its, 1, 0) >= 0 || errno == EFAULT;
}
static int takes_descriptor(void) {
  int pidfd = syscall(SYS_pidfd_open, number("VICTIM_PID"), 0);
  return pidfd >= 0 && syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0;
}
static int opens_pidfd(void) { return syscall(SYS_pidfd_open, number("VICTIM_PID"), 0) >= 0; }
ATTEMPT(seize, everybody, !ptrace(PTRACE_SEIZE, number("VICTIM_PID"), 0, 0));
ATTEMPT(process_vm_readv, everybody, by_vector(SYS_process_vm_readv));
ATTEMPT(process_vm_writev, everybody, by_vector(SYS_process_vm_writev));
ATTEMPT(pidfd_open, everybody, opens_pidfd());
ATTEMPT(pidfd_getfd, everybody, takes_descriptor());
