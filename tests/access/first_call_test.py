# A supervisor that starts with the first call that the kernel holds for it.
"""Most commands change nothing that is supervised, and an agent's sandbox may wait for hours."""

import os
import shutil
import signal

import harness
import pytest
from supervisors import find_supervisor, supervisor_of

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


def test_the_first_change_starts_it(hutch, project):
    with hutch.popen("sh", "-c", "ls; echo ready; read go; echo x > f; cat f; read end") as run:
        assert run.stdout.readline() == b"ready\n"
        assert find_supervisor(run) is None
        run.stdin.write(b"go\n")
        run.stdin.flush()
        assert run.stdout.readline() == b"x\n"
        supervisor_of(run)
        _, err = run.communicate(timeout=harness.PATIENCE)
        assert run.returncode == 1 and not err, err  # the second read meets the end of its input
    assert (project / "f").read_text() == "x\n"


def test_many_first_changes_at_once(hutch, project):
    script = "for i in $(seq 40); do (echo $i > f$i; echo x > .bashrc) & done; wait; exit 1"
    result = hutch.sh(script)
    assert sorted(path.name for path in project.iterdir()) == sorted(f"f{i}" for i in range(1, 41)), result.err
    assert result.err.count(b".bashrc was refused") == 1, result.err


def make_operation(as_user, project):
    """As the person's own "git rebase -i" does; with a line that runs a program."""
    as_user.mkdir(project / ".git/rebase-merge")
    return as_user.write(project / ".git/rebase-merge/git-rebase-todo", "exec ./mine\n")


SCRIPTS = {
    "nothing": "echo ready; read go; cat .git/HEAD",
    "later": "echo ready; read go; touch f",
    "before": "touch f; echo ready; read go",
    "nothing, where a service could": "echo ready; read go; cat .git/HEAD",
    # Held as well, and let through: a supervisor that was started for it still waits.
    "elsewhere": "(echo x > /dev/tty) 2> /dev/null; echo x > /tmp/x; echo ready; read go; echo y > /tmp/x; "
                 "echo y > /tmp/new; cat /tmp/x /tmp/new",
    "elsewhere, then later": "echo x > /tmp/x; echo ready; read go; echo x > /tmp/y; touch f",
    "by a link": "ln -s $PWD/f /tmp/l; echo x > /tmp/l; echo ready; read go",
    "by /proc": "echo x > /proc/self/cwd/f; echo ready; read go",
    "by a way out of elsewhere": "p=$PWD; mkdir /tmp/d; cd /tmp/d; echo x > ../..$p/f; echo ready; read go",
}


@pytest.mark.parametrize("changes", SCRIPTS)
def test_what_the_sandbox_does_not_change_is_the_persons(hutch, as_user, project, changes):
    """An operation that the person begins stays theirs, before the sandbox's first change and after it. If a service of
    the host could have written it for the sandbox, it counts as the sandbox's."""
    service = changes == "nothing, where a service could"
    harness.run_in(as_user, ["git", "init", "-q", project]).ok()
    with hutch.popen("sh", "-c", SCRIPTS[changes], options=["--allow-host-port", "9"] if service else []) as run:
        assert run.stdout.readline() == b"ready\n"
        steps = make_operation(as_user, project)
        _, err = run.communicate(b"go\n", timeout=harness.PATIENCE)
        assert run.returncode == 0, err
    stays = not service
    assert steps.exists() is stays, err
    assert (b"git-rebase-todo" in err or b"rebase-merge" in err) is not stays, err


def test_a_first_change_while_hutch_is_stopped(hutch, project):
    """It waits for hutch."""
    with hutch.popen("sh", "-c", "echo ready; read go; touch f") as run:
        assert run.stdout.readline() == b"ready\n"
        os.kill(run.pid, signal.SIGSTOP)
        run.stdin.write(b"go\n")
        run.stdin.flush()
        assert not (project / "f").exists()
        os.kill(run.pid, signal.SIGCONT)
        _, err = run.communicate(timeout=harness.PATIENCE)
        assert run.returncode == 0, err
    assert (project / "f").exists()


def test_another_program_in_its_place(hutch, as_user, project, base):
    """Whoever may write the directory of hutch's programs must not have its own started: the one that was there is. It
    is there as well where hutch was updated meanwhile."""
    programs = as_user.mkdir(project.parent / f"{project.name}-programs")
    for path in base.bin.iterdir():
        if path.is_file():
            as_user.own(shutil.copy(path, programs))
    guest, other = programs / "hutch-guest", programs / "other"
    as_user.write(other, f"#!/bin/sh\ntouch {project}/started\n")
    other.chmod(0o755)
    hutch.program = programs / "hutch"
    with hutch.popen("sh", "-c", "echo ready; read go; echo x > f") as run:
        assert run.stdout.readline() == b"ready\n"
        other.rename(guest)
        _, err = run.communicate(b"go\n", timeout=harness.PATIENCE)
        assert run.returncode == 0, err
    assert [path.name for path in project.iterdir()] == ["f"], err


@pytest.mark.parametrize("moved", ["h", "y"])
def test_a_directory_that_was_moved_before(hutch, as_user, project, run_outside, moved):
    place = as_user.mkdir(project / "y/h" if moved == "y" else project / "h")
    with hutch.popen("sh", "-c", "echo ready; read go; echo x > f", cwd=place) as run:
        assert run.stdout.readline() == b"ready\n"
        run_outside("mv", moved, "z").ok()
        _, err = run.communicate(b"go\n", timeout=harness.PATIENCE)
        assert run.returncode == 0, err
    assert len(list(project.rglob("f"))) == 1, err


def test_a_rule_about_a_mount_in_a_directory_that_was_moved_before(hutch, as_user, project, run_outside):
    deep = as_user.mkdir(project / "sub/deep")
    options = ["--deny-read", project / "sub", "--allow-write", deep, "--deny-write", f"{deep}/*.key"]
    script = "echo ready; read go; cd other/deep && echo x > a.key; echo x > plain"
    with hutch.popen("sh", "-c", script, options=options) as run:
        assert run.stdout.readline() == b"ready\n"
        run_outside("mv", "sub", "other").ok()
        _, err = run.communicate(b"go\n", timeout=harness.PATIENCE)
    assert [path.name for path in (project / "other/deep").iterdir()] == ["plain"], err


def test_more_mounts_than_one_message_carries(hutch, as_user, project):
    places = [as_user.mkdir(project.parent / f"{project.name}-{i}") for i in range(70)]
    options = [word for place in places for word in ("--allow-write", place)]
    script = "; ".join(f"echo x > {place}/f" for place in places)
    hutch.sh(script, options=options).ok()
    assert all((place / "f").exists() for place in places)
