# What an agent's limits do to what runs in its sandbox, and that it is told.
import json

import harness
import pytest

HOG = "x = []\nwhile True: x.append(bytearray(1 << 20))"


@pytest.fixture
def limited(own_daemon):
    """An agent with 64 MiB, where a cgroup holds that."""
    probe = own_daemon("run", "--wide", "--json", "--memory", "64M", "--", "/bin/true").ok()
    if not json.loads(probe.out)["limits"].startswith("cgroup"):
        pytest.skip("no cgroup of memory can be made here")
    return own_daemon.create("limits.memory=64M")


def test_a_command_that_is_killed_for_memory_is_told_as_such(own_daemon, limited):
    hog = own_daemon.exec(limited, "/usr/bin/python3", "-c", HOG)
    assert hog.code == 137 and "limit of memory" in hog.errors, str(hog)
    process = own_daemon.detach(limited, f"exec /usr/bin/python3 -c '{HOG}'")
    harness.wait_until(lambda: not own_daemon.processes(limited)[process]["running"], "it has ended")
    told = own_daemon.processes(limited)[process]["end"]
    assert told["ended_by"] == "memory limit" and told["exit_code"] == 137, told
    # One that ends itself so, with as much memory as it wants, although others were killed before.
    own = own_daemon.sh(limited, "kill -KILL $$")
    assert own.code == 137 and "memory" not in own.errors, str(own)


def test_what_cannot_be_held_is_refused(own_daemon):
    disk = "limits.disk=1G"
    for settings in ([disk], [disk, "backend=bwrap"], ["limits.disk=much", "backend=container"]):
        refused = own_daemon("agent", "create", "nobody", *settings)
        assert refused.code != 0 and "limits.disk" in refused.errors, str(refused)
