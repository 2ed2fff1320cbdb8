// Leaves a changed root by a descriptor from before it.
// none: succeeds as root
#include "attack.h"
int main(void) {
  int outside = open(".", O_RDONLY);
  mkdir("jail", 0755);
  if (chroot("jail")) held();
  fchdir(outside);
  for (int i = 0; i < 64; i++) chdir("..");
  chroot(".");
  if (reads_secret(arena("HOME_SECRET"))) succeeded("chroot");
  succeeded("chroot is allowed");
}
