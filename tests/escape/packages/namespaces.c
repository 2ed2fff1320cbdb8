// A package enters or makes a namespace, where it would have every capability.
#include "attack.h"

int main(void) {
  int first = open("/proc/1/ns/mnt", O_RDONLY);
  if (first >= 0 && setns(first, CLONE_NEWNS) == 0) succeeded("setns");
  if (unshare(CLONE_NEWNS) == 0) succeeded("unshare mounts");
  if (unshare(CLONE_NEWNET) == 0) succeeded("unshare network");
  if (unshare(CLONE_NEWUSER) == 0) succeeded("unshare user");
  return 1;
}
