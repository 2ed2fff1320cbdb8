// System calls by the x32 numbers and through the 32-bit gate, which a filter that looks at numbers alone mistakes.
// none: succeeds
// machine: 32-bit gate
#include "attack.h"
static void gate(int unused) {
  (void)unused;
  _exit(1);
}
int main(void) {
  signal(SIGSEGV, gate);
  signal(SIGSYS, gate);
  pid_t pid = fork();
  if (pid == 0) {
    long answer = 0;
#ifdef __x86_64__
    __asm__ volatile("int $0x80" : "=a"(answer) : "a"(20L /* getpid */) : "memory");
#endif
    _exit(answer > 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) succeeded("int 0x80");
  held();
}
