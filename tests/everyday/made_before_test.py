# A repository that an earlier sandbox made: the next one's, until the person configures it.
import time

import daemons
import harness
import pytest

pytestmark = pytest.mark.usefixtures("backend")
CLONE = "git clone -q . lib"
STEPS = ".git/rebase-merge/git-rebase-todo"


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def made(hutch, as_user, project):
    """In the project, which is a repository with a commit."""
    outside(as_user, project, "git init -q; git -c user.name=A -c user.email=a@b.example commit -q --allow-empty -m x")
    hutch.sh(CLONE).ok()
    return project / "lib"


def outside(person, directory, script):
    return harness.run_in(person, ["/bin/sh", "-ec", script], cwd=directory).ok().text


@pytest.mark.parametrize("script", [f"rm -rf lib; {CLONE}; git -C lib status", "mv lib other; git -C other status",
                                    "cp -a lib copy; rm -rf copy lib", "git -C lib config core.filemode false"])
def test_it_can_be_used_as_a_whole(hutch, made, script):
    hutch.sh(script).ok()
    hutch.sh("rm -rf lib other copy").ok()
    assert not made.exists() and not (made.parent / "other").exists()


THEIRS = {
    "a setting": "git config core.pager less",
    "a hook": "echo true > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    "another repository": "cd ..; rm -rf lib; git init -q lib",
    "a copy": "cd ..; mv lib old; cp -a old lib; rm -rf old",
}


@pytest.mark.parametrize("what", THEIRS)
def test_it_is_theirs_by(hutch, as_user, made, what):
    outside(as_user, made, THEIRS[what])
    before = outside(as_user, made, "cat .git/config; ls -l .git/hooks")
    for script in ("rm -rf lib/.git/config lib/.git/hooks", "mv lib other", "git -C lib remote set-url origin x:/y"):
        assert hutch.sh(script).code != 0, script
    assert outside(as_user, made, "cat .git/config; ls -l .git/hooks") == before


def test_a_setting_that_no_sandbox_writes_makes_it_theirs(hutch, as_user, made):
    """It came while a sandbox ran, which may replace it; the next one finds the person's repository."""
    with hutch.popen("sh", "-c", "touch went; while [ ! -e came ]; do sleep 0.05; done") as running:
        while not (made.parent / "went").exists():
            time.sleep(0.05)
        outside(as_user, made, "mkdir .githooks; echo true > .githooks/pre-commit; "
                               "git config core.hooksPath .githooks; touch ../came")
        running.wait(timeout=harness.PATIENCE)
    assert hutch.sh("echo ./tripwire > lib/.githooks/pre-commit").code != 0
    assert hutch.sh("git -C lib config --unset core.hooksPath").code != 0


HARMFUL = {
    "a hook": "echo ./tripwire > lib/.git/hooks/pre-commit",
    "a setting": "git -C lib config core.fsmonitor ./tripwire",
    "hooks by a move": "mkdir d; echo ./tripwire > d/pre-commit; rm -rf lib/.git/hooks; mv d lib/.git/hooks",
    "a configuration by a move": "echo '[core] fsmonitor = ./tripwire' > c; mv c lib/.git/config",
}


@pytest.mark.parametrize("way", HARMFUL)
def test_nothing_harmful_gets_in(hutch, as_user, made, way):
    hutch.sh(HARMFUL[way])
    said = outside(as_user, made, "cat .git/config; cat .git/hooks/* 2> /dev/null || true")
    assert "tripwire" not in said


@pytest.fixture
def worktree(hutch, as_user, project):
    """A linked worktree in the project, which an earlier sandbox made."""
    outside(as_user, project, "git init -q; git -c user.name=A -c user.email=a@b.example commit -q --allow-empty -m x")
    hutch.sh("git worktree add -q wt").ok()
    return project / "wt"


@pytest.mark.parametrize("script", ["git worktree remove wt", "rm -rf wt; git worktree prune", "git -C wt status",
                                    "git worktree move wt other; git -C other status; git worktree remove other"])
