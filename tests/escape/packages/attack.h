// What an attack of a package says: how it succeeded, by exit code 0. The rest is that of the other attacks.
#pragma once
#include "../attacks/attack.h"

static inline int succeeded(const char* how) {
  printf("succeeded: %s\n", how);
  fflush(stdout);
  _exit(0);
}
