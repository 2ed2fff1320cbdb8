// Sets up an io_uring, whose operations no filter of system calls sees.
// kind: kernel
#include "attack.h"
static int reached(long answer) { return answer >= 0 || errno == EFAULT || errno == EINVAL || errno == EBADF; }
static char parameters[256];
ATTEMPT(set_up, everybody, reached(syscall(425, 8, parameters)));
ATTEMPT(entered, everybody, reached(syscall(426, -1, 1, 0, 0, NULL, 0)));
ATTEMPT(registered, everybody, reached(syscall(427, -1, 0, NULL, 0)));
