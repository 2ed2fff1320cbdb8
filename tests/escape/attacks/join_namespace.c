// Joins a namespace that is not its own: those of the init, of its parent and of whatever /proc shows.
// none: cannot; nobody joins the namespace of users that they are in
// kind: namespaces
#include "attack.h"
static int joins(const char* path) {
  int fd = open(path, O_RDONLY);
  return fd >= 0 && !setns(fd, 0);
}
static int by_pidfd(int pid, int kinds) {
  int fd = syscall(SYS_pidfd_open, pid, 0);
  return fd >= 0 && !setns(fd, kinds);
}
static int by_relation(unsigned long request) {
  int fd = open("/proc/self/ns/net", O_RDONLY);
  int related = fd < 0 ? -1 : ioctl(fd, request);
  return related >= 0 && !setns(related, 0);
}
ATTEMPT(mnt_of_init, root, joins("/proc/1/ns/mnt"));
ATTEMPT(net_of_init, root, joins("/proc/1/ns/net"));
ATTEMPT(ipc_of_init, root, joins("/proc/1/ns/ipc"));
ATTEMPT(uts_of_init, root, joins("/proc/1/ns/uts"));
ATTEMPT(pid_of_init, root, joins("/proc/1/ns/pid"));
ATTEMPT(cgroup_of_init, root, joins("/proc/1/ns/cgroup"));
ATTEMPT(user_of_init, nobody, joins("/proc/1/ns/user"));
ATTEMPT(own_mnt, root, joins("/proc/self/ns/mnt"));
ATTEMPT(own_net, root, joins("/proc/self/ns/net"));
ATTEMPT(own_user, nobody, joins("/proc/self/ns/user"));
ATTEMPT(pidfd_of_its_parent, root, by_pidfd(getppid(), CLONE_NEWNS));
ATTEMPT(all_of_its_parent, root, by_pidfd(getppid(), CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS));
ATTEMPT(of_a_process_of_the_host, root, by_pidfd(number("VICTIM_PID"), CLONE_NEWNS));
ATTEMPT(ns_get_userns, nobody, by_relation(0xb701 /* NS_GET_USERNS */));
ATTEMPT(ns_get_parent, nobody, by_relation(0xb702 /* NS_GET_PARENT */));