def test_a_worktree_can_be_used_as_a_whole(hutch, as_user, worktree, script):
    hutch.sh(f"set -e; {script}").ok()
    hutch.sh("test ! -e wt || git worktree remove wt; git worktree add -q wt; git worktree remove wt").ok()
    assert outside(as_user, worktree.parent, "git worktree list --porcelain").count("worktree ") == 1
    assert not (worktree.parent / ".git/worktrees").exists()


def test_the_persons_worktree_stays(hutch, as_user, worktree):
    outside(as_user, worktree.parent, "git worktree repair wt; git worktree add -q mine")
    for script in ("rm mine/.git", "echo 'gitdir: ../.git/worktrees/wt' > mine/.git", "mv mine other",
                   "rm .git/worktrees/mine/commondir", "echo ../../x > .git/worktrees/mine/commondir"):
        assert hutch.sh(script).code != 0, script
    assert outside(as_user, worktree.parent / "mine", "git status") and (worktree.parent / "mine/.git").exists()


# Each of the scripts does what it can; a tripwire is a program that git outside would run.
WORKTREES = {
    "a link elsewhere": "mkdir d; git init -q d/x; mv d/x/.git d/x/g; rm wt/.git; echo 'gitdir: ../d/x/g' > wt/.git",
    "a common directory elsewhere": "git init -q x; rm .git/worktrees/wt/commondir; "
                                    "echo ../../../x/.git > .git/worktrees/wt/commondir",
    "a repository of its own": "cd .git/worktrees/wt; echo '[core] fsmonitor = ./tripwire' > config; rm commondir; "
                               "mkdir objects refs",
    "and its settings afterwards": "cd .git/worktrees/wt; rm commondir; mkdir objects refs; "
                                   "echo '[core] fsmonitor = ./tripwire' > config",
    "hooks of its own": "cd .git/worktrees/wt; mkdir hooks; echo ./tripwire > hooks/post-index-change; "
                        "chmod +x hooks/*; rm commondir; mkdir objects refs",
    "a directory by its name": "cd .git/worktrees; mv wt old; mkdir wt; cd wt; cp ../old/HEAD .; mkdir objects refs; "
                               "echo '[core] fsmonitor = ./tripwire' > config",
    "another worktree in its place": "mkdir -p a/.git/worktrees; mv wt a/wt; mv .git/worktrees/wt a/.git/worktrees/wt; "
                                     "rm -rf wt; mkdir wt; cp a/wt/.git wt/",
}


@pytest.mark.parametrize("way", WORKTREES)
def test_nothing_harmful_gets_into_a_worktree(hutch, as_user, worktree, way):
    tripped = worktree.parent / "tripped"
    hutch.sh(f"echo '#!/bin/sh\n: > {tripped}' > tripwire; chmod +x tripwire; cp tripwire wt/; {WORKTREES[way]}")
    tripped.unlink(missing_ok=True)
    said = outside(as_user, worktree.parent, "cd wt; git config --list --show-origin || true; git status || true; "
                                             "git add -A && git commit -qm x && git log || true")
    assert not tripped.exists() and "fsmonitor" not in said


def test_the_persons_rebase_there_stays(hutch, as_user, made):
    outside(as_user, made, f"mkdir .git/rebase-merge; echo 'exec ./mine' > {STEPS}")
    hutch.sh("touch f; git -C lib status").ok()
    assert (made / STEPS).exists()
    hutch.sh("touch lib/f; git -C lib add f").ok()
    assert (made / STEPS).exists()


def test_an_agents_is_the_agents_after_a_stop(base, as_user, backend):
    daemon = daemons.Daemon(base, as_user)
    try:
        directory = as_user.mkdir(as_user.home / base.unused("made").name)
        outside(as_user, directory, "git init -q one; cd one; "
                                    "git -c user.name=A -c user.email=a@b.example commit -q --allow-empty -m x")
        name = daemon.create(f"backend={backend}", f"dir={directory}")
        daemon.sh(name, "git clone -q one lib").ok()
        daemon("agent", "stop", name).ok()
        daemon.sh(name, "rm -rf lib; git clone -q one lib").ok()
        outside(as_user, directory / "lib", "git config core.pager less")
        daemon("agent", "stop", name).ok()
        assert daemon.sh(name, "rm -rf lib").code != 0 and (directory / "lib/.git/config").exists()
    finally:
        daemon.stop()
