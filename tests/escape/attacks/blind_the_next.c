// Closes or takes apart a repository, so that the next sandbox does not see that there is one to protect.
// kind: files
// twice: yes
#include "attack.h"
static int write_one(void) {
  const char *files[] = {"nested/.git/hooks/pre-commit", "nested/.git/config", "bare/hooks/pre-commit", "bare/config",
                         ".git/modules/m/hooks/pre-commit", ".git/modules/m/config", ".git/worktrees/w/commondir"};
  for (int i = 0; i < 7; i++)
    if (writes(files[i])) return 1;
  return 0;
}
static int closed(const char* directory) {
  chmod(directory, 0755);
  int wrote = write_one();
  chmod(directory, 0);
  return wrote;
}
static int taken_apart(const char* part, const char* aside) {
  int wrote = write_one();
  rename(part, aside);
  return wrote;
}
ATTEMPT(closed, everybody, closed("nested"));
ATTEMPT(closed_modules, everybody, closed(".git/modules"));
ATTEMPT(a_bare_one_without_refs, everybody, taken_apart("bare/refs", "bare/aside"));
ATTEMPT(a_bare_one_without_head, everybody, taken_apart("bare/HEAD", "bare/aside"));
ATTEMPT(a_module_without_head, everybody, taken_apart(".git/modules/m/HEAD", ".git/modules/m/aside"));
