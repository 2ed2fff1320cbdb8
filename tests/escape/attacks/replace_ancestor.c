// Renames or replaces an ancestor of a protected path, so that its name leads to something writable.
// kind: files
#include "attack.h"
ATTEMPT(rename_of_the_parent, everybody, !rename("deep/er", "deep/aside"));
ATTEMPT(rename_of_the_grandparent, everybody, !rename("deep", "aside"));
ATTEMPT(rename_of_the_project, everybody,
        !chdir("..") && !rename(arena("PROJECT"), path_of("%s-away", arena("PROJECT"))) &&
            (rename(path_of("%s-away", arena("PROJECT")), arena("PROJECT")), 1));
ATTEMPT(exchange, everybody,
        !mkdir("spare", 0755) &&
            !syscall(SYS_renameat2, AT_FDCWD, "deep", AT_FDCWD, "spare", 2 /* RENAME_EXCHANGE */));
ATTEMPT(removal, everybody, !unlink("deep/er/locked/file") && !rmdir("deep/er/locked"));
ATTEMPT(rename_of_git, everybody, !rename(".git", "git-aside"));
ATTEMPT(a_write, everybody, writes("deep/er/locked/file"));
ATTEMPT(a_write_after_a_rename, everybody, !rename("deep", "aside") && writes("aside/er/locked/file"));
