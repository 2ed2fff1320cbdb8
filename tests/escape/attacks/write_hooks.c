// Plants code where the person's tools run it later: git hooks and configuration, shell and editor files.
// none: succeeds
#include "attack.h"
int main(void) {
  const char* files[] = {
      ".git/hooks/pre-commit",        ".git/hooks/new",    ".git/config", ".bashrc", ".mcp.json", ".vscode/tasks.json",
      "nested/.git/hooks/pre-commit", "nested/.git/config"};
  for (int i = 0; i < 8; i++)
    if (writes(files[i])) succeeded(files[i]);
  if (!rename(".git/hooks", ".git/aside")) succeeded("rename of the hooks");
  if (!rename("nested/.git", "nested/aside")) succeeded("rename of a nested repository");
  if (!unlink(".bashrc")) succeeded("unlink");
  held();
}
