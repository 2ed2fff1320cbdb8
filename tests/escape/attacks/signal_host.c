// Sends a signal to a process of the host, or changes how it runs.
// kind: processes
#include <sys/resource.h>
#include "attack.h"
static int pid(void) { return number("VICTIM_PID"); }
static int by_pidfd(void) {
  int fd = syscall(SYS_pidfd_open, pid(), 0);
  return fd >= 0 && !syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0);
}
static int queues(void) {
  siginfo_t info = {.si_code = SI_QUEUE, .si_pid = getpid(), .si_uid = getuid()};
  return !syscall(SYS_rt_sigqueueinfo, pid(), SIGCONT, &info);
}
static int moves(void) {
  cpu_set_t set;
  return !sched_getaffinity(pid(), sizeof set, &set) && !sched_setaffinity(pid(), sizeof set, &set);
}
static int limits(void) {
  struct rlimit now;
  return !prlimit(pid(), RLIMIT_CORE, NULL, &now) && !prlimit(pid(), RLIMIT_CORE, &now, NULL);
}
ATTEMPT(kill, everybody, !kill(pid(), 0));
ATTEMPT(tgkill, everybody, !syscall(SYS_tgkill, pid(), pid(), 0));
ATTEMPT(pidfd_send_signal, everybody, by_pidfd());
ATTEMPT(rt_sigqueueinfo, everybody, queues());
ATTEMPT(its_group, everybody, !kill(-pid(), 0));
ATTEMPT(affinity, everybody, moves());
ATTEMPT(priority, everybody, !setpriority(PRIO_PROCESS, pid(), 19));
ATTEMPT(limits, everybody, limits());
