// Plants code where the user's tools run it later: git hooks and configuration, shell and editor files.
// kind: files
#include "attack.h"
ATTEMPT(a_hook, everybody, writes(".git/hooks/pre-commit"));
ATTEMPT(a_new_hook, everybody, writes(".git/hooks/new"));
ATTEMPT(the_configuration, everybody, writes(".git/config"));
ATTEMPT(config_worktree, everybody, writes(".git/config.worktree"));
ATTEMPT(commondir, everybody, writes(".git/commondir"));
ATTEMPT(bashrc, everybody, writes(".bashrc"));
ATTEMPT(bashrc_by_rename, everybody, writes("x") && !rename("x", ".bashrc"));
ATTEMPT(a_new_zshrc, everybody, writes(".zshrc"));
ATTEMPT(mcp_json, everybody, writes(".mcp.json"));
ATTEMPT(vscode_tasks, everybody, writes(".vscode/tasks.json"));
ATTEMPT(vscode_settings, everybody, writes(".vscode/settings.json"));
ATTEMPT(gitconfig, everybody, writes(".gitconfig"));
ATTEMPT(a_nested_hook, everybody, writes("nested/.git/hooks/pre-commit"));
ATTEMPT(a_nested_configuration, everybody, writes("nested/.git/config"));
ATTEMPT(rename_of_the_hooks, everybody, !rename(".git/hooks", ".git/aside"));
ATTEMPT(rename_of_a_nested_repository, everybody, !rename("nested/.git", "nested/aside"));
ATTEMPT(removal, everybody, !unlink(".bashrc"));
ATTEMPT(a_link_in_its_place, everybody, !unlink(".bashrc") && !symlink("x", ".bashrc"));
ATTEMPT(a_program_out_of_the_file, everybody, !chmod(".git/hooks/pre-commit", 0755));
