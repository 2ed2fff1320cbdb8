# What one sandbox begins in a repository of git, and another one completes.
"""Each case bites where nothing protects, and nowhere else; and what is the person's stays."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
from git_ways import as_person, commit_first  # noqa: E402

DEEP = "a/b/c/d/e"
THEIRS = f"{DEEP}/theirs"
STEPS = "rebase-merge/git-rebase-todo"
PERSON = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.example GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.example; "


@pytest.fixture
def repository(as_user, project):
    """With a repository of the person's deeper than the search."""
    commit_first(as_user, project)
    outside(as_user, project, f"mkdir -p {DEEP}; cd {DEEP}; git init -q theirs; cd theirs; echo a > f; git add f; "
                              "git commit -qm f")
    return project


def outside(person, directory, script):
    as_person(person, ["sh", "-ec", PERSON + script], directory)


@pytest.mark.parametrize("name", ["FETCH_HEAD", "logs", "gc.log", "ADD_EDIT.patch", "rebased-patches", "lost-found"])
def test_a_link_in_what_becomes_a_repository(hutch, repository, backend, name):
    hutch.sh(f"mkdir data; ln -s /nowhere data/{name}").ok()
    hutch.sh("git init -q --bare data")
    assert (repository / "data" / name).is_symlink() == (backend == "none")


def test_other_links_there_stay(hutch, repository, as_user, backend):
    outside(as_user, repository, "mkdir -p data/.bin; ln -s ../x data/.bin/x; ln -s x data/current")
    hutch.sh("git init -q --bare data").ok()
    assert (repository / "data/.bin/x").is_symlink() and (repository / "data/current").is_symlink()


CONFLICT = "n=$(printf %040d 1); mkdir -p .git/rr-cache/$n; echo x > .git/rr-cache/$n/preimage; "
LIST = "printf '%s\\t%s\\0' $n gone $n.1 f > .git/MERGE_RR"


def test_one_that_a_search_from_further_down_found(hutch, repository, backend):
    """The first sandbox began there, and the second one's search does not go so deep."""
    hutch.sh(f"cd theirs; {CONFLICT} printf '%s\\tf\\0' $n > .git/MERGE_RR", cwd=repository / DEEP).ok()
    assert (repository / THEIRS / ".git/MERGE_RR").exists()
    hutch.sh(f"cd {THEIRS}; rm f; ln -s /etc/passwd f").ok()
    assert (repository / THEIRS / ".git/MERGE_RR").exists() == (backend == "none")


@pytest.mark.parametrize("place", [".", THEIRS])
def test_a_name_that_was_gone_excuses_no_other(hutch, repository, as_user, backend, place):
    """The person's list of conflicts has both."""
    outside(as_user, repository / place, "echo b > f; git add f; " + CONFLICT + LIST)
    hutch.sh(f"cd {place}; touch x; git add x").ok()
    assert (repository / place / ".git/MERGE_RR").exists(), "it is the person's"
    hutch.sh(f"cd {place}; rm f; ln -s /etc/passwd f").ok()
    assert (repository / place / ".git/MERGE_RR").exists() == (backend == "none")


@pytest.mark.parametrize("tree", ["../../../s", "$PWD/s"])
def test_what_is_the_persons_moves_along(hutch, repository, as_user, backend, tree):
    """A list of conflicts, and a submodule with a link for its work tree."""
    outside(as_user, repository / THEIRS,
            CONFLICT + LIST + "; git init -q --bare .git/modules/s; "
            "git config -f .git/modules/s/config core.bare false; "
            f"git config -f .git/modules/s/config core.worktree {tree}; mkdir ../real; ln -s ../real s; "
            "echo gitdir: ../theirs/.git/modules/s > ../real/.git")
    hutch.sh(f"cd {DEEP}; touch theirs/x; git -C theirs add x; mv theirs other; git -C other status").ok()
    other = repository / DEEP / "other/.git"
    assert (other / "MERGE_RR").exists() and (other / "modules/s/config").exists()


def test_no_line_of_a_move_that_was_seen(hutch, repository, backend):
    result = hutch.sh(f"cd {DEEP}; touch theirs/x; git -C theirs add x; mv theirs other; git -C other status").ok()
    assert "not all repositories" not in result.errors
    assert "not all repositories" not in hutch.sh(f"mv {DEEP} a/b/c/d/f; touch y").ok().errors


