// Reaches the calls that have opened kernels before: bpf, perf, userfaultfd, keyrings, handles, modules, kexec.
// none: succeeds
#include "attack.h"
static void reached(const char* name, long answer) {
  if (answer >= 0 || (errno != EPERM && errno != ENOSYS && errno != EACCES)) succeeded(name);
}
int main(void) {
  char zero[256] = {0};
  reached("add_key", syscall(SYS_add_key, "user", "hutch-attack", "x", 1, -3 /* session */));
  reached("keyctl", syscall(SYS_keyctl, 0, -3, 1));
  reached("bpf", syscall(SYS_bpf, 0, zero, sizeof zero));
  reached("perf_event_open", syscall(SYS_perf_event_open, zero, 0, -1, -1, 0));
  reached("userfaultfd", syscall(SYS_userfaultfd, 1));
  reached("open_by_handle_at", syscall(SYS_open_by_handle_at, AT_FDCWD, zero, O_RDONLY));
  reached("finit_module", syscall(SYS_finit_module, -1, "", 0));
  reached("kexec_file_load", syscall(SYS_kexec_file_load, -1, -1, 0, "", 0));
  reached("a call of the future", syscall(600) == -1 && errno == ENOSYS ? (errno = ENOSYS, -1) : 0);
  held();
}
