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
