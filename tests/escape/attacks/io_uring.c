// Sets up an io_uring, whose operations no filter of system calls sees.
// none: succeeds
#include "attack.h"
int main(void) {
  char parameters[256] = {0};
  if (syscall(425, 8, parameters) >= 0) succeeded("io_uring_setup");
  if (errno == EFAULT || errno == EINVAL) succeeded("io_uring_setup was reached");
  held();
}
