// Takes the resources of the init away by prlimit, so that it watches and refuses no more.
// kind: processes
#include <sys/resource.h>
#include "attack.h"
// On a backend without an init it is the parent, which gets back what it had.
static int takes(int resource) {
  struct rlimit now, less;
  if (prlimit(getppid(), resource, NULL, &now)) return 0;
  less = (struct rlimit){now.rlim_cur > 64 ? now.rlim_cur - 1 : now.rlim_cur, now.rlim_max};
  return !prlimit(getppid(), resource, &less, NULL) && (prlimit(getppid(), resource, &now, NULL) || 1);
}
ATTEMPT(signals, everybody, takes(RLIMIT_SIGPENDING));
ATTEMPT(processes, everybody, takes(RLIMIT_NPROC));
ATTEMPT(memory, everybody, takes(RLIMIT_AS));
ATTEMPT(time, everybody, takes(RLIMIT_CPU));
ATTEMPT(descriptors, everybody, takes(RLIMIT_NOFILE));
ATTEMPT(sizes_of_files, everybody, takes(RLIMIT_FSIZE));
