// Opens devices that give the host away: disks, memory, loops, virtual machines, the network, inputs.
// kind: kernel
#include <dirent.h>
#include "attack.h"
static int a_disk(void) {
  DIR* all = opendir("/sys/class/block");
  for (struct dirent* entry; all && (entry = readdir(all));)
    if (entry->d_name[0] != '.' && opens(path_of("/dev/%s", entry->d_name), O_RDONLY)) return 1;
  return 0;
}
ATTEMPT(a_disk, root, a_disk());
ATTEMPT(loop0, root, opens_here("/dev/loop0", O_RDWR));
ATTEMPT(loop_control, root, opens_here("/dev/loop-control", O_RDWR));
ATTEMPT(dev_mem, root, opens_here("/dev/mem", O_RDONLY));
ATTEMPT(dev_port, root, opens_here("/dev/port", O_RDONLY));
ATTEMPT(kmsg, root, opens_here("/dev/kmsg", O_RDONLY) || opens("/dev/kmsg", O_WRONLY));
ATTEMPT(kvm, root, opens_here("/dev/kvm", O_RDWR));
ATTEMPT(fuse, root, opens_here("/dev/fuse", O_RDWR));
ATTEMPT(tun, root, opens_here("/dev/net/tun", O_RDWR));
ATTEMPT(tty1, root, opens_here("/dev/tty1", O_RDWR));
ATTEMPT(console, root, opens_here("/dev/console", O_RDWR));
ATTEMPT(uinput, root, opens_here("/dev/uinput", O_RDWR));
ATTEMPT(vhost_vsock, root, opens_here("/dev/vhost-vsock", O_RDWR));
ATTEMPT(device_mapper, root, opens_here("/dev/mapper/control", O_RDWR));
ATTEMPT(cpu_dma_latency, root, opens_here("/dev/cpu_dma_latency", O_RDWR));
ATTEMPT(msr, root, opens_here("/dev/cpu/0/msr", O_RDONLY));
