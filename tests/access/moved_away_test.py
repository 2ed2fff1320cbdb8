# A directory goes to another place while a sandbox works in it: out of what the sandbox may write, or out of a ".git".
"""Where git finds what the sandbox makes is where the directory is by then."""

import os
import pathlib

import harness
import pytest
from supervisors import is_in, slow, supervisor_of

SYMLINKAT = 266
PARTS = "mkdir objects refs; echo 'ref: refs/heads/main' > HEAD"
EVIL = "[core]\n\tfsmonitor = ./evil\n"

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


MAKES_HOOKS = f"mkdir x; mv h/sub x/hooks; cd x; {PARTS}"


def test_out_of_the_sandbox_before_a_call(hutch, as_user, project):
    """The process is still in it."""
    place = as_user.mkdir(project / "h/sub").parent
    script = "cd sub; touch before; echo ready; read go; ln -s /bin/sh pre-commit; touch post-commit"
    with hutch.popen("sh", "-c", script, cwd=place) as run:
        assert run.stdout.readline() == b"ready\n"
        hutch.sh(f"rm h/sub/before; {MAKES_HOOKS}").ok()
        _, err = run.communicate(b"go\n", timeout=harness.PATIENCE)
    assert (project / "x/refs").exists() and not list((project / "x/hooks").iterdir()), err


@pytest.mark.skipif(os.geteuid() != 0, reason="strace has to trace what cannot be dumped")
def test_out_of_the_sandbox_within_a_call(hutch, as_user, project):
    place = as_user.mkdir(project / "h/sub").parent
    with hutch.popen("sh", "-c", "touch first; read go; ln -s /bin/sh sub/pre-commit", cwd=place) as run:
        supervisor = supervisor_of(run)
        with slow(supervisor, "symlinkat", 3):
            run.stdin.write(b"go\n")
            run.stdin.flush()
            harness.wait_until(lambda: is_in(supervisor, SYMLINKAT), "a link that takes long")
            hutch.sh(MAKES_HOOKS).ok()
            _, err = run.communicate(timeout=harness.PATIENCE)
    assert (project / "x/refs").exists() and not list((project / "x/hooks").iterdir()), err


# What the sandbox in "x/.git", which is "x/foo" by then, makes of the other one's directory "x/foo".
REST = {
    "its parts": ("echo 'ref: refs/heads/main' > HEAD", "x/foo", "HEAD"),
    "a worktree's parts": ("mkdir -p worktrees/w; cd worktrees/w; echo 'ref: refs/heads/main' > HEAD; "
                           "echo ../.. > commondir; cd ../..; touch end", "x/foo/worktrees/w", "commondir"),
}


@pytest.mark.parametrize("rest", REST)
def test_what_was_a_git_directory(hutch, as_user, project, rest):
    """The other sandbox may make a configuration there, which is none of a repository yet."""
    script, where, last = REST[rest]
    place = as_user.mkdir(project / "x/.git")
    as_user.write(project / "evil", EVIL)
    with hutch.popen("sh", "-c", f"mkdir up; rmdir up; echo ready; read go; {script}", cwd=place) as run:
        assert run.stdout.readline() == b"ready\n"
        hutch.sh("mv x/.git x/foo && cd x/foo && mkdir objects refs && cp ../../evil config").ok()
        _, err = run.communicate(b"go\n", timeout=harness.PATIENCE)
    assert (project / "x/foo/config").read_text() == EVIL
    assert not (project / where / last).exists(), err


def test_the_turns_are_hidden(hutch, as_user, project):
    """A lock for reading would keep out everybody who wants one for writing."""
    state = as_user.environment().get("HUTCH_STATE")
    data = pathlib.Path(state) / "data" if state else as_user.home / ".local/share/hutch"
    hutch.run("true").ok()
    assert (data / "turns").exists()
    for options in ([], ["--allow-write", data.parent], ["--allow-read", "/"]):
        said = hutch.sh(f"head -c0 {data}/turns && echo open", options=options)
        assert b"open" not in said.out, (options, said)
