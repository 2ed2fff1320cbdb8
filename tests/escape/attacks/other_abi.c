// System calls by the x32 numbers and through the 32-bit gate, which a filter that looks at numbers alone mistakes.
// none: cannot; few kernels have it
// kind: kernel
#include "attack.h"
#ifdef __x86_64__
static void gate(int unused) {
  (void)unused;
  _exit(1);
}
static long through_the_gate(long number, long first, long second) {
  long answer = -1;
  __asm__ volatile("int $0x80" : "=a"(answer) : "a"(number), "b"(first), "c"(second), "d"(0L) : "memory");
  return answer;
}
// The gate is tried by a child, since a filter ends who goes through it.
static int passes(long number, long first, long second, int wants) {
  pid_t pid = fork();
  if (pid == 0) {
    signal(SIGSEGV, gate);
    signal(SIGSYS, gate);
    long answer = through_the_gate(number, first, second);
    _exit(wants ? answer >= 0 ? 0 : 1 : answer > 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
static int there(void) {
  if (passes(20 /* getpid */, 0, 0, 0)) return 1;
  return is_unprotected() ? absent() : 0;
}
ATTEMPT(the_32_bit_gate, everybody, there());
ATTEMPT(a_socket_by_the_gate, everybody, there() && passes(359 /* socket */, AF_UNIX, SOCK_DGRAM, 1));
ATTEMPT(unshare_by_the_gate, everybody, there() && passes(310 /* unshare */, CLONE_NEWUSER, 0, 1));
ATTEMPT(io_uring_by_the_gate, nobody, there() && passes(425, 1, 0, 1));
ATTEMPT(x32, nobody, syscall(0x40000000 | SYS_getpid) > 0);
#endif
