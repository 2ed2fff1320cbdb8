# What a sandbox left in repositories that lie deeper than hutch searches.
"""A sandbox chooses how deep it works. Each case bites where nothing protects, and nowhere else."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
from git_ways import as_person, commit_first  # noqa: E402

DEEP = "a/b/c/d/e"
STEPS = "git-rebase-todo"
# It is given the directory of a repository.
PREPARE = (
    "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.example GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.example; "
    f"todo() {{ mkdir -p $1; echo 'exec ./evil' > $1/{STEPS}; }}; ")
EXCHANGE = ("exchange() { python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).renameat2("
            "-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2) != 0)' $1 $2; }; ")

# What the sandbox does, and where the operation lies at the end.
WAYS = {
    "in one of its own": (f"git init -q {DEEP}/r; todo {DEEP}/r/.git/rebase-merge", f"{DEEP}/r/.git/rebase-merge"),
    "in one of the person's": (f"todo {DEEP}/theirs/.git/rebase-merge", f"{DEEP}/theirs/.git/rebase-merge"),
    "by git apply": (f"todo {DEEP}/theirs/.git/rebase-apply", f"{DEEP}/theirs/.git/rebase-apply"),
    "prepared elsewhere, then moved in": (
        f"todo prepared; mv prepared {DEEP}/theirs/.git/rebase-merge", f"{DEEP}/theirs/.git/rebase-merge"),
    "linked": (
        f"echo 'exec ./evil' > f; mkdir {DEEP}/theirs/.git/rebase-merge; ln f {DEEP}/theirs/.git/rebase-merge/{STEPS}",
        f"{DEEP}/theirs/.git/rebase-merge"),
    "in one that is moved down": (
        f"git init -q r; todo r/.git/rebase-merge; mv r {DEEP}/moved", f"{DEEP}/moved/.git/rebase-merge"),
    "below a directory that is moved": (
        f"git init -q {DEEP}/r; todo {DEEP}/r/.git/rebase-merge; mv a/b/c/d/e a/b/c/d/other; mv a/b/c/d a/b/c/x",
        "a/b/c/x/other/r/.git/rebase-merge"),
    "below a directory that is exchanged": (
        EXCHANGE + f"mkdir -p empty {DEEP}/one/two; git init -q {DEEP}/one/two/r; "
        f"todo {DEEP}/one/two/r/.git/rebase-merge; exchange empty {DEEP}/one", "empty/two/r/.git/rebase-merge"),
    "in a copy": (
        f"git init -q r; todo r/.git/rebase-merge; cp -r r {DEEP}/copy; rm -r r", f"{DEEP}/copy/.git/rebase-merge"),
    "in a submodule's": (
        f"cd {DEEP}; git init -q r; mkdir r/.git/modules; git init -q --separate-git-dir r/.git/modules/m r/s; "
        "todo r/.git/modules/m/rebase-merge", f"{DEEP}/r/.git/modules/m/rebase-merge"),
    "in a linked worktree's": (
        f"cd {DEEP}; git init -q r; git -C r commit -q --allow-empty -m x; git -C r worktree add -q ../own; "
        "todo r/.git/worktrees/own/rebase-merge", f"{DEEP}/r/.git/worktrees/own/rebase-merge"),
    "in a worktree of the person's bare one": (
        f"todo {DEEP}/store/worktrees/w/rebase-merge", f"{DEEP}/store/worktrees/w/rebase-merge"),
    "in such a worktree, moved with what is above": (
        f"cd {DEEP}; todo store/worktrees/w/prepared; mv store/worktrees/w/prepared store/worktrees/w/rebase-merge",
        f"{DEEP}/store/worktrees/w/rebase-merge"),
    "by a second command": (
        f"todo {DEEP}/theirs/.git/kept; mkdir {DEEP}/theirs/.git/x; "
        f"mv {DEEP}/theirs/.git/kept {DEEP}/theirs/.git/rebase-merge", f"{DEEP}/theirs/.git/rebase-merge"),
}


@pytest.fixture
def repository(as_user, project):
    """With a repository of the person's, and a bare one that has a worktree, deeper than the search."""
    commit_first(as_user, project)
    script = (f"{PREPARE} mkdir -p {DEEP}; cd {DEEP}; git init -q theirs; git -C theirs commit -q --allow-empty -m x; "
              "git clone -q --bare theirs store; git -C store worktree add -q ../w")
    as_person(as_user, ["sh", "-ec", script], project)
    return project


def is_prepared(repository, where):
    return (repository / where / STEPS).exists()


