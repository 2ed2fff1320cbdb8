// Sends a signal to a process of the host: by its number, by a pidfd.
// none: succeeds
#include "attack.h"
int main(void) {
  int pid = number("VICTIM_PID");
  if (!kill(pid, 0)) succeeded("kill");
  int pidfd = syscall(SYS_pidfd_open, pid, 0);
  if (pidfd >= 0 && !syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0)) succeeded("pidfd_send_signal");
  if (!syscall(SYS_tgkill, pid, pid, 0)) succeeded("tgkill");
  held();
}
