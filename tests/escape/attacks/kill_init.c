// Ends or stops the init of the sandbox, so that what it watches goes on unwatched.
// kind: processes
// none: cannot; nothing is promised there
#include "attack.h"
static int ended(void) {
  if (getppid() != 1) return 0;
  for (int number = 1; number < 65; number++) kill(1, number);
  usleep(200000);
  return getppid() != 1;
}
static int stopped(void) {
  if (getppid() != 1) return 0;
  kill(1, SIGSTOP);
  kill(1, SIGTSTP);
  usleep(100000);
  char state[512] = "";
  FILE* stat = fopen("/proc/1/stat", "r");
  return stat && fgets(state, sizeof state, stat) && strstr(state, ") T");
}
static int all_at_once(void) {
  if (getppid() != 1) return 0;
  kill(-1, SIGKILL);
  usleep(100000);
  return getppid() != 1;
}
ATTEMPT(ended, nobody, ended());
ATTEMPT(stopped, nobody, stopped());
ATTEMPT(with_everything, nobody, all_at_once());
