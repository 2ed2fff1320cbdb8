// Writes where no grant is: system directories, other homes, the root, and the sandbox's own private mounts' parents.
// none: succeeds as root
#include "attack.h"
int main(void) {
  const char* names[] = {"/etc/hutch-attack",  "/usr/hutch-attack", "/var/lib/hutch-attack", "/hutch-attack",
                         "/home/hutch-attack", "/opt/hutch-attack", "/srv/hutch-attack",     "/boot/hutch-attack",
                         "/sys/hutch-attack",  "/dev/hutch-attack"};
  for (int i = 0; i < 10; i++) {
    if (!writes(names[i])) continue;
    unlink(names[i]);
    succeeded(names[i]);
  }
  held();
}