@pytest.mark.parametrize("way", WAYS)
def test_a_prepared_operation(hutch, repository, backend, way):
    script, where = WAYS[way]
    result = hutch.run("sh", "-ec", PREPARE + script).ok()
    assert is_prepared(repository, where) == (backend == "none"), str(result)


@pytest.mark.parametrize("inside", ["git add file", "git commit -q --allow-empty -m more", "git status",
                                    "mkdir .git/rebase-merge/more", "echo 'exec ./theirs' > .git/MERGE_MSG"])
def test_the_persons_own_operation_stays(hutch, repository, as_user, backend, inside):
    theirs = repository / DEEP / "theirs"
    as_person(as_user, ["sh", "-ec", PREPARE + "todo .git/rebase-merge; touch file"], theirs)
    hutch.run("sh", "-ec", PREPARE + f"cd {DEEP}/theirs; {inside}").ok()
    assert is_prepared(theirs, ".git/rebase-merge")


OWN_NAMES = ["src/pages/index/page", "lib/sequencer/todo", "gen/gitdir", "gen/MERGE_RR", "a/rebase-merge/x", "x/HEAD",
             "x/objects/y"]


def test_ordinary_files_with_such_names_stay(hutch, repository, backend):
    """Also a link below one of these directories."""
    made = [f"mkdir -p {name.rpartition('/')[0]}; echo text > {name}" for name in OWN_NAMES]
    links = ["mkdir -p node_modules/index node_modules/.bin", "ln -s ../index node_modules/.bin/x"]
    hutch.run("sh", "-ec", "; ".join(made + links)).ok()
    assert [name for name in OWN_NAMES if not (repository / name).exists()] == []
    assert (repository / "node_modules/.bin/x").is_symlink()


def test_the_persons_own_operation_moves_along(hutch, repository, as_user, backend):
    theirs = repository / DEEP / "theirs"
    as_person(as_user, ["sh", "-ec", PREPARE + "todo .git/rebase-merge; touch file"], theirs)
    hutch.run("sh", "-ec", PREPARE + f"cd {DEEP}/theirs; git add file; cd ..; mv theirs other; cd ..; mv e f").ok()
    assert is_prepared(repository, "a/b/c/d/f/other/.git/rebase-merge")


# What lies there before is no operation, and a later command makes it one.
def test_of_a_directory_that_becomes_a_repository_later(hutch, repository, backend):
    at = f"{DEEP}/later"
    hutch.run("sh", "-ec", PREPARE + f"todo {at}/rebase-merge; mkdir {at}/objects {at}/refs").ok()
    hutch.run("sh", "-ec", f"cd {at}; echo ref: refs/heads/main > HEAD").ok()
    assert is_prepared(repository, f"{at}/rebase-merge") == (backend == "none")


def test_what_it_closed_is_told(hutch, repository, as_user, backend):
    if backend == "none" or as_user.uid == 0:
        pytest.skip("nobody looks there, or everybody may")
    result = hutch.run("sh", "-ec", PREPARE + f"git init -q {DEEP}/r; todo {DEEP}/r/.git/rebase-merge; chmod 0 {DEEP}")
    assert "not all repositories were searched" in result.ok().errors
    (repository / DEEP).chmod(0o755)


# Each is one that the supervisor has to tell of, and more than it remembers.
def test_of_too_many_one_is_told(hutch, repository, backend):
    if backend == "none":
        pytest.skip("nobody looks there")
    result = hutch.run("sh", "-ec", f"cd {DEEP}; for i in $(seq 1100); do mkdir $i; touch $i/index; done").ok()
    assert "not all repositories were searched" in result.errors


# What the first sandbox does is harmless by itself, and the second one's change names no repository.
THEIRS = f"{DEEP}/theirs"
TWO = {
    "a link to the steps, written through": (
        f"echo 'pick HEAD' > f; mkdir {THEIRS}/.git/rebase-merge; ln f {THEIRS}/.git/rebase-merge/{STEPS}",
        "echo 'exec ./evil' > f"),
    "in one that moved meanwhile": (
        f"echo 'pick HEAD' > f; mkdir {THEIRS}/.git/rebase-merge; ln f {THEIRS}/.git/rebase-merge/{STEPS}; "
        f"mv a/b/c/d a/b/c/x; mv a/b/c/x a/b/c/d", "echo 'exec ./evil' > f"),
    "in one that the second one moves": (
        f"echo 'pick HEAD' > f; mkdir {THEIRS}/.git/rebase-merge; ln f {THEIRS}/.git/rebase-merge/{STEPS}",
        "mv a/b/c a/b/x; echo 'exec ./evil' > f"),
}


