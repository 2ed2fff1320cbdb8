// A package changes its root directory, from where "..", once kept open, leads out.
#include "attack.h"

int main(void) {
  mkdir("/srv/below", 0755);
  if (chroot("/srv/below") == 0) succeeded("chroot");
  return 1;
}
