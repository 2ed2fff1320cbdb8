// A package makes a device and opens it.
#include <sys/sysmacros.h>

#include "attack.h"

int main(void) {
  const char* places[] = {"/srv/device", "/tmp/device", "/dev/shm/device", "/run/device"};
  for (unsigned i = 0; i < 4; ++i) {
    unlink(places[i]);
    if (mknod(places[i], S_IFCHR | 0666, makedev(1, 5)) == 0 && open(places[i], O_RDONLY) >= 0) succeeded(places[i]);
    if (mknod(places[i], S_IFBLK | 0666, makedev(7, 0)) == 0) succeeded(places[i]);
  }
  return 1;
}
