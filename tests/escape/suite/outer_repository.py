# What a command in a linked worktree may not change of the repository that comes along with it.
"""The user has two worktrees, and a main work tree in the middle of its own work. An attack has succeeded if anything
there differs afterwards that is not the worktree's own or shared by all: objects, branches, tags and their logs."""

import os
import stat
import time

from cases import FELL, HELD, Case, Outcome, each, slug
from git_ways import as_person, commit_first

# GIT is the repository's directory, OWN the worktree's in it, OTHER another worktree's.
WAYS = {
    "a hook": "echo evil > GIT/hooks/post-commit; chmod 755 GIT/hooks/post-commit",
    "a hook, by a move": "echo evil > hook; mv hook GIT/hooks/post-commit || cp hook GIT/hooks/post-commit",
    "the configuration": "git config core.fsmonitor evil",
    "the configuration, appended": "printf '[core]\\nfsmonitor=evil\\n' >> GIT/config",
    # git's own lock may be made and left, as in every repository.
    "the configuration, by git's lock": "{ cat GIT/config; printf '[core]\\nfsmonitor=evil\\n'; } > GIT/config.lock; "
                                        "mv GIT/config.lock GIT/config || rm GIT/config.lock",
    "the configuration, emptied": "truncate -s 0 GIT/config",
    "the configuration, removed": "rm -f GIT/config",
    "the configuration's mode": "chmod 600 GIT/config",
    "the configuration, by a hard link": "ln GIT/config mine || ln GIT/config GIT/objects/mine; "
                                         "echo evil >> mine; echo evil >> GIT/objects/mine",
    "the configuration, by a descriptor": "exec 3< GIT/config; echo evil >> /proc/self/fd/3",
    "the worktree's configuration": "printf '[core]\\nfsmonitor=evil\\n' > OWN/config.worktree",
    "the worktree's configuration, by git's lock": "printf '[core]\\nbare=false\\n' > OWN/config.worktree.lock; "
                                                   "mv OWN/config.worktree.lock OWN/config.worktree",
    "the main work tree's configuration": "printf '[core]\\nbare=false\\n' > GIT/config.worktree",
    "HEAD": "echo ref: refs/heads/side > GIT/HEAD",
    "HEAD, by git": "git --git-dir=GIT symbolic-ref HEAD refs/heads/side",
    "HEAD, by a move": "echo ref: refs/heads/side > OWN/new; mv OWN/new GIT/HEAD",
    "HEAD, by an exchange": "python3 -c \"import ctypes, sys; sys.exit(-ctypes.CDLL(None).renameat2("
                            "-100, b'OWN/HEAD', -100, b'GIT/HEAD', 2))\"",
    "HEAD, from its directory": "cd GIT; echo ref: refs/heads/side > HEAD",
    "HEAD, by a symbolic link": "ln -s GIT way; echo ref: refs/heads/side > way/HEAD",
    "the index": "git --git-dir=GIT --work-tree=. read-tree --empty",
    "the index's lock": "touch GIT/index.lock",
    "what it excludes": "mkdir -p GIT/info; echo '*' >> GIT/info/exclude",
    "its attributes": "echo '* filter=evil' > GIT/info/attributes",
    "its grafts": "git rev-parse HEAD > GIT/info/grafts",
    "the main work tree's log": "git rev-parse HEAD >> GIT/logs/HEAD",
    "the main work tree's log, removed": "rm -f GIT/logs/HEAD",
    "its rebase": "mkdir GIT/rebase-merge; echo 'exec evil' > GIT/rebase-merge/git-rebase-todo",
    "its bisection": "mkdir -p GIT/refs/bisect; git rev-parse HEAD > GIT/refs/bisect/bad; echo evil > GIT/BISECT_START",
    "its bisection's references": "mkdir -p GIT/refs/bisect; git rev-parse HEAD > GIT/refs/bisect/bad",
    "its rewritten references": "mkdir -p GIT/refs/rewritten; git rev-parse HEAD > GIT/refs/rewritten/onto",
    "its worktree references": "mkdir -p GIT/refs/worktree; git rev-parse HEAD > GIT/refs/worktree/x",
    "a replacement": "mkdir -p GIT/refs/replace; git rev-parse HEAD > GIT/refs/replace/$(git rev-parse HEAD)",
    "its message": "echo evil > GIT/MERGE_MSG; echo evil > GIT/COMMIT_EDITMSG",
    "a submodule": "mkdir -p GIT/modules/x; echo evil > GIT/modules/x/HEAD",
    "another object store": "echo /nowhere > GIT/objects/info/alternates",
    "another object store, by a link": "ln -s HERE/x GIT/objects/info/alternates",
    "another object store, its directory moved": "mkdir GIT/objects/new; echo /x > GIT/objects/new/alternates; "
                                                 "mv GIT/objects/info GIT/objects/old; "
                                                 "mv GIT/objects/new GIT/objects/info",
    "another worktree's HEAD": "echo ref: refs/heads/main > OTHER/HEAD",
    "another worktree's index": "rm -f OTHER/index; git rev-parse HEAD > OTHER/ORIG_HEAD",
    "another worktree's place": "echo HERE/.git > OTHER/gitdir",
    "another worktree, moved": "mv OTHER GIT/worktrees/x || mv OTHER GIT/objects/x",
    "another worktree, pruned": "git --git-dir=GIT worktree prune --expire=now; rm -rf OTHER",
    "its own place": "echo /nowhere/.git > OWN/gitdir",
    "its own place, by a move": "echo /nowhere/.git > OWN/new; mv OWN/new OWN/gitdir",
    "its own common directory": "echo HERE > OWN/commondir",
    "its own directory, moved": "mv OWN GIT/worktrees/x",
    "its own repository file": "echo gitdir: HERE/x > .git",
    "a new worktree": "mkdir -p GIT/worktrees/x; echo HERE/sub/.git > GIT/worktrees/x/gitdir",
    "a new worktree, by git": "git worktree add -q sub -b sub",
    "a link among references": "ln -s ../../config GIT/refs/heads/x",
    "a link to the log": "rm -f GIT/logs/refs/heads/main; ln -s ../../../config GIT/logs/refs/heads/main",
    "a link as the packed references": "ln -sf HERE/x GIT/packed-refs",
    "a pipe as the packed references": "rm -f GIT/packed-refs; mkfifo GIT/packed-refs",
    "a pipe among references, by a move": "mkfifo pipe; mv pipe GIT/refs/heads/x",
    "a new name": "echo evil > GIT/evil; mkdir GIT/remotes; echo evil > GIT/remotes/origin",
    "the directory of references, moved": "mv GIT/refs GIT/objects/refs",
    "the directory of references, removed": "rm -rf GIT/refs",
    "the directory's mode": "chmod 777 GIT",
    "the directory's mode, by a descriptor": "exec 3< GIT; chmod 777 /proc/self/fd/3",
    "the directory's attributes": "setfattr -n user.evil -v evil GIT; chmod 700 GIT",
    "recorded resolutions": "mkdir GIT/rr-cache",
    "a socket as the packed references": "rm -f GIT/packed-refs; python3 -c \"import socket; "
                                         "socket.socket(socket.AF_UNIX).bind('GIT/packed-refs')\"",
    "a file of the main work tree": "echo evil > GIT/../file",
}
SHARED = ("objects", "refs/heads", "refs/tags", "refs/stash", "logs/refs/heads", "packed-refs", "gc.pid", "gc.log")
OWN_FILES = ("gitdir", "commondir", "config.worktree")


