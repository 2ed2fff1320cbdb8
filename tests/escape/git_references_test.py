# Symbolic references by which the person's git would write another file of the repository than a reference.
"""A sandbox writes "ref: commondir" where git resets or moves a reference. git then writes a commit's name into
commondir, and takes hooks and configuration from the directory of that name."""

import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
from git_ways import as_person, commit_first  # noqa: E402

PERSON = ("export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.example GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.example "
          "GIT_EDITOR=true; ")
TRAP = """
s=$(git rev-parse HEAD); mkdir -p .git/$s/hooks; cp -r .git/objects .git/refs .git/$s/
printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch PWNED;\\n' > .git/$s/config
printf '#!/bin/sh\\ntouch PWNED\\n' > .git/$s/hooks/pre-commit; chmod +x .git/$s/hooks/pre-commit
"""
NEXT = "git status || true; git commit -q --allow-empty -m next || true"

# What the sandbox writes besides, and what the person does first.
WAYS = {
    "a pseudo reference": ("echo 'ref: commondir' > .git/ORIG_HEAD", "git reset -q"),
    "a branch": ("echo 'ref: commondir' > .git/refs/heads/feature", "git branch -f feature HEAD"),
    "a bisection": ("mkdir -p .git/refs/bisect; echo 'ref: commondir' > .git/refs/bisect/bad",
                    "git bisect start; git bisect bad"),
    "with more blanks": ("printf 'ref:\\t commondir \\n\\n' > .git/refs/heads/feature", "git branch -f feature HEAD"),
    "a directory that moves there": (
        "mkdir -p d; echo 'ref: commondir' > d/feature; sleep 0.1; mv d .git/refs/heads/d",
        "git branch -f d/feature HEAD"),
    "references of a rebase": (
        "GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i HEAD; "
        "printf 'commondir\\n%040d\\n%s\\n' 0 $(git rev-parse HEAD) > .git/rebase-merge/update-refs",
        "git rebase --continue"),
}


@pytest.fixture
def repository(as_user, project):
    commit_first(as_user, project)
    return project


def outside(person, directory, script):
    as_person(person, ["sh", "-c", PERSON + script], directory)


def follows_any_name():
    """Newer versions of git look at what a symbolic reference says."""
    version = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(one) for one in re.findall(r"\d+", version)[:2]) < (2, 45)


@pytest.mark.parametrize("way", WAYS)
def test_of_common_directory(hutch, repository, as_user, backend, way):
    inside, trigger = WAYS[way]
    hutch.sh(PERSON + TRAP + inside)
    outside(as_user, repository, trigger + "; " + NEXT)
    if backend == "none" and not follows_any_name():
        pytest.skip("this git follows no such reference")
    assert (repository / "PWNED").exists() == (backend == "none")


def test_it_is_said(hutch, repository, backend):
    told = hutch.sh("echo 'ref: commondir' > .git/ORIG_HEAD").errors
    assert ("ORIG_HEAD, which the command wrote, has git write commondir" in told) == (backend != "none"), told


def test_ordinary_symbolic_references_stay(hutch, repository, as_user, backend):
    """A clone has one, git-symbolic-ref(1) makes others, and the person's older ones are not looked at."""
    outside(as_user, repository, "mkdir .git/refs/old; echo 'ref: strange' > .git/refs/old/mine; sleep 0.1")
    result = hutch.sh(PERSON + "git symbolic-ref refs/heads/alias refs/heads/main; git symbolic-ref MY_HEAD HEAD; "
                      "git clone -q . n; git -C n symbolic-ref refs/remotes/origin/HEAD").ok()
    assert "as if it were a reference" not in result.errors, result.errors
    for name in ("refs/heads/alias", "refs/old/mine", "MY_HEAD"):
        assert (repository / ".git" / name).exists(), name


@pytest.mark.parametrize("where", [".git", "bare.git", ".git/worktrees/w"])
def test_a_directory_of_an_objects_name(hutch, repository, as_user, backend, where):
    """What the person does meanwhile could already lead there."""
    outside(as_user, repository, "git init -q --bare bare.git; git worktree add -q ../w-$$ -b w 2>/dev/null; "
                                 "mv .git/worktrees/w-* .git/worktrees/w")
    name = "0123456789" * 4
    hutch.sh(f"mkdir {where}/{name}; mkdir n; mv n {where}/{name[::-1]}")
    made = [one for one in (name, name[::-1]) if (repository / where / one).exists()]
    assert bool(made) == (backend == "none"), made
