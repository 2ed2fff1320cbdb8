# Machines that start and stop again and again leave nothing.
import os

import daemons
import harness
import pytest

TURNS = 50


def resident(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.slow
def test_fifty_starts_and_stops_leave_nothing(daemon):
    agent = daemon.create("backend=vm", "autonomousExec.enabled=true")
    early = None
    for turn in range(TURNS):
        daemon.sh(agent, f"echo {turn} >> turns", timeout=180).ok()
        daemon("agent", "stop", agent).ok()
        pid = daemon.pid()
        harness.wait_until(lambda: not daemons.descendants(pid), "nothing runs any more")
        assert list((daemon.data / "vm/runs").iterdir()) == []
        if turn == 4:
            early = daemons.descriptors(pid), resident(pid)
    assert daemon.pid() == pid, "the daemon ended meanwhile"
    now = daemons.descriptors(pid), resident(pid)
    assert now[0] <= early[0] and now[1] < early[1] + (16 << 20), (early, now)
    turns = (daemon.data / "workspace/agents" / agent / "turns").read_text().split()
    assert turns == [str(turn) for turn in range(TURNS)]
    daemon("agent", "remove", agent).ok()


def test_a_full_disk_of_its_own_ends_nothing(daemon):
    """The system's disk of a machine, which is a sparse file here; the host's own directories are others."""
    agent = daemon.create("backend=vm", "autonomousExec.enabled=true")
    said = daemon.sh(agent, "cd /tmp; dd if=/dev/zero of=all bs=1M 2>&1; echo over; cat /proc/meminfo | grep MemFree",
                     timeout=180).ok().text
    assert "No space left" in said and "over" in said, said
    assert daemon.sh(agent, "rm /tmp/all; echo kept > kept; cat kept", timeout=60).ok().text == "kept\n"
    daemon("agent", "remove", agent).ok()


def test_a_full_disk_of_this_machines_ends_it_and_says_why(machines, as_user):
    """What it cannot write would be lost in silence, or it would stand still."""
    if not as_user.is_root:
        pytest.skip("root alone mounts a disk that is full soon")
    small = f"mount -t tmpfs -o size=24M none {machines.state}/data/vm/runs && exec \"$@\""
    words = [machines.program, "run", "--backend", "vm", "--network", "none", "--timeout", "150", "--", "sh", "-c",
             "dd if=/dev/zero of=all bs=1M count=100; while true; do sync; sleep 1; echo more > more; done"]
    (machines.state / "data/vm/runs").mkdir(exist_ok=True)
    ended = harness.run_in(as_user, ["unshare", "--mount", "sh", "-c", small, "sh", *words], cwd="/",
                           env={"HUTCH_STATE": str(machines.state)}, timeout=180)
    assert ended.code == 125 and "the virtual machine ended; its last words" in ended.errors, ended
    assert "EXT4-fs" in ended.errors and ended.seconds < 140, ended