def cases():
    for way in WAYS:
        what = f"In a linked worktree, changes what is not its own of the repository: {way}."
        yield Case("outer_repository", slug(way), "git", what, each(run), needs=("git",))


def run(rig, case):
    way = next(way for way in WAYS if slug(way) == case.name)
    began = time.monotonic()
    with rig.project("w") as (person, project):
        main = commit_first(person, person.mkdir(project.parent / "main"))
        project.rmdir()
        for name in ("w", "other"):
            as_person(person, ["git", "worktree", "add", "-q", f"../{name}", "-b", f"side-{name}"], main)
        git = main / ".git"
        before = seen(main, project)
        words = {"GIT": git, "OWN": git / "worktrees/w", "OTHER": git / "worktrees/other", "HERE": project}
        script = 'git() { command git -c user.name=A -c user.email=a@b.example "$@"; }; ' + WAYS[way]
        for word, path in words.items():
            script = script.replace(word, str(path))
        result = rig.hutch(person, project).sh(script)
        changed = sorted(name for name in before.items() ^ seen(main, project).items())
        if result.code == 125:
            raise ValueError(result.errors[-400:])
        how = f"{changed[0][0]} has changed" if changed else ""
        return Outcome(FELL if changed else HELD, how, time.monotonic() - began)


def seen(main, project):
    """Each file, directory and link of the work tree that is not shared, or that a link takes the place of."""
    found = {"the worktree's .git": read(project / ".git")}
    for place, directories, files in os.walk(main):
        for name in [*directories, *files]:
            path = os.path.join(place, name)
            about = os.path.relpath(path, main / ".git")
            if os.path.islink(path):
                found[about] = os.readlink(path)
            elif stat.S_ISFIFO(os.lstat(path).st_mode) or stat.S_ISSOCK(os.lstat(path).st_mode):
                found[about] = "nothing that git opens"
            elif is_watched(about):
                status = os.stat(path)
                content = b"" if os.path.isdir(path) else read(path)
                found[about] = (status.st_mode, content)
    return found


def read(path):
    with open(path, "rb") as file:
        return file.read()


def is_watched(about):
    if about in ("objects/info/alternates", "objects/info/http-alternates"):
        return True
    if about.startswith("worktrees/w/"):
        return about.removeprefix("worktrees/w/") in OWN_FILES
    return not any(about == shared or about.startswith((f"{shared}/", f"{shared}.")) for shared in SHARED)
