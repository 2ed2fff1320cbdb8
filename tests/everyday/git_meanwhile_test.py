# What the person does with git outside while a sandbox works in the same repository, and what they have begun before.
"""Nothing of it is moved away when the sandbox ends, and what the sandbox prepares meanwhile is."""

import os

import harness
import pytest

PERSON = ("export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.example GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.example "
          "GIT_EDITOR=true; ")
STEPS = ".git/rebase-merge/git-rebase-todo"
DEEP = "a/b/c/d/e"
EDIT = "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i -x 'touch mine' HEAD~2"


# The person's own commands of their own rebase; the sandbox says only that it goes on.
OWN = "GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' git rebase -q -i -x 'touch mine' HEAD~2"


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those whose supervisor tells what the sandbox changes."""
    return request.param


@pytest.fixture
def repository(as_user, project):
    outside(as_user, project, "git init -q -b main; for i in 1 2 3; do echo $i > f$i; git add .; "
                              "git commit -qm $i; done; git branch other")
    return project


def outside(person, directory, script):
    return harness.run_in(person, ["/bin/sh", "-ec", PERSON + script], cwd=directory).ok()


def meanwhile(hutch, repository, as_user, inside, script, before="git stash list; echo x > x; git add x; git reset -q",
              options=()):
    """The sandbox has made its first change before, and does `inside` after. Returns what hutch says at the end."""
    waits = f"{PERSON} {before}; touch came; while [ ! -e went ]; do sleep 0.02; done; {inside}"
    with hutch.popen("/bin/sh", "-c", waits, options=options) as run:
        harness.wait_until((repository / "came").exists, "the sandbox works")
        outside(as_user, repository, script + "; touch went")
        said = run.communicate(timeout=60)[1].decode()
        assert run.returncode == 0, said
    return said


BEGUN = {
    "a rebase": (EDIT, STEPS),
    "a rebase in a worktree": ("git worktree add -q ../w-$$ -b w; cd ../w-$$; " + EDIT + "; cd -", None),
    "a worktree elsewhere": ("git worktree add -q ../w-$$ -b w", None),
    "a worktree in the project": ("git worktree add -q w -b w", None),
    "a worktree that moves": ("git worktree add -q ../w-$$ -b w; git worktree move ../w-$$ ../v-$$", None),
    "a cherry-pick with a strategy": (
        "git checkout -q other; echo c > f3; git commit -qam c; git cherry-pick -X patience main~1 main || true", None),
    "a bisection": ("git bisect start -- f1", ".git/BISECT_NAMES"),
}


@pytest.mark.parametrize("what", BEGUN)
@pytest.mark.parametrize("inside", ["true", "git status; git log; git add -A; git stash list"])
def test_what_the_person_begins_stays(hutch, repository, as_user, what, inside):
    script, file = BEGUN[what]
    said = meanwhile(hutch, repository, as_user, inside, script)
    assert "was moved to" not in said, said
    assert file is None or (repository / file).exists()
    listed = outside(as_user, repository, "git worktree prune; git worktree list").text
    assert len(listed.splitlines()) == (2 if "worktree" in what else 1), listed
    # The next sandbox does not take it for another one's either.
    assert "was moved to" not in hutch.run("git", "status").errors


# In a repository that the person makes meanwhile; what git keeps there of it.
NEW = {
    "a rebase": (f"git clone -q . c; cd c; {EDIT}", f"c/{STEPS}"),
    "a rebase further down": (f"mkdir -p {DEEP}; git clone -q . {DEEP}/c; cd {DEEP}/c; {EDIT}", f"{DEEP}/c/{STEPS}"),
    "a bisection": ("git clone -q . c; cd c; git bisect start -- f1", "c/.git/BISECT_NAMES"),
    "a worktree": ("git clone -q . c; git -C c worktree add -q ../../w-$$ -b w", "c/.git/worktrees"),
}


@pytest.mark.parametrize("what", NEW)
def test_what_the_person_begins_in_a_new_repository(hutch, repository, as_user, what):
    script, file = NEW[what]
    said = meanwhile(hutch, repository, as_user, "git status", f"({script})")
    assert "was moved to" not in said and (repository / file).exists(), said


def test_what_the_sandbox_moves_to_a_new_repository(hutch, repository, as_user):
    """It has made the directory, and somebody outside moves it."""
    begins = f"git clone -q . n; cd n; {EDIT}; cd .."
    said = meanwhile(hutch, repository, as_user, "true", "mv n moved", before=begins)
    assert "was moved to" in said and not (repository / "moved" / STEPS).exists(), said


def test_the_persons_rebase_of_meanwhile_goes_on_inside(hutch, repository, as_user):
    said = meanwhile(hutch, repository, as_user, "git commit -q --amend -m z; git rebase --continue", OWN)
    assert "was moved to" not in said and (repository / STEPS).exists(), said


# After hutch was killed, the person begins these; the next run finds nothing of the killed one's.
@pytest.mark.parametrize("what", [one for one in BEGUN if one != "a rebase in a worktree"])
@pytest.mark.parametrize("inside", ["touch came", "git stash list; git reset -q; touch came"])
def test_what_the_person_begins_after_a_killed_run(hutch, repository, as_user, what, inside):
    script, file = BEGUN[what]
    kill_while(hutch, repository, inside)
    outside(as_user, repository, script)
    said = hutch.run("git", "status").ok().errors
    assert "was moved to" not in said, said
    assert file is None or (repository / file).exists()


@pytest.mark.parametrize("place", [".", f"{DEEP}/n"])
def test_what_a_killed_run_began_is_found(hutch, repository, place):
    kill_while(hutch, repository, f"[ {place} = . ] || git clone -q . {place}; cd {place}; {EDIT}; "
                                  f"touch {repository}/came")
    assert "was moved to" in hutch.run("git", "status").errors
    assert not (repository / place / STEPS).exists()


def kill_while(hutch, repository, inside):
    with hutch.popen("/bin/sh", "-c", f"{PERSON} {inside}; sleep 60") as run:
        harness.wait_until((repository / "came").exists, "the sandbox works")
        run.kill()
        run.wait()


# Two sandboxes: the first one begins a rebase in a repository that the second one exchanges for another, or moves.
MOVES = {"exchanged": "mv x1 t; mv x2 x1; mv t x2", "moved": "mv x1 y"}


@pytest.mark.parametrize("way", MOVES)
@pytest.mark.parametrize("first", ["the one that began it ends first", "the one that moved it ends first"])
@pytest.mark.parametrize("place", [".", DEEP])
def test_what_another_sandbox_moves(hutch, repository, way, first, place):
    hutch.run("/bin/sh", "-ec", f"{PERSON} mkdir -p {place}; git clone -q . {place}/x1; git clone -q . {place}/x2").ok()
    waits = "touch {0}1; while [ ! -e {0}2 ]; do sleep 0.02; done; cd {1}; {2}; cd {3}; touch {0}3; " \
            "while [ ! -e {0}4 ]; do sleep 0.02; done"
    begins = waits.format("a", place, f"cd x1; {EDIT}; cd ..", repository)
    moves = waits.format("b", place, MOVES[way], repository)
    with hutch.popen("/bin/sh", "-c", PERSON + begins) as one, hutch.popen("/bin/sh", "-c", PERSON + moves) as other:
        for name in ("a", "b"):
            harness.wait_until((repository / f"{name}1").exists, "both work")
        for name in ("a", "b"):
            (repository / f"{name}2").touch()
            harness.wait_until((repository / f"{name}3").exists, "it is done")
        order = [("a", one), ("b", other)]
        for name, run in order if first.startswith("the one that began") else order[::-1]:
            (repository / f"{name}4").touch()
            run.communicate(timeout=60)
    assert not list(repository.glob(f"**/{os.path.basename(STEPS)}"))


# The person moves a repository in which the sandbox has begun something, and the sandbox goes on there.
MOVED_BY_PERSON = {
    "of before": (f"cd x1; {EDIT}; cd ..", "mv x1 y", "y", "cd y; git status"),
    "of this run": (f"git clone -q . x3; cd x3; {EDIT}; cd ..", "mv x3 y", "y", "cd y; git status; touch f1"),
    "in place of another": (f"cd x1; {EDIT}; cd ..", "rm -rf x2; mv x1 x2", "x2", "touch x2/.git/rebase-merge/zz"),
}


@pytest.mark.parametrize("what", MOVED_BY_PERSON)
def test_a_repository_that_the_person_moves(hutch, repository, as_user, what):
    begins, moves, place, goes_on = MOVED_BY_PERSON[what]
    hutch.run("/bin/sh", "-ec", "git clone -q . x1; git clone -q . x2").ok()
    said = meanwhile(hutch, repository, as_user, goes_on, moves, before=begins)
    assert "was moved to" in said and not (repository / place / STEPS).exists(), said


def test_an_index_in_a_repository_that_the_person_moves(hutch, repository, as_user):
    hutch.run("/bin/sh", "-ec", "git clone -q . x1").ok()
    stages = ("cd x1; b=$(echo '#!/bin/sh' | git hash-object -w --stdin); "
              "git update-index --add --cacheinfo 100755,$b,+git/hooks/pre-commit; "
              "sed -i s,+git/hooks,.git/hooks, .git/index; cd ..")
    said = meanwhile(hutch, repository, as_user, "mkdir -p y/.git/rebase-merge; rmdir y/.git/rebase-merge", "mv x1 y",
                     before=stages)
    outside(as_user, repository, "git -C y restore . || true")
    assert "was moved to" in said and not (repository / "y/.git/hooks/pre-commit").exists(), said


# What the sandbox that began does last, after another one has moved its repository in place of a second one.
LAST = {"it ends another": "mkdir -p x1/.git/rebase-merge; rmdir x1/.git/rebase-merge",
        "it goes on": "touch x2/.git/rebase-merge/zz", "nothing": "true"}


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("way", ["rm -rf x2; mv x1 x2", "mv x1 t; mv x2 x1; mv t x2"])
def test_what_another_sandbox_puts_in_place(hutch, repository, way, last):
    hutch.run("/bin/sh", "-ec", "git clone -q . x1; git clone -q . x2").ok()
    waits = "while [ ! -e {0} ]; do sleep 0.02; done"
    begins = (f"touch a1; {waits.format('a2')}; cd x1; {EDIT}; cd ..; touch a3; {waits.format('a4')}; "
              f"{LAST[last]}; true")
    with hutch.popen("/bin/sh", "-c", PERSON + begins) as one:
        harness.wait_until((repository / "a1").exists, "it works")
        with hutch.popen("/bin/sh", "-c", f"touch b1; {waits.format('b2')}; {way}") as other:
            harness.wait_until((repository / "b1").exists, "both work")
            (repository / "a2").touch()
            harness.wait_until((repository / "a3").exists, "it is done")
            (repository / "b2").touch()
            other.communicate(timeout=60)
        (repository / "a4").touch()
        one.communicate(timeout=60)
    left = list(repository.glob(f"**/{os.path.basename(STEPS)}"))
    assert not left, left


def test_what_another_sandbox_moves_of_a_killed_one(hutch, repository):
    waits = "while [ ! -e {0} ]; do sleep 0.02; done"
    moves = f"touch a1; {waits.format('a2')}; mv n n2; git clone -q . n; touch a3; {waits.format('a4')}"
    with hutch.popen("/bin/sh", "-c", PERSON + moves) as one:
        harness.wait_until((repository / "a1").exists, "it works")
        with hutch.popen("/bin/sh", "-c", f"{PERSON} git clone -q . n; cd n; {EDIT}; touch ../b1; sleep 60") as other:
            harness.wait_until((repository / "b1").exists, "both work")
            (repository / "a2").touch()
            harness.wait_until((repository / "a3").exists, "it is done")
            other.kill()
            other.wait()
        (repository / "a4").touch()
        one.communicate(timeout=60)
    hutch.run("git", "status")
    left = list(repository.glob(f"**/{os.path.basename(STEPS)}"))
    assert not left, left


@pytest.mark.parametrize("first", ["the one that began it ends first", "the one that moved it ends first"])
def test_what_a_sandbox_above_moves_out(hutch, repository, first):
    """The one that began it works in a directory of the project, and cannot look where it is now."""
    (repository / "sub").mkdir()
    os.chown(repository / "sub", repository.stat().st_uid, repository.stat().st_gid)
    waits = "while [ ! -e {0} ]; do sleep 0.02; done"
    begins = (f"{PERSON} git init -q -b main n; cd n; for i in 1 2 3; do echo $i > g$i; git add .; git commit -qm $i; "
              f"done; {EDIT}; cd ..; touch b1; {waits.format('b2')}")
    moves = f"touch a1; {waits.format('a2')}; mv sub/n n2; touch a3; {waits.format('a4')}"
    with hutch.popen("/bin/sh", "-c", PERSON + moves) as one:
        harness.wait_until((repository / "a1").exists, "it works")
        with hutch.popen("/bin/sh", "-c", begins, cwd=repository / "sub") as other:
            harness.wait_until((repository / "sub/b1").exists, "both work")
            (repository / "a2").touch()
            harness.wait_until((repository / "a3").exists, "it is done")
            order = [(repository / "sub/b2", other), (repository / "a4", one)]
            for file, run in order if first.startswith("the one that began") else order[::-1]:
                file.touch()
                run.communicate(timeout=60)
    hutch.run("git", "status")
    left = list(repository.glob(f"**/{os.path.basename(STEPS)}"))
    assert not left, left


def test_the_persons_rebase_in_a_clone_of_the_sandboxs(hutch, repository, as_user):
    said = meanwhile(hutch, repository, as_user, "true", f"cd x1; {EDIT}; cd ..", before="git clone -q . x1")
    assert "was moved to" not in said and (repository / "x1" / STEPS).exists(), said


def test_the_persons_rebase_in_a_clone_of_a_killed_one(hutch, repository, as_user):
    kill_while(hutch, repository, "git clone -q . x1; touch came")
    outside(as_user, repository / "x1", EDIT)
    said = hutch.run("git", "status").ok().errors
    assert "was moved to" not in said and (repository / "x1" / STEPS).exists(), said


def test_another_worktree_of_the_sandbox(hutch, repository, as_user):
    """It makes one of its own in the same run."""
    said = meanwhile(hutch, repository, as_user, "git worktree add -q mine -b mine", "git worktree add -q ../w-$$ -b w")
    assert "was moved to" not in said, said
    assert len(outside(as_user, repository, "git worktree list").text.splitlines()) == 3


def test_where_a_service_of_the_host_could_write_for_it(hutch, repository, as_user):
    """The supervisor does not see what that changes."""
    said = meanwhile(hutch, repository, as_user, "true", EDIT, options=["--allow-host-port", "9"])
    assert "was moved to" in said and not (repository / STEPS).exists(), said


TAKEN = {
    "written into": f"echo 'exec ./evil' >> {STEPS}",
    "replaced": f"echo 'exec ./evil' > x; mv x {STEPS}",
    "by another name": f"ln {STEPS} x; echo 'exec ./evil' >> x; rm x",
    "moved away and back": "mv .git/rebase-merge x; echo 'exec ./evil' >> x/git-rebase-todo; mv x .git/rebase-merge",
    "in a repository that moves": "mv .git x; echo 'exec ./evil' >> x/rebase-merge/git-rebase-todo; mv x .git",
    "by its lock": f"echo 'exec ./evil' > {STEPS}.lock; mv {STEPS}.lock {STEPS}",
    "a strategy": "echo ./evil > .git/rebase-merge/strategy",
}


@pytest.mark.parametrize("way", TAKEN)
def test_what_the_sandbox_makes_of_it_is_found(hutch, repository, as_user, way):
    meanwhile(hutch, repository, as_user, TAKEN[way] + "; true", EDIT)
    left = list(repository.glob(f"**/{os.path.basename(STEPS)}")) + list(repository.glob("**/strategy"))
    assert not any("evil" in path.read_text() for path in left), left



@pytest.mark.parametrize("place", [".", "a/b/c/d/e"])
def test_the_persons_rebase_that_goes_on_inside(hutch, repository, as_user, place):
    if place != ".":
        outside(as_user, repository, f"mkdir -p {place}; git clone -q . {place}/r")
        place = f"{place}/r"
    outside(as_user, repository / place, OWN)
    result = hutch.run("/bin/sh", "-c", PERSON + f"cd {place}; git rebase --continue").ok()
    assert "was moved to" not in result.errors and (repository / place / STEPS).exists(), str(result)
    hutch.run("/bin/sh", "-c", PERSON + f"cd {place}; echo 'exec touch mine; ./evil' >> {STEPS}")
    assert not (repository / place / STEPS).exists()


# What the sandbox does first, and ends; and what the person begins then.
ENDED = {
    "a rebase": ("git checkout -q other; echo c > c; git add c; git commit -qm c; git rebase -q main; "
                 "git checkout -q main", EDIT, STEPS),
    "a rebase that is given up": (f"{EDIT}; git rebase --abort", EDIT, STEPS),
    "a bisection": (
        "git bisect start main main~2; git bisect reset", "git bisect start -- 'f[1]'", ".git/BISECT_NAMES"),
}


@pytest.mark.parametrize("what", ENDED)
def test_what_the_person_begins_after_the_sandboxs_own(hutch, repository, as_user, what):
    first, then, file = ENDED[what]
    said = meanwhile(hutch, repository, as_user, "true", then, before=first)
    assert "was moved to" not in said and (repository / file).exists(), said


CLOSED = {
    "the operation": (".git", ".git/rebase-merge", "0"),
    "the repository": ("n/.git", "n/.git", "0"),
    "a directory above": ("n/.git", "n", "0"),
    "a repository that cannot be searched": ("n/.git", "n/.git", "444"),
    "all worktrees": (".git/worktrees/w", ".git/worktrees", "444"),
    "a submodule further down": (f"{DEEP}/.git/modules/s", f"{DEEP}/.git/modules/s", "0"),
    "worktrees further down": (f"{DEEP}/.git/worktrees/w", f"{DEEP}/.git/worktrees", "444"),
    "a bare repository further down": (f"{DEEP}/b", f"{DEEP}/b", "444"),
}


@pytest.mark.parametrize("what", CLOSED)
def test_what_was_closed_is_not_the_persons(hutch, repository, as_user, what):
    """Nobody could look at what the first sandbox left there."""
    if as_user.uid == 0:
        pytest.skip("root may look everywhere")
    git, closed, mode = CLOSED[what]
    outside(as_user, repository, "git worktree add -q w")
    hutch.run("/bin/sh", "-ec", f"{PERSON} git clone -q . n; mkdir -p {DEEP}; git clone -q . {DEEP}; cd {DEEP}; "
                                "git worktree add -q w; git init -q --bare b; mkdir .git/modules; "
                                f"git init -q --separate-git-dir .git/modules/s s; cd {repository}; "
                                f"mkdir {git}/rebase-merge; echo exec x > {git}/rebase-merge/git-rebase-todo; "
                                f"chmod {mode} {closed}").ok()
    second = hutch.run("/bin/sh", "-c", f"chmod 755 {closed}")
    if second.code == 0:
        assert not (repository / git / "rebase-merge/git-rebase-todo").exists(), str(second)
    else:
        # It stays closed, and hutch says so.
        assert f"cannot look below {repository}/{closed}" in second.errors, str(second)
        assert "was moved" not in second.errors and "remove it" not in second.errors, str(second)
        (repository / closed).chmod(0o755)


def test_steps_that_are_cut_off(hutch, repository, as_user):
    outside(as_user, repository, EDIT.replace("touch mine", "touch mine/of/tests"))
    hutch.run("/usr/bin/python3", "-c", f"import os; os.truncate('{STEPS}', os.path.getsize('{STEPS}') - 7)").ok()
    assert not (repository / STEPS).exists()


# Names of operations that git gives by rename(2), and others that get such a name.
RENAMED = {
    "a bisection": "git bisect start main~1 main~2; git bisect run sh -c '! test -e f2'; git bisect reset",
    "a merge with rerere": (
        "git checkout -q other; git reset -q --hard HEAD~1; echo x > f3; git add f3; "
        "git commit -qm x; git merge main || true; test -s .git/MERGE_RR; echo y > f3; git add f3; git commit -qm m; "
        "test ! -s .git/MERGE_RR"),
    "a rebase with rerere": (
        "git checkout -q other; git reset -q --hard HEAD~1; echo x > f3; git add f3; "
        "git commit -qm x; git rebase main || true; echo y > f3; git add f3; git rebase --continue"),
    "a file": "echo 1 > .git/q; mv .git/q .git/BISECT_q; cat .git/BISECT_q",
    "a directory": "mkdir .git/x; mv .git/x .git/rebase-merge; test -d .git/rebase-merge",
    "away": "mkdir .git/rebase-apply; mv .git/rebase-apply .git/y; test -d .git/y",
    "an exchange": "mkdir .git/x .git/rebase-merge; touch .git/x/a; python3 -c \"import ctypes; "
                   "print(ctypes.CDLL(None).renameat2(-100, b'.git/x', -100, b'.git/rebase-merge', 2))\"; "
                   "test -e .git/rebase-merge/a",
}


@pytest.mark.parametrize("what", RENAMED)
def test_names_of_operations_by_rename(hutch, repository, as_user, what):
    outside(as_user, repository, "git config rerere.enabled true")
    hutch.run("/bin/sh", "-ec", PERSON + RENAMED[what], timeout=60).ok()


def test_a_renamed_operation_replaces_no_more_than_that(hutch, repository, as_user):
    """What had the name is gone only if the call succeeds."""
    outside(as_user, repository, "echo mine > .git/BISECT_x")
    hutch.run("/bin/sh", "-ec", "echo 1 > .git/q; mv .git/q .git/BISECT_x; cat .git/BISECT_x").ok()
    assert (repository / ".git/BISECT_x").read_text() == "1\n"