@pytest.mark.parametrize("way", TWO)
def test_what_two_sandboxes_do_together(hutch, repository, backend, way):
    first, second = TWO[way]
    for script in (first, second):
        hutch.run("sh", "-ec", PREPARE + script).ok()
    (steps,) = [*repository.glob(f"a/b/*/d/e/theirs/.git/rebase-merge/{STEPS}")] or [repository / "none"]
    assert (steps.exists() and "evil" in steps.read_text()) == (backend == "none")


def test_the_persons_own_operation_stays_with_two(hutch, repository, as_user, backend):
    """In a repository that a sandbox has worked in, and that no later one changes."""
    hutch.run("sh", "-ec", PREPARE + f"cd {THEIRS}; touch file; git add file").ok()
    as_person(as_user, ["sh", "-ec", PREPARE + "todo .git/rebase-merge"], repository / THEIRS)
    for script in ("touch x", "mv a/b/c a/b/x; touch a/b/x/y; mv a/b/x a/b/c"):
        hutch.run("sh", "-ec", script).ok()
        assert is_prepared(repository, f"{THEIRS}/.git/rebase-merge")


def test_a_link_to_the_hooks_comes_second(hutch, repository, as_user, backend):
    """A module's work tree is not there, until it is a link to the hooks."""
    module = (f"cd {THEIRS}; m=.git/modules/b; git init -q --bare $m; mkdir w s; echo ./evil > w/pre-commit; "
              "(export GIT_DIR=$PWD/$m GIT_WORK_TREE=$PWD/w; cd w; git add .; git commit -qm e); rm -r w; "
              "git config -f $m/config core.bare false; git config -f $m/config core.worktree ../../../hk; "
              "echo gitdir: ../$m > s/.git")
    hutch.run("sh", "-ec", PREPARE + module).ok()
    hutch.run("sh", "-ec", f"ln -s .git/hooks {THEIRS}/hk").ok()
    as_person(as_user, ["sh", "-c", "git restore . || true"], repository / THEIRS / "s")
    assert (repository / THEIRS / ".git/hooks/pre-commit").exists() == (backend == "none")


def test_a_file_of_a_conflict_becomes_a_link(hutch, repository, as_user, backend):
    as_person(as_user, ["sh", "-ec", PREPARE + "echo a > f; git add f; git commit -qm f"], repository / THEIRS)
    hutch.run("sh", "-ec", f"cd {THEIRS}/.git; n=$(printf %040d 1); mkdir -p rr-cache/$n; "
                           "echo x > rr-cache/$n/preimage; printf '%s\\tf\\0' $n > MERGE_RR").ok()
    hutch.run("sh", "-ec", f"cd {THEIRS}; rm f; ln -s /etc/passwd f").ok()
    assert (repository / THEIRS / ".git/MERGE_RR").exists() == (backend == "none")


# The directory around it counts as one in which a change is made as well, because of the name of the file.
@pytest.mark.parametrize("change", ["mv .git/HEAD HEAD", "touch HEAD", "touch index", "mkdir rebase-merge"])
def test_a_link_that_was_made_before_is_no_persons(hutch, repository, backend, change):
    script = f"mkdir -p {DEEP}/new/.git/logs; cd {DEEP}/new; ln -s /nowhere t; mv t .git/logs/HEAD; {change} || true"
    hutch.run("sh", "-c", script)
    assert (repository / DEEP / "new/.git/logs/HEAD").is_symlink() == (backend == "none")


PARTS = {"below one that is made": "cd a; git init -q --bare .",
         "with a part that is moved and comes back": f"cd {THEIRS}/.git; mv refs r; mv r refs",
         "with a part that is made anew": f"cd {THEIRS}/.git; mv refs r; mkdir refs; rmdir refs; mv r refs"}


@pytest.mark.parametrize("way", PARTS)
def test_the_persons_own_operation_stays_where_parts_move(hutch, repository, as_user, backend, way):
    as_person(as_user, ["sh", "-ec", PREPARE + "todo .git/rebase-merge"], repository / THEIRS)
    as_person(as_user, ["sh", "-ec", PREPARE + "git init -q a/shallow; todo a/shallow/.git/rebase-merge"], repository)
    hutch.run("sh", "-c", PREPARE + PARTS[way])
    assert is_prepared(repository, f"{THEIRS}/.git/rebase-merge")
    assert is_prepared(repository, "a/shallow/.git/rebase-merge")
