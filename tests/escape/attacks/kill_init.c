// Ends or stops the init of the sandbox, so that what it watches goes on unwatched.
// none: cannot; nothing is promised there
#include "attack.h"
int main(void) {
  if (getppid() != 1) held();
  int before = getppid();
  for (int number = 1; number < 65; number++) kill(1, number);
  usleep(200000);
  if (getppid() != before) succeeded("the init is gone");
  char state[512] = "";
  FILE* stat = fopen("/proc/1/stat", "r");
  if (stat && fgets(state, sizeof state, stat) && strstr(state, ") T")) succeeded("the init is stopped");
  held();
}
