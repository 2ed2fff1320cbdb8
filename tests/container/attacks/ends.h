// How an attack on containers ends: with 0 if it succeeded, with 1 if it was held.
#pragma once
#include "attack.h"

static inline void __attribute__((noreturn)) succeeded(const char* how) {
  printf("succeeded: %s\n", how);
  fflush(stdout);
  _exit(0);
}
static inline void __attribute__((noreturn)) held(void) { _exit(1); }
