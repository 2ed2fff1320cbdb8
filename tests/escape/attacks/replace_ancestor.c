// Renames or replaces an ancestor of a protected path, so that its name leads to something writable.
// none: succeeds
#include "attack.h"
int main(void) {
  if (!rename("deep/er", "deep/aside")) succeeded("rename of the parent");
  if (!rename("deep", "aside")) succeeded("rename of the grandparent");
  mkdir("spare", 0755);
  if (!syscall(SYS_renameat2, AT_FDCWD, "deep", AT_FDCWD, "spare", 2 /* RENAME_EXCHANGE */)) succeeded("exchange");
  if (!rmdir("deep/er/locked")) succeeded("rmdir");
  if (!rename(".git", "git-aside")) succeeded("rename of .git");
  if (writes("deep/er/locked/file")) succeeded("a write");
  held();
}
