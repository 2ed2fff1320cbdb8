# What a sandbox left in a repository, by ways around the look at its end, and the user's own git.
"""Each case bites where nothing protects, and nowhere else."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
from git_ways import as_person, commit_first  # noqa: E402


@pytest.fixture
def repository(as_user, project):
    return commit_first(as_user, project)


@pytest.fixture
def victim(as_user, repository):
    return as_user.write(repository.parent / f"{repository.name}-victim", "the user's\n", 0o600)


def git(as_user, repository, *words):
    return as_person(as_user, ["git", *words], repository, ok=False)


def is_changed(victim):
    return not victim.exists() or victim.read_bytes() != b"the user's\n"


# A directory keeps a link's own time when it is moved into a repository: the first command makes it, the second one
# moves it there.
def test_a_link_that_an_earlier_command_made_elsewhere(hutch, repository, victim, as_user, backend):
    hutch.sh(f"mkdir d; ln -s {victim} d/HEAD").ok()
    result = hutch.sh("mv .git/logs old; mv d .git/logs")
    git(as_user, repository, "commit", "-q", "--allow-empty", "-m", "x")
    assert is_changed(victim) == (backend == "none"), str(result)


PLACES = {
    "a branch below the name objects": (
        "git init -q new; git -C new checkout -q -b objects/x; git -C new commit -q --allow-empty -m x; mkdir d; "
        "ln -s {victim} d/x; cd new; mv .git/logs/refs/heads/objects old; mv ../d .git/logs/refs/heads/objects",
        [["-C", "new", "commit", "-q", "--allow-empty", "-m", "x"]]),
    "a submodule in a new repository that is named objects": (
        "git init -q new; cd new; mkdir .git/modules; git init -q --separate-git-dir .git/modules/objects s; cd s; "
        "git commit -q --allow-empty -m x; cd ..; mkdir d; ln -s {victim} d/HEAD; rm -r .git/modules/objects/logs; "
        "mv d .git/modules/objects/logs", [["-C", "new/s", "commit", "-q", "--allow-empty", "-m", "x"]]),
    "beside a closed directory": (
        "git init -q new; cd new; mkdir d; mkdir .git/aa .git/zz .git/mm; ln -s {victim} d/HEAD; "
        "mv d .git/logs; chmod 0 .git/aa .git/mm .git/zz", [["-C", "new", "commit", "-q", "--allow-empty", "-m", "x"]]),
    "a directory of objects": (
        "mkdir -p {victim}-d; git init -q new; cd new; mkdir d; ln -s {victim} d/commit-graph; "
        "git commit -q --allow-empty -m x; mv .git/objects/info old; mv d .git/objects/info",
        [["-C", "new", "gc", "-q"]]),
    "a commit graph": (
        "rm -f .git/objects/info/commit-graph; ln -s {victim} .git/objects/info/commit-graph", [["gc", "-q"]]),
    "a commit graph, moved": (
        "mkdir d; ln -s {victim} d/commit-graph; rm -r .git/objects/info; mv d .git/objects/info", [["gc", "-q"]]),
    "a multi-pack index": (
        "git gc -q; ln -s {victim} .git/objects/pack/multi-pack-index", [["multi-pack-index", "write"]]),
    "a chain of commit graphs": (
        "mkdir -p .git/objects/info/commit-graphs; "
        "ln -s {victim} .git/objects/info/commit-graphs/commit-graph-chain",
        [["commit-graph", "write", "--reachable", "--split"]]),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_link_among_objects(hutch, repository, victim, as_user, backend, place):
    script, outside = PLACES[place]
    result = hutch.sh("git() { command git -c user.name=A -c user.email=a@b.example \"$@\"; }; "
                      + script.format(victim=victim))
    said = [str(git(as_user, repository, *words)) for words in outside]
    assert is_changed(victim) == (backend == "none"), f"{result}\n{said}"


APPLY = r"""
cat > make.py <<'END'
import os, subprocess, sys
def git(*words, text=b""):
    return subprocess.run(["git", *words], input=text, stdout=-1, check=True).stdout.decode().strip()
