// Closes or takes apart a repository, so that the next sandbox does not see that there is one to protect.
// none: succeeds
#include "attack.h"
int main(void) {
  const char *files[] = {"nested/.git/hooks/pre-commit", "nested/.git/config", "bare/hooks/pre-commit", "bare/config",
                         ".git/modules/m/hooks/pre-commit", ".git/modules/m/config", ".git/worktrees/w/commondir"};
  chmod("nested", 0755);
  chmod(".git/modules", 0755);
  for (int i = 0; i < 7; i++) if (writes(files[i])) succeeded(files[i]);
  rename("bare/refs", "bare/aside");
  rename(".git/modules/m/HEAD", ".git/modules/m/aside");
  chmod("nested", 0);
  chmod(".git/modules", 0);
  held();
}
