// Traces a process of the host and reads its memory.
// none: succeeds as root
#include <sys/ptrace.h>
#include <sys/uio.h>
#include "attack.h"
int main(void) {
  int pid = number("VICTIM_PID");
  if (!ptrace(PTRACE_SEIZE, pid, 0, 0)) succeeded("PTRACE_SEIZE");
  char byte;
  struct iovec mine = {&byte, 1}, its = {(void*)0x400000, 1};
  if (process_vm_readv(pid, &mine, 1, &its, 1, 0) > 0) succeeded("process_vm_readv");
  held();
}
