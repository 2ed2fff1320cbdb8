// Opens for writing what configures the kernel: core_pattern, sysrq, modprobe, hostname, and reads what only root may.
// none: succeeds as root
#include "attack.h"
int main(void) {
  const char* names[] = {"/proc/sys/kernel/core_pattern",
                         "/proc/sys/kernel/modprobe",
                         "/proc/sysrq-trigger",
                         "/proc/sys/vm/drop_caches",
                         "/proc/sys/fs/binfmt_misc/register",
                         "/proc/sys/kernel/hostname",
                         "/proc/irq/default_smp_affinity",
                         "/sys/kernel/uevent_helper",
                         "/sys/power/state",
                         "/proc/kcore",
                         "/proc/sys/user/max_user_namespaces"};
  for (int i = 0; i < 11; i++)
    if (open(names[i], O_WRONLY) >= 0) succeeded(names[i]);
  if (open("/proc/kcore", O_RDONLY) >= 0) succeeded("/proc/kcore");
  if (open("/proc/kmsg", O_RDONLY | O_NONBLOCK) >= 0) succeeded("/proc/kmsg");
  if (syscall(SYS_syslog, 10, NULL, 0) > 0) succeeded("syslog");
  held();
}
