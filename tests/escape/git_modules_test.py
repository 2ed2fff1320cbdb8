# A repository below ".git/modules" that something hides, and findings that resist being moved aside.
"""Each case bites where nothing protects, and nowhere else."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
from git_ways import as_person, commit_first  # noqa: E402

STEPS = "rebase-merge/git-rebase-todo"
PREPARE = (
    "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.example GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.example; "
    f"todo() {{ mkdir -p $1/rebase-merge; echo 'exec ./evil' > $1/{STEPS}; }}; "
    # NAME: a repository of that name, and its work tree.
    "module() { mkdir -p $(dirname .git/modules/$1); git init -q --separate-git-dir .git/modules/$1 s; "
    "git -C s commit -q --allow-empty -m s; }; ")
DECOY = "mkdir -p .git/modules/a; echo x > .git/modules/a/HEAD; "

# What hides the repository, and its name.
HIDDEN = {
    "by slashes in its name": ("", "third/lib"),
    "beside a name of git's": (DECOY, "a/b"),
    "below such a name": (DECOY + "mkdir .git/modules/a/x; echo x > .git/modules/a/x/HEAD; ", "a/x/b"),
    "in a repository": ("git init -q --bare .git/modules/a; ", "a/b"),
    "below another directory of it": ("git init -q --bare .git/modules/a; ", "a/info/x/y"),
    "as its modules": (DECOY, "a/modules"),
    "with the name of its references": (DECOY, "a/refs"),
    "in a repository of a name with slashes": ("mkdir .git/modules; git init -q --bare .git/modules/1/2/3/4; ",
                                               "1/2/3/4/5"),
}


@pytest.fixture
def repository(as_user, project):
    return commit_first(as_user, project)


@pytest.mark.parametrize("way", HIDDEN)
def test_an_operation_in_a_repository_that_an_earlier_sandbox_hid(hutch, repository, backend, way):
    decoy, name = HIDDEN[way]
    hutch.run("sh", "-ec", PREPARE + decoy + f"module {name}").ok()
    result = hutch.run("sh", "-ec", PREPARE + f"todo .git/modules/{name}").ok()
    assert (repository / ".git/modules" / name / STEPS).exists() == (backend == "none"), str(result)


def test_no_git_file_leads_where_no_search_looks(hutch, repository, backend):
    """Nor anything that a search would have to find there."""
    hutch.run("sh", "-c", PREPARE + DECOY + "module a/refs/b; true").ok()
    assert (repository / "s/.git").exists() == (backend == "none")


# Where no supervisor knows the names, the search at the start has to find what may not be written.
@pytest.mark.parametrize("name", ["lib/one", "lib/refs"])
def test_the_configuration_of_a_submodule_that_a_sandbox_hid(hutch, repository, as_user, backend, name):
    config = repository / ".git/modules" / name / "config"
    as_person(as_user, ["sh", "-ec", PREPARE + f"module {name}"], repository)
    before = config.read_text(encoding="utf-8")
    hutch.sh("echo x > .git/modules/lib/HEAD").ok()
    hutch.sh(f"printf '[core]\\n\\tfsmonitor = ./evil\\n' >> .git/modules/{name}/config; true").ok()
    assert (config.read_text(encoding="utf-8") == before) == (backend != "none")


# The second sandbox changes nothing in the repository: its work tree leads to the person's hooks since.
@pytest.mark.parametrize("name", ["b", "a/b"])
def test_the_work_tree_of_one_that_a_sandbox_hid(hutch, repository, backend, name):
    git = f".git/modules/{name}"
    up = "../" * (name.count("/") + 3)
    hutch.sh(f"{DECOY} git init -q --bare {git}; git config -f {git}/config core.bare false; "
             f"git config -f {git}/config core.worktree {up}hk; mkdir s; echo gitdir: ../{git} > s/.git").ok()
    hutch.sh("ln -s .git/hooks hk").ok()
    assert (repository / "hk").is_symlink() == (backend == "none")


@pytest.mark.parametrize("mode", ["555", "755"])
def test_a_directory_that_is_closed_for_writing_keeps_nothing(hutch, repository, backend, mode):
    result = hutch.sh(f"mkdir -p .git/rebase-merge; echo exec evil > .git/{STEPS}; chmod {mode} .git").ok()
    assert (repository / ".git").stat().st_mode & 0o777 == int(mode, 8)
    assert (repository / ".git" / STEPS).exists() == (backend == "none"), str(result)
    (repository / ".git").chmod(0o755)


def test_a_name_that_leaves_no_room_for_more_keeps_nothing(hutch, repository, backend):
    link = repository / ".git" / ("a" * 255)
    hutch.sh(f"ln -s /etc/passwd .git/{link.name}; true").ok()
    assert link.is_symlink() == (backend == "none")


def worktree_repair(person, repository):
    as_person(person, ["git", "worktree", "repair"], repository, ok=False)


@pytest.mark.parametrize("commands", [
    ["git worktree add -q w; mv w w2; ln -s OUTSIDE w"],
    ["git worktree add -q w", "mv w w2; ln -s OUTSIDE w"],
    ["mkdir d; git worktree add -q d/w", "mv d d2; ln -s OUTSIDE d"],
    ["git worktree add -q w; rm w/.git; printf '%s \\n' $PWD/w/.git > .git/worktrees/w/gitdir; "
     "mv w w2; ln -s OUTSIDE w"],
    ["git worktree add -q w; echo $PWD/w > .git/worktrees/w/gitdir; mv w w2; ln -s OUTSIDE w"],
], ids=["at once", "by a later sandbox", "further up", "with white space", "by another path"])
def test_repair_of_a_worktree_writes_through_no_link(hutch, repository, as_user, backend, commands):
    outside = as_user.mkdir(repository.parent / f"{repository.name}-outside")
    as_user.mkdir(outside / "w")
    for command in commands:
        hutch.sh("set -e; " + command.replace("OUTSIDE", str(outside))).ok()
    worktree_repair(as_user, repository)
    written = [name for name in (".git", "w/.git") if (outside / name).exists()]
    assert bool(written) == (backend == "none"), written


def test_the_persons_own_link_to_a_worktree_stays(hutch, repository, as_user, backend):
    elsewhere = repository.parent / f"{repository.name}-elsewhere"
    as_person(as_user, ["sh", "-ec", f"git worktree add -q w; mv w {elsewhere}; ln -s {elsewhere} w"], repository)
    assert "gitdir" not in hutch.sh("echo more > more; git status > /dev/null").ok().errors
    assert (repository / ".git/worktrees/w/gitdir").exists()


def test_a_link_of_the_persons_that_a_sandbox_turned(hutch, repository, as_user, backend):
    """The text names the same path, which led out of the project before."""
    elsewhere = repository.parent / f"{repository.name}-elsewhere"
    outside = as_user.mkdir(repository.parent / f"{repository.name}-outside")
    as_person(as_user, ["sh", "-ec", f"git worktree add -q w; mv w {elsewhere}; ln -s {elsewhere} w"], repository)
    hutch.sh(f"ln -sfn {outside} w").ok()
    worktree_repair(as_user, repository)
    assert (outside / ".git").exists() == (backend == "none")


def test_a_link_within_the_project_to_a_worktree_stays(hutch, repository, backend):
    hutch.sh("git worktree add -q w; mv w w2; ln -s w2 w").ok()
    assert (repository / ".git/worktrees/w/gitdir").exists()