blob = git("rev-parse", "HEAD:file")
new = git("hash-object", "-w", "--stdin", text=b"content\nmore\n")
at = ".git/rebase-apply"
os.mkdir(at)
mail = f"From {git('rev-parse', 'HEAD')} Mon Sep 17 00:00:00 2001\nFrom: A <a@b.example>\nSubject: x\n\n---\n"
mail += f"diff --git a/file b/file\nindex {blob}..{new} 100644\n--- a/file\n+++ b/file\n"
mail += "@@ -1 +1,2 @@\n content\n+more\n-- \n2\n\n"
files = {"next": "1", "last": "2", "0001": mail, "0002": mail, "threeway": "f", "keep": "f",
         "original-commit": git("rev-parse", "HEAD"),
         "quiet": "t", "sign": "f", "utf8": "t", "messageid": "f", "scissors": "f", "no-reset": "", "gpg_sign_opt": "",
         "author-script": "GIT_AUTHOR_NAME='A'\nGIT_AUTHOR_EMAIL='a@b.example'\nGIT_AUTHOR_DATE='@1 +0000'\n",
         "final-commit": "x", "patch": mail, "abort-safety": git("rev-parse", "HEAD"), "apply-opt": sys.argv[1],
         "dirtyindex": "", "head-name": "refs/heads/main", "orig-head": git("rev-parse", "HEAD"),
         "onto": git("rev-parse", "HEAD")}
files |= {sys.argv[2]: ""}
for name, text in files.items():
    open(f"{at}/{name}", "w").write(text)
