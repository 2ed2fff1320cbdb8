// Reads what --deny-read hides in the project: directly, by another name, by a link, after moving what is round it.
// none: succeeds
#include "attack.h"
int main(void) {
  if (reads_secret("denied/secret")) succeeded("directly");
  if (reads_secret("denied-file")) succeeded("the file directly");
  if (reads_secret("./sub/../denied/secret")) succeeded("round about");
  if (reads_secret("/proc/self/cwd/denied/secret")) succeeded("through /proc");
  if (!link("denied-file", "other") && reads_secret("other")) succeeded("by a hard link");
  symlink("denied", "link");
  if (reads_secret("link/secret")) succeeded("by a symbolic link");
  if (!rename("denied", "moved") && reads_secret("moved/secret")) succeeded("after a rename");
  if (!rename("denied-file", "moved-file") && reads_secret("moved-file")) succeeded("after a rename of the file");
  umount2("denied", MNT_DETACH);
  if (reads_secret("denied/secret")) succeeded("after umount");
  held();
}
