// Takes requests of asynchronous I/O, of which the machine has one number for everybody.
// kind: kernel
#include "attack.h"
static int takes(void) {
  unsigned long context = 0;
  return !syscall(SYS_io_setup, 128, &context) && !syscall(SYS_io_destroy, context);
}
ATTEMPT(io_setup, everybody, takes());