END
"""


@pytest.mark.parametrize("option", ["'--build-fake-ancestor=VICTIM'", "'--build-fake-ancestor' 'VICTIM'",
                                    "'--build-fake=VICTIM'"])
@pytest.mark.parametrize(("state", "how"), [("applying", "am --skip"), ("rebasing", "rebase --skip")])
def test_options_of_a_patch(hutch, repository, victim, as_user, backend, option, state, how):
    option = option.replace("VICTIM", str(victim))
    result = hutch.sh(APPLY + f'python3 make.py "{option}" {state}; git status').ok()
    said = git(as_user, repository, *how.split())
    assert is_changed(victim) == (backend == "none"), f"{result}\n{said}"


# A commit whose merge needs more than a fast forward, on a branch that is gone to.
SIDE = ("git checkout -q -b side; echo a > more; git add more; git commit -q -m a; git checkout -q main; "
        "echo b > other; git add other; git commit -q -m b; side=$(git rev-parse side); main=$(git rev-parse main); ")
REBASE = SIDE + ("s=.git/rebase-merge; mkdir $s; echo pick $side > $s/git-rebase-todo; "
                 "echo refs/heads/side > $s/head-name; "
                 "echo $main > $s/onto; echo $side > $s/orig-head; : > $s/interactive; echo resolve > $s/strategy; "
                 "git checkout -q --detach main; ")
PICK = SIDE + ("s=.git/sequencer; mkdir $s; printf 'pick %s x\\npick %s y\\n' $main $side > $s/todo; "
               "echo $main > $s/head; ")
OPTIONS = {
    "of a strategy": (REBASE + "echo ' --index-output={victim}' > $s/strategy_opts", "rebase --continue"),
    "of a strategy, as newer versions write it": (
        REBASE + "echo '\"index-output={victim}\"' > $s/strategy_opts", "rebase --continue"),
    "of a strategy of a cherry-pick": (
        PICK + "printf '[options]\\nstrategy = resolve\\nstrategy-option = index-output={victim}\\n' > $s/opts",
        "cherry-pick --continue"),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_a_prepared_operation(hutch, repository, victim, as_user, backend, option):
    """git-merge-resolve gives it to read-tree, which writes any file by it."""
    script, how = OPTIONS[option]
    result = hutch.sh("set -e; git() { command git -c user.name=A -c user.email=a@b.example \"$@\"; }; "
                      + script.format(victim=victim)).ok()
    said = git(as_user, repository, *how.split())
    assert is_changed(victim) == (backend == "none"), f"{result}\n{said}"


# What people leave behind: it goes on outside as if it had begun there.
ORDINARY = {
    "a rebase with a strategy": (
        SIDE + "git checkout -q side; echo c > other; git add other; git commit -q -m c; "
        "git rebase -q -s ort -X patience -X find-renames=50% main", ".git/rebase-merge/strategy_opts"),
    "a rebase by patches": (
        SIDE + "git checkout -q side; echo c > other; git add other; git commit -q -m c; "
        "git rebase -q --apply main", ".git/rebase-apply/apply-opt"),
    "a cherry-pick with a strategy": (
        SIDE + "git checkout -q side; echo c > other; git add other; git commit -q -m c; git checkout -q main; "
        "git cherry-pick -X ignore-space-change side side~1", ".git/sequencer/opts"),
    "a bisection of two paths": (
        SIDE + "touch \"it's\"; git bisect start -- other \"it's\" 'a b!'", ".git/BISECT_NAMES"),
}


@pytest.mark.parametrize("what", ORDINARY)
def test_an_ordinary_operation_goes_on(hutch, repository, backend, what):
    script, file = ORDINARY[what]
    result = hutch.sh("git() { command git -c user.name=A -c user.email=a@b.example \"$@\"; }; " + script)
    assert (repository / file).exists() and "quarantine" not in result.errors, str(result)


RR = "0123456789012345678901234567890123456789"
RESOLVED = (f"mkdir -p .git/rr-cache/{RR}; echo x > .git/rr-cache/{RR}/preimage; "
            f"rr() {{ printf '{RR}\\t%s\\0' \"$2\" > $1/MERGE_RR; }}; ")
ELSEWHERE = {
    "a worktree that names another work tree": (
        "mkdir decoy; touch decoy/l; ln -s {victim} wt/l; echo $PWD/decoy/.git > .git/worktrees/wt/gitdir; "
        "rr .git/worktrees/wt l", [], "wt"),
    "a worktree that names none": (
        "ln -s {victim} wt/l; echo x > .git/worktrees/wt/gitdir; rr .git/worktrees/wt l", [], "wt"),
    "a worktree whose name has no end": (
        "ln -s {victim} wt/l; head -c 5000 /dev/zero | tr '\\0' '\\n' >> .git/worktrees/wt/gitdir; "
        "rr .git/worktrees/wt l", [], "wt"),
    "a link that is staged": (
        "ln -s {victim} l; git add l; rm l; rr .git l", [["restore", "."]], "."),
    "a link that is staged, behind a file": (
        "ln -s {victim} l; git add l; rm l; echo x > l; rr .git l", [["restore", "."]], "."),
    "a link of the last commit": (
        "ln -s {victim} l; git add l; git commit -q -m l; git rm -q --cached l; rm l; rr .git l",
        [["checkout", "HEAD", "--", "l"]], "."),
}


@pytest.mark.parametrize("way", ELSEWHERE)
def test_a_resolution_of_another_file(hutch, repository, victim, as_user, backend, way):
    script, outside, where = ELSEWHERE[way]
    as_person(as_user, ["git", "worktree", "add", "-q", "wt"], repository)
    result = hutch.sh("git() { command git -c user.name=A -c user.email=a@b.example \"$@\"; }; "
                      + RESOLVED + script.format(victim=victim))
    commands = [*outside, ["commit", "--allow-empty", "-m", "x"]]
    said = [str(git(as_user, repository / where, *words)) for words in commands]
    copied = [file for file in (repository / ".git/rr-cache").rglob("*image*") if file.read_bytes() == b"the user's\n"]
    assert bool(copied) == (backend == "none"), f"{result}\n{said}"


# What a module's own file says: none has the setting core.worktree.
def test_a_resolution_in_a_module_without_a_work_tree(hutch, repository, victim, as_user, backend):
    result = hutch.sh("git() { command git -c user.name=A -c user.email=a@b.example \"$@\"; }; mkdir -p .git/modules; "
                      "git init -q --separate-git-dir .git/modules/sub sub; "
                      + RESOLVED.replace(".git/", ".git/modules/sub/")
                      + f"ln -s {victim} sub/l; rr .git/modules/sub l; cat sub/.git; ls .git/modules/sub")
    said = git(as_user, repository / "sub", "commit", "--allow-empty", "-m", "x")
    images = (repository / ".git/modules/sub/rr-cache").rglob("*image*")
    copied = [file for file in images if file.read_bytes() == b"the user's\n"]
    assert bool(copied) == (backend == "none"), f"{result}\n{said}"


# The first command makes what the second one moves into a repository that is not there at its start.
@pytest.mark.parametrize("how", ["mv d new/.git/logs",
                                 "mv new/.git new/g; cp -r new/g/. g; mv g new/.git; mv d new/.git/logs"])
def test_a_link_that_an_earlier_command_made_for_a_new_repository(hutch, repository, victim, as_user, backend, how):
    hutch.sh(f"mkdir d; ln -s {victim} d/HEAD").ok()
    result = hutch.sh("git init -q new; rm -rf new/.git/logs; " + how)
    git(as_user, repository / "new", "commit", "-q", "--allow-empty", "-m", "x")
    assert is_changed(victim) == (backend == "none"), str(result)


MODULES = {
    "a submodule that is named objects": (".git/modules/objects", "objects"),
    "a submodule of a linked worktree": (".git/worktrees/wt/modules/sub", "wt/sub"),
}


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("what", ["link", "hook", "config", "index", "todo"])
def test_a_submodule_in_an_unusual_place(hutch, repository, victim, as_user, backend, module, what):
    at, work = MODULES[module]
    as_person(as_user, ["git", "clone", "-q", ".", f"../{repository.name}-src"], repository)
    if work == "objects":
        as_person(as_user, ["git", "submodule", "--quiet", "add", f"../{repository.name}-src", work], repository)
    else:
        as_person(as_user, ["git", "worktree", "add", "-q", "wt"], repository)
        as_person(as_user, ["git", "submodule", "--quiet", "add", f"{repository}-src", "sub"], repository / "wt")
    assert (repository / at / "HEAD").exists()
    trip = as_user.write(repository.parent / f"{repository.name}-trip", f"#!/bin/sh\necho x > {victim}\n", 0o755)
    script = {
        "link": (f"mkdir -p d; cp -r {at}/logs/. d; rm d/HEAD; ln -s {victim} d/HEAD; "
                 f"ln -sf {victim} {at}/COMMIT_EDITMSG"),
        "hook": f"printf '#!/bin/sh\\n{trip}\\n' > {at}/hooks/pre-commit; chmod +x {at}/hooks/pre-commit",
        "config": f"git config -f {at}/config core.fsmonitor {trip}",
        "index": f"python3 -c \"f = open('{at}/index', 'r+b'); t = f.read(); f.seek(0);"
                 f" f.write(t.replace(b'file', b'../f'))\"",
        "todo": (f"mkdir {at}/rebase-merge; cd {at}/rebase-merge; git rev-parse HEAD | tee onto orig-head; "
                 f"echo refs/heads/main > head-name; touch interactive done; echo exec {trip} > git-rebase-todo"),
    }[what]
    result = hutch.sh(script)
    said = [git(as_user, repository / work, *words) for words in (
        ["status"], ["commit", "-q", "--allow-empty", "-m", "x"], ["restore", "."], ["rebase", "--continue"])]
    changed = is_changed(victim) or (repository / work / "../f").exists()
    assert changed == (backend == "none"), f"{result}\n{said}"


def test_a_resolution_that_git_reads_in_another_way(hutch, repository, victim, as_user, backend):
    result = hutch.sh(RESOLVED + f"printf '{RR}.\\t1\\t../%s\\0' {victim.name} > .git/MERGE_RR").ok()
    git(as_user, repository, "commit", "-q", "--allow-empty", "-m", "x")
    copied = [file for file in (repository / ".git/rr-cache").rglob("*image*") if file.read_bytes() == b"the user's\n"]
    assert bool(copied) == (backend == "none"), str(result)


HIDDEN = r"""
import hashlib, os, struct, subprocess, sys
def git(*words, text=b""):
    return subprocess.run(["git", *words], input=text, stdout=-1, check=True).stdout.strip().decode()
