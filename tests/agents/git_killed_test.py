# What a command left for the user's git whose hutch was killed before it could look: the next one does.
import os
import pathlib
import signal
import sys

import harness
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from git_left_test import REBASE, STEPS, is_there, outside, quarantined  # noqa: E402

WAIT = f"{REBASE}; touch written; exec sleep 300"


@pytest.fixture(params=["none", "bwrap", "namespace"])
def repository(own_daemon, request):
    """An agent, the directory of its repository, and another repository in it."""
    name = own_daemon.create(f"backend={request.param}")
    directory = own_daemon.data / "workspace/agents" / name
    own_daemon.sh(name, "true").ok()
    outside(own_daemon, directory, "git init -q -b main; git init -q other")
    own_daemon("agent", "stop", name).ok()
    return name, directory, request.param


def test_the_next_daemon_looks(own_daemon, repository):
    name, directory, backend = repository
    own_daemon.detach(name, WAIT)
    harness.wait_until((directory / "written").exists, "it is written")
    assert is_there(directory / STEPS)
    own_daemon.kill()
    assert own_daemon("agent", "list").ok()
    assert is_there(directory / STEPS) == (backend == "none"), quarantined(own_daemon)
    if backend != "none":
        assert f"a run that was killed: {directory}/{STEPS}" in own_daemon.log()
        assert not list((own_daemon.data / "running").iterdir())


def test_what_the_user_had_begun_stays(own_daemon, repository):
    name, directory, _ = repository
    outside(own_daemon, directory / "other", REBASE)
    own_daemon.detach(name, "touch written; exec sleep 300")
    harness.wait_until((directory / "written").exists, "it runs")
    own_daemon.kill()
    assert own_daemon("agent", "list").ok()
    assert is_there(directory / "other" / STEPS) and not quarantined(own_daemon)


@pytest.mark.parametrize("backend", ["none", "bwrap", "namespace"])
def test_the_next_run_looks(hutch, project, as_user, backend):
    harness.run_in(as_user, ["git", "init", "-q"], cwd=project).ok()
    process = hutch.popen("sh", "-c", WAIT, backend=backend)
    with process:
        harness.wait_until((project / "written").exists, "it is written")
        os.kill(process.pid, signal.SIGKILL)
    said = hutch.run("true", backend=backend).ok().errors
    assert is_there(project / STEPS) == (backend == "none"), said
    assert (f"a run that was killed: {project}/{STEPS}" in said) == (backend != "none")


OUTER = """
git() { command git -c user.name=A -c user.email=a@b.example -c protocol.file.allow=always "$@"; }
git init -q -b main m; git -C m commit -q --allow-empty -m module
git init -q -b main r; git -C r commit -q --allow-empty -m first; git -C r worktree add -q ../w -b side
git -C r submodule --quiet add ../m s; git -C r commit -q -m s; git -C r/s worktree add -q ../../sw -b side
"""


@pytest.mark.parametrize("backend", ["bwrap", "namespace"])
@pytest.mark.parametrize("place, git", [("w", "r/.git/worktrees/w"), ("r/s", "r/.git/modules/s"),
                                        ("sw", "r/.git/modules/s/worktrees/sw")])
def test_the_next_run_looks_in_a_repository_that_came_along(hutch, project, as_user, backend, place, git):
    harness.run_in(as_user, ["/bin/sh", "-ec", OUTER], cwd=project).ok()
    steps = project / git / "rebase-merge/git-rebase-todo"
    write = f"mkdir {steps.parent}; echo 'exec ./evil' > {steps}; touch written; exec sleep 300"
    process = hutch.popen("/bin/sh", "-ec", write, backend=backend, cwd=project / place)
    with process:
        harness.wait_until((project / place / "written").exists, "it is written")
        os.kill(process.pid, signal.SIGKILL)
    assert is_there(steps)
    said = hutch.run("true", backend=backend, cwd=project / "m").ok().errors
    assert f"a run that was killed: {steps}" in said and not is_there(steps.parent), said
