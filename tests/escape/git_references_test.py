# Symbolic references by which the person's git would write another file of the repository than a reference.
"""A sandbox writes "ref: commondir" where git resets or moves a reference. git then writes a commit's name into
commondir, and takes hooks and configuration from the directory of that name."""

import pathlib
import re
import subprocess
import sys
import time

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
    "with more blanks than anybody reads": (
        "(printf 'ref: commondir'; head -c 70000 /dev/zero | tr '\\0' ' ') > .git/refs/heads/feature",
        "git branch -f feature HEAD"),
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


NAME = "git config user.name 'a; touch PWNED #'; "
AWAY = "refs/heads/../../.."
# The same for other files: what the sandbox does, what the person does then, and the file that git writes.
WRITES = {
    "HEAD, out of the project": (f"echo \"ref: {AWAY}/../$OUT\" > .git/HEAD", "git commit -q -m x", "../OUT"),
    "HEAD without a blank": (f"echo \"ref:{AWAY}/../$OUT\" > .git/HEAD", "git commit -q -m x", "../OUT"),
    "HEAD, commondir": ("echo 'ref: refs/heads/../../commondir' > .git/HEAD", "git commit -q -m x", ".git/commondir"),
    "HEAD by a merge": (f"echo \"ref: {AWAY}/../$OUT\" > .git/HEAD", "git merge -q main", "../OUT"),
    "HEAD of a worktree": (f"echo \"ref: {AWAY}/../$OUT\" > .git/worktrees/w/HEAD",
                           "cd w; git commit -q -m x --allow-empty", "../OUT"),
    "a message": ("echo \"ref: ../../$OUT\" > .git/TAG_EDITMSG; echo 'ref: TAG_EDITMSG' > .git/ORIG_HEAD",
                  "git reset -q --hard HEAD", "../OUT"),
    "a chain by a name that is none": (
        "echo 'ref: refs/heads/x' > .git/HEAD; echo 'ref: A:MSG' > .git/refs/heads/x; "
        f"echo \"ref: {AWAY}/../$OUT\" > .git/A:MSG", "git commit -q -m x", "../OUT"),
    "a chain by another directory": (
        "echo 'ref: refs/heads/x' > .git/HEAD; mkdir '.git/a b'; echo 'ref: a b/x' > .git/refs/heads/x; "
        f"echo \"ref: {AWAY}/../$OUT\" > '.git/a b/x'", "git commit -q -m x", "../OUT"),
    "a chain by what is a blank elsewhere": (
        "v=$(printf '\\v'); mkdir .git/${v}refs; echo 'ref: refs/heads/x' > .git/HEAD; "
        f"echo \"ref: ${{v}}refs/x\" > .git/refs/heads/x; echo \"ref: {AWAY}/../$OUT\" > .git/${{v}}refs/x",
        "git commit -q -m x", "../OUT"),
    "a chain in deep directories": (
        "d=$(printf 'd/%.0s' $(seq 40)); mkdir -p .git/refs/heads/$d; echo \"ref: refs/heads/${d}x\" > .git/HEAD; "
        f"echo \"ref: {AWAY}/../$OUT\" > .git/refs/heads/${{d}}x", "git commit -q -m x", "../OUT"),
    "a message as a branch": ("echo 'ref: commondir' > .git/EDIT_DESCRIPTION; "
                              "echo 'ref: EDIT_DESCRIPTION' > .git/refs/heads/feature",
                              "git branch -f feature HEAD", ".git/commondir"),
    "a name that ends early": ("printf 'ref: commondir\\0 x\\n' > .git/refs/heads/feature",
                               "git branch -f feature HEAD", ".git/commondir"),
}
# By the list of a reference's earlier values, to which git appends the person's name.
APPENDS = {
    "a hook": (NAME + f"echo 'ref: {AWAY}/hooks/post-commit' > .git/HEAD", ".git/hooks/post-commit"),
    "a file of the home": (NAME + "mkdir -p a/b/c/d/e .git/L; ln -s a/b/c/d/e L; "
                           f"echo \"ref: {AWAY}/L/../../../$OUT\" > .git/HEAD", "../OUT"),
}


@pytest.mark.parametrize("way", WRITES)
def test_of_another_file(hutch, repository, as_user, backend, way):
    inside, trigger, file = WRITES[way]
    outside(as_user, repository, "git worktree add -q w")
    out = f"out-of-{repository.name}"
    file = file.replace("OUT", out)
    hutch.sh(f"OUT={out}; {PERSON}{inside}")
    outside(as_user, repository, f"{trigger} || true")
    if backend == "none" and not follows_any_name():
        pytest.skip("this git follows no such reference")
    assert (repository / file).exists() == (backend == "none")


@pytest.mark.parametrize("way", APPENDS)
def test_of_lines_in_another_file(hutch, repository, as_user, backend, way):
    inside, file = APPENDS[way]
    out = f"out-of-{repository.name}"
    file = file.replace("OUT", out)
    text = "#!/bin/sh\ntrue\n"
    as_user.write(repository / file, text, mode=0o755)
    hutch.sh(f"OUT={out}; {PERSON}{inside}")
    outside(as_user, repository, "unset GIT_COMMITTER_NAME; git commit -q --allow-empty -m x || true")
    if backend == "none" and not follows_any_name():
        pytest.skip("this git follows no such reference")
    assert ((repository / file).read_text() == text) == (backend != "none")


