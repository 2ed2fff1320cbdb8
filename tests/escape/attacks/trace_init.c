// Traces the init, reads and writes its memory, opens its program and its descriptors.
// none: cannot; a program that runs is not written to
// kind: processes
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include "attack.h"
static const char* of_init(const char* name) { return path_of("/proc/%d/%s", getppid(), name); }
static int leads(const char* name) {
  char link[PATH_MAX];
  return readlink(of_init(name), link, sizeof link) > 0;
}
// Zero bytes at its program's start: only whether it may is of interest.
static int by_vector(long call) {
  char byte;
  struct iovec mine = {&byte, 1}, its = {(void*)8, 1};
  return syscall(call, getppid(), &mine, 1, &its, 1, 0) >= 0 || errno == EFAULT;
}
static int takes_descriptor(void) {
  int pidfd = syscall(SYS_pidfd_open, getppid(), 0);
  for (int fd = 0; pidfd >= 0 && fd < 16; fd++)
    if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0) return 1;
  return 0;
}
// Not PTRACE_ATTACH, which would leave the target stopped.
ATTEMPT(seize, everybody, !ptrace(PTRACE_SEIZE, getppid(), 0, 0));
ATTEMPT(process_vm_readv, everybody, by_vector(SYS_process_vm_readv));
ATTEMPT(process_vm_writev, everybody, by_vector(SYS_process_vm_writev));
ATTEMPT(memory, everybody, opens(of_init("mem"), O_RDWR));
ATTEMPT(environment, everybody, opens(of_init("environ"), O_RDONLY));
ATTEMPT(maps, everybody, opens(of_init("maps"), O_RDONLY));
ATTEMPT(vector, everybody, opens(of_init("auxv"), O_RDONLY));
ATTEMPT(a_descriptor, everybody, leads("fd/0"));
ATTEMPT(its_program, everybody, leads("exe"));
ATTEMPT(its_program_overwritten, nobody, opens(of_init("exe"), O_WRONLY));
ATTEMPT(its_root, everybody, leads("root"));
ATTEMPT(pidfd_getfd, everybody, takes_descriptor());
