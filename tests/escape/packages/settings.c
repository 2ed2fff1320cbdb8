// A package opens settings of the kernel for writing.
#include "attack.h"

int main(void) {
  const char* names[] = {"/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger",
                         "/proc/sys/user/max_user_namespaces", "/proc/sys/net/ipv4/ip_forward"};
  for (unsigned i = 0; i < 5; ++i) {
    if (open(names[i], O_WRONLY) >= 0) succeeded(names[i]);
  }
  if (sethostname("attacked", 8) == 0) succeeded("sethostname");
  return 1;
}