IN_COMMON = {
    "of the main work tree": ('echo "ref: $A/../$OUT" > $C/refs/heads/main', "."),
    "of the linked one": ('echo "ref: $A/../$OUT" > $C/refs/heads/x; git symbolic-ref HEAD refs/heads/x', "../linked"),
}


@pytest.mark.parametrize("way", IN_COMMON)
def test_of_a_repository_that_comes_along(hutch, repository, as_user, backend, way):
    inside, place = IN_COMMON[way]
    linked = repository.parent / f"{repository.name}-linked"
    outside(as_user, repository, f"git worktree add -q {linked}")
    out = f"out-of-{repository.name}"
    hutch.sh(f"OUT={out}; A={AWAY}; C=$(git rev-parse --git-common-dir); {inside}", cwd=linked)
    outside(as_user, linked if place != "." else repository, "git commit -q --allow-empty -m x || true")
    if backend == "none" and not follows_any_name():
        pytest.skip("this git follows no such reference")
    assert (repository.parent / out).exists() == (backend == "none")


def test_what_is_left_of_many(hutch, repository, as_user, backend):
    """Their names are the same, and the moment is, so that they collide in the quarantine."""
    out = f"out-of-{repository.name}"
    hutch.sh("for i in $(seq 80); do mkdir .git/refs/heads/d$i; "
             f"echo 'ref: {AWAY}/../{out}' > .git/refs/heads/d$i/q; done")
    hutch.sh("f=$(cd .git; ls -d refs/heads/d*/*q* | head -1); echo \"ref: $f\" > .git/HEAD")
    outside(as_user, repository, "git commit -q --allow-empty -m x || true")
    if backend == "none" and not follows_any_name():
        pytest.skip("this git follows no such reference")
    assert (repository.parent / out).exists() == (backend == "none")


# A bare repository of the sandbox's: its parts, and a trap in a directory of the name that git will write.
BARE = """
s=$(git rev-parse HEAD); mkdir -p {0}; cp -r .git/objects .git/refs {0}; mkdir -p {0}/$s/hooks
cp -r .git/objects .git/refs {0}/$s/; printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = true\\n' > {0}/config
printf '#!/bin/sh\\ntouch "$TRIP"\\n' > {0}/$s/hooks/reference-transaction; chmod +x {0}/$s/hooks/reference-transaction
printf '[core]\\n\\trepositoryformatversion = 0\\n' > {0}/$s/config; echo 'ref: commondir' > {0}/refs/heads/feature
"""
HEAD = "echo 'ref: refs/heads/main' > {0}/HEAD"


@pytest.mark.parametrize("place", ["n.git", "."])
@pytest.mark.parametrize("runs", [1, 2])
def test_of_a_repository_that_the_sandbox_makes(hutch, repository, as_user, backend, place, runs):
    if runs == 1:
        hutch.sh((BARE + HEAD).format(place))
    else:
        hutch.sh(BARE.format(place))
        time.sleep(0.3)
        hutch.sh(HEAD.format(place))
    broken = "rm -f .git/HEAD; " if place == "." else ""
    outside(as_user, repository, f"export TRIP={repository}/PWNED; {broken} cd {place}; git branch -f feature main; "
                                 "git branch -f other main; git branch -f more main; true")
    if backend == "none" and not follows_any_name():
        pytest.skip("this git follows no such reference")
    assert (repository / "PWNED").exists() == (backend == "none")


def test_of_a_remote_in_a_repository_of_the_sandboxs(hutch, repository, as_user, backend):
    """git-push(1) notes what it has sent where the refspec says."""
    hutch.sh("git clone -q . n; cd n; git config --replace-all remote.origin.fetch refs/heads/main:commondir")
    outside(as_user, repository, "git -C n push -q origin main:x || true")
    assert not (repository / "n/.git/commondir").exists()


def test_of_a_rebase_that_the_person_began(hutch, repository, as_user, backend):
    """Its own commands are the person's, and another step is not."""
    outside(as_user, repository, "git commit -q --allow-empty -m 2; GIT_SEQUENCE_EDITOR='echo break >' "
                                 "git rebase -q -i -x true HEAD~1 || true")
    hutch.sh("printf 'exec true\nupdate-ref commondir\n' >> .git/rebase-merge/git-rebase-todo")
    outside(as_user, repository, "git rebase --edit-todo; git rebase --continue || true")
    assert (repository / ".git/commondir").exists() == (backend == "none" and follows_any_name())


def test_messages_that_begin_like_one(hutch, repository, as_user, backend):
    outside(as_user, repository, "echo 'ref: split' > .git/EDIT_DESCRIPTION; echo 'ref: merge' > .git/MERGE_MSG")
    result = hutch.sh(PERSON + "echo y > y; git add y; git commit -qm 'ref: cleanup'; "
                      "echo 'ref: use the new parser' > .git/SQUASH_MSG").ok()
    assert "as if it were a reference" not in result.errors, result.errors
    for name in ("COMMIT_EDITMSG", "EDIT_DESCRIPTION", "SQUASH_MSG"):
        assert (repository / ".git" / name).exists(), name


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
