# A supervisor that starts with the first call that the kernel holds for it.
"""Most commands change nothing that is supervised, and an agent's sandbox may wait for hours."""

import os
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