def test_what_another_sandbox_moves_is_told(hutch, repository, backend):
    """It began before the first one worked there, and does not know it."""
    if backend == "none":
        pytest.skip("nobody looks there")
    script = f"touch went; while [ ! -e came ]; do sleep 0.05; done; mv {THEIRS} {DEEP}/other"
    with hutch.popen("sh", "-c", script) as one:
        while not (repository / "went").exists():
            assert one.poll() is None
        hutch.sh(f"cd {THEIRS}; touch x; git add x; touch {repository}/came").ok()
        assert b"not all repositories were searched" in one.communicate(timeout=60)[1]


@pytest.mark.parametrize("change", ["rm w/.git", "mv w v", "echo gitdir: ../.git/worktrees/ev > w/.git"])
def test_the_persons_own_link_gets_no_mark(hutch, repository, as_user, backend, change):
    """By which the next sandbox would take it for a sandbox's."""
    if backend == "none":
        pytest.skip("nothing is held there")
    outside(as_user, repository, "git worktree add -q w")
    before = (repository / "w/.git").read_bytes()
    hutch.sh("mkdir .git/worktrees/ev; echo $PWD/w/.git > .git/worktrees/ev/gitdir; "
             "cp .git/HEAD .git/worktrees/ev/; echo ../.. > .git/worktrees/ev/commondir").ok()
    assert hutch.sh(change).code != 0
    assert (repository / "w/.git").read_bytes() == before


def test_one_that_the_person_makes_anew_meanwhile(hutch, repository, as_user, backend):
    """An earlier sandbox worked in the one before it, so that the supervisor tells of no first change."""
    hutch.sh(f"cd {THEIRS}; touch x; git add x").ok()
    script = (f"while [ ! -e came ]; do sleep 0.05; done; mkdir {THEIRS}/.git/rebase-merge; "
              f"echo 'exec ./evil' > {THEIRS}/.git/{STEPS}")
    with hutch.popen("sh", "-ec", script) as one:
        outside(as_user, repository, f"sleep 0.5; mv {THEIRS} old; git init -q {THEIRS}; touch came")
        assert one.wait(timeout=60) == 0
    assert (repository / THEIRS / ".git" / STEPS).exists() == (backend == "none")


def test_a_link_in_one_that_only_a_directory_completes(hutch, repository, as_user, backend):
    """git keeps no empty directory: a bare repository in a commit comes without "refs"."""
    outside(as_user, repository, "git init -q --bare bare; rm -r bare/hooks bare/refs")
    hutch.sh("ln -s /nowhere bare/FETCH_HEAD; mkdir bare/refs").ok()
    assert (repository / "bare/FETCH_HEAD").is_symlink() == (backend == "none")


def rest_of_a_rebase(directory):
    return f"mkdir {directory}/.git/rebase-merge; echo exec ./own > {directory}/.git/{STEPS}"


EXCHANGES = {
    "they exchange their places": "mv theirs x; mv other theirs; mv x other",
    "one takes the place of the other": "mv theirs x; mv other theirs",
    "a new one takes the place": "mv theirs x; git init -q theirs",
}


@pytest.mark.parametrize("way", EXCHANGES)
def test_two_that_only_a_search_from_further_down_found(hutch, repository, as_user, backend, way):
    """The supervisor of the second sandbox does not know them before they move."""
    outside(as_user, repository / DEEP, f"git init -q other; {rest_of_a_rebase('theirs')}; {rest_of_a_rebase('other')}")
    hutch.sh("touch y", cwd=repository / DEEP).ok()
    hutch.sh(f"cd {DEEP}; {EXCHANGES[way]}").ok()
    left = [path for path in (repository / DEEP).glob(f"*/.git/{STEPS}") if "own" in path.read_text()]
    assert len(left) == 2, "they are the person's"
    hutch.sh(f"cd {DEEP}; for r in */; do mkdir -p $r/.git/rebase-merge; echo exec ./evil > $r/.git/{STEPS}; done").ok()
    assert bool(list((repository / DEEP).glob(f"*/.git/{STEPS}"))) == (backend == "none")


def test_more_of_them_than_the_supervisor_can_be_told(hutch, repository, backend):
    """Their names are longer than a message may be."""
    long = "/".join(["n" * 200] * 9)
    hutch.sh(f"mkdir -p a/b/c/d/{long}; cd a/b/c/d/{long}; for n in $(seq 700); do "
             "mkdir -p $n.git/refs $n.git/objects; echo ref: refs/heads/main > $n.git/HEAD; done").ok()
    changed = f"cd a/b/c/d/{long}/650.git; mkdir rebase-merge; echo exec ./evil > {STEPS}"
    hutch.sh(changed, timeout=60).ok()
    assert (repository / f"a/b/c/d/{long}/650.git/{STEPS}").exists() == (backend == "none")
