// Leaves a changed root by a descriptor from before it.
// kind: privileges
#include "attack.h"
static int climbs(void) {
  int outside = open(".", O_RDONLY);
  mkdir("jail", 0755);
  if (chroot("jail") || fchdir(outside)) return 0;
  for (int i = 0; i < 64; i++)
    if (chdir("..")) return 0;
  return !chroot(".") && reads_secret(arena("HOME_SECRET"));
}
ATTEMPT(by_a_descriptor, root, climbs());
ATTEMPT(a_root_of_its_own, root, !mkdir("jail", 0755) && !chroot("jail"));
