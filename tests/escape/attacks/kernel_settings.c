// Opens for writing what configures the kernel, and reads what only root may.
// kind: kernel
#include "attack.h"
ATTEMPT(core_pattern, root, opens("/proc/sys/kernel/core_pattern", O_WRONLY));
ATTEMPT(modprobe, root, opens_here("/proc/sys/kernel/modprobe", O_WRONLY));
ATTEMPT(sysrq, root, opens_here("/proc/sysrq-trigger", O_WRONLY));
ATTEMPT(sysrq_setting, root, opens_here("/proc/sys/kernel/sysrq", O_WRONLY));
ATTEMPT(drop_caches, root, opens("/proc/sys/vm/drop_caches", O_WRONLY));
ATTEMPT(overcommit, root, opens("/proc/sys/vm/overcommit_memory", O_WRONLY));
ATTEMPT(binfmt_misc, root, opens_here("/proc/sys/fs/binfmt_misc/register", O_WRONLY));
ATTEMPT(hostname, root, opens("/proc/sys/kernel/hostname", O_WRONLY));
ATTEMPT(sethostname, root, !sethostname("attacked", 8));
ATTEMPT(irq_affinity, root, opens_here("/proc/irq/default_smp_affinity", O_WRONLY));
ATTEMPT(uevent_helper, root, opens_here("/sys/kernel/uevent_helper", O_WRONLY));
ATTEMPT(power_state, root, opens_here("/sys/power/state", O_WRONLY));
ATTEMPT(max_user_namespaces, root,
        with_capability(CAP_SYS_RESOURCE, opens("/proc/sys/user/max_user_namespaces", O_WRONLY)));
ATTEMPT(kptr_restrict, root, opens_here("/proc/sys/kernel/kptr_restrict", O_WRONLY));
ATTEMPT(kcore, root, opens_here("/proc/kcore", O_RDONLY));
ATTEMPT(kmsg, root, opens("/proc/kmsg", O_RDONLY));
ATTEMPT(ip_forward, root, opens("/proc/sys/net/ipv4/ip_forward", O_WRONLY));
ATTEMPT(unprivileged_ports, root, opens("/proc/sys/net/ipv4/ip_unprivileged_port_start", O_WRONLY));
ATTEMPT(lsm, root, opens_here("/sys/kernel/security/lsm", O_RDONLY));
ATTEMPT(tracefs, root, opens_here("/sys/kernel/tracing/trace", O_RDONLY));
ATTEMPT(debugfs, root, opens_here("/sys/kernel/debug/sched/features", O_RDONLY));
ATTEMPT(syslog, root, syscall(SYS_syslog, 10, NULL, 0) > 0);
