# What commands of an agent leave in repositories that lie deeper than hutch searches.
import os
import pathlib
import signal
import sys

import harness
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import git_left_test  # noqa: E402
from git_left_test import REBASE, STEPS, is_there, outside, quarantined  # noqa: E402

repository = git_left_test.repository  # the fixture

DEEP = "a/b/c/d/e/r"
# The agents' own places with "none" are looked at by nobody; elsewhere by a supervisor.
WAYS = {
    "in one command": [f"git init -q {DEEP}; cd {DEEP}; {REBASE}"],
    "in a later command": [f"git init -q {DEEP}", f"cd {DEEP}; {REBASE}"],
    "moved by a later command": [f"mkdir -p a/b/c/d/e; git init -q r; cd r; {REBASE}; cd ..; mv r {DEEP}"],
    "moved, then prepared": ["git init -q r", f"mkdir -p a/b/c/d/e; mv r {DEEP}", f"cd {DEEP}; {REBASE}"],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_prepared_operation(daemon, repository, way):
    name, directory, backend = repository
    for command in WAYS[way]:
        daemon.sh(name, command).ok()
    assert is_there(directory / DEEP / STEPS) == (backend == "none"), quarantined(daemon)


def test_a_tool_writes_none(daemon, repository):
    name, directory, backend = repository
    daemon.sh(name, f"git init -q {DEEP}").ok()
    daemon.tool(name, "sandbox_write_file", path=f"{DEEP}/{STEPS}", content="exec ./evil\n")
    assert is_there(directory / DEEP / STEPS) == (backend == "none"), quarantined(daemon)


def test_the_users_own_stays(daemon, repository):
    name, directory, _ = repository
    before = quarantined(daemon)
    outside(daemon, directory, f"mkdir -p {DEEP}; cd {DEEP}; git init -q; {REBASE}; touch f")
    daemon.sh(name, f"cd {DEEP}; git add f").ok()
    daemon.sh(name, f"cd {DEEP}; git status; touch .git/index").ok()
    assert is_there(directory / DEEP / STEPS) and quarantined(daemon) == before


MODULE = ".git/modules/m/rebase-merge/git-rebase-todo"
KILLED = {
    "a repository": (DEEP, f"{REBASE}", STEPS),
    "with a line end in its path": ("a/b/c/d/e/x\ny", f"{REBASE}", STEPS),
    "a submodule's": (DEEP, f"mkdir .git/modules; git init -q --separate-git-dir .git/modules/m s; "
                            f"mkdir {MODULE.rpartition('/')[0]}; echo 'exec ./evil' > {MODULE}", MODULE),
}


@pytest.mark.parametrize("kind", KILLED)
@pytest.mark.parametrize("backend", ["none", "bwrap", "namespace"])
def test_the_next_run_looks_where_a_killed_one_worked(hutch, project, as_user, backend, kind):
    directory, script, left = KILLED[kind]
    harness.run_in(as_user, ["git", "init", "-q"], cwd=project).ok()
    process = hutch.popen("sh", "-c", f"git init -q '{directory}'; cd '{directory}'; {script}; touch written; "
                                      "exec sleep 300", backend=backend)
    with process:
        harness.wait_until((project / directory / "written").exists, "it is written")
        os.kill(process.pid, signal.SIGKILL)
    said = hutch.run("true", backend=backend).ok().errors
    assert is_there(project / directory / left) == (backend == "none"), said


# The agent's supervisor runs by then, and has not heard of the repository.
@pytest.mark.parametrize("moves", ["mv r other", "cd ../..; mv d e2; mkdir -p x/y; mv e2 x/y/z"])
def test_what_a_run_prepared_is_found_where_an_agent_moves_it(daemon, repository, moves):
    name, directory, backend = repository
    if backend == "none" or "workspace" in directory.parts:
        pytest.skip("nobody looks there, or no run begins there")
    outside(daemon, directory, f"mkdir -p {DEEP}; cd {DEEP}; git init -q")
    daemon.sh(name, "touch first").ok()
    daemon("run", "--backend", backend, "--", "sh", "-ec",
           f"echo 'pick HEAD' > a/f; mkdir {DEEP}/.git/rebase-merge; ln a/f {DEEP}/{STEPS}", cwd=directory).ok()
    daemon.sh(name, f"cd {DEEP}/..; {moves}").ok()
    daemon.sh(name, "echo 'exec ./evil' > a/f").ok()
    assert [*directory.glob(f"**/{STEPS}")] == [], quarantined(daemon)
