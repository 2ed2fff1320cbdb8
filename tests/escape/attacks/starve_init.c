// Takes the descriptors, the memory and the time of the init away by prlimit, so that it watches and refuses no more.
// none: succeeds
#include "attack.h"
#include <sys/resource.h>
int main(void) {
  int init = getppid() == 1 ? 1 : (int)getppid();
  int of[] = {RLIMIT_SIGPENDING, RLIMIT_NPROC, RLIMIT_AS, RLIMIT_CPU, RLIMIT_NOFILE};
  struct rlimit now, nothing = {0, 0};
  for (int i = 0; i < 5; i++) {
    if (prlimit(init, of[i], NULL, &now)) continue;
    nothing.rlim_max = now.rlim_max;
    if (!prlimit(init, of[i], &nothing, NULL)) succeeded("prlimit of the init");
  }
  held();
}