blob = bytes.fromhex(git("hash-object", "-w", "--stdin", text=b"evil\n"))
def entry(name):
    head = struct.pack(">10I", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0) + blob + struct.pack(">H", len(name)) + name
    return head.ljust((len(head) + 8) // 8 * 8, b"\0")
def index(names, more=b""):
    text = b"DIRC" + struct.pack(">II", 2, len(names)) + b"".join(entry(name) for name in names)
    return text, more
text, _ = index([sys.argv[1].encode()])
sum = hashlib.sha1(text).digest()
open(".git/sharedindex." + sum.hex(), "wb").write(text + sum)
text, _ = index([b"many/%06d" % n for n in range(30000)])
none = struct.pack(">IIQI", 0, 1, 0, 0)
link = b"link" + struct.pack(">I", 20 + 2 * len(none)) + sum + 2 * none
inner_at = len(text) + 8
headers = hashlib.sha1(link[:8]).digest()
inner = link + b"EOIE" + struct.pack(">II", 24, inner_at) + headers
text += b"AAAA" + struct.pack(">I", len(inner)) + inner
open(".git/index", "wb").write(text + hashlib.sha1(text).digest())
"""


def test_an_end_of_an_index_that_hides(hutch, repository, victim, as_user, backend):
    as_person(as_user, ["git", "config", "index.threads", "2"], repository)
    as_user.write(repository / "hidden.py", HIDDEN)
    result = hutch.sh(f"python3 hidden.py ../{victim.name}")
    commands = (["ls-files", "../"], ["restore", f":(literal)../{victim.name}"], ["restore", "."],
                ["checkout-index", "-f", "-a"])
    said = [git(as_user, repository, *words) for words in commands]
    assert is_changed(victim) == (backend == "none"), f"{result}\n{[str(one)[-600:] for one in said]}"


# git-worktree(1) writes where the directory of a worktree says that it is.
def test_a_worktree_that_is_elsewhere(hutch, repository, as_user, backend):
    other = as_user.mkdir(repository.parent / f"{repository.name}-other")
    as_person(as_user, ["git", "worktree", "add", "-q", "wt"], repository)
    result = hutch.sh(f"echo {other}/.git > .git/worktrees/wt/gitdir")
    said = git(as_user, repository, "worktree", "repair")
    assert (other / ".git").exists() == (backend == "none"), f"{result}\n{said}"
