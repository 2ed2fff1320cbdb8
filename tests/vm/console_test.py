# What a machine writes on its console, and what becomes of one that crashes.
import json
import os
import signal

import daemons
import harness
import pytest

QEMU = "qemu-system-x86_64"


def qemus(daemon):
    found = set()
    for pid in daemons.descendants(daemon.pid()):
        try:
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == QEMU:
                found.add(pid)
        except OSError:
            continue
    return found


def machine(daemon, name):
    return next(one for one in daemon.json("vm", "status")["machines"] if one["agent"] == name)


@pytest.fixture
def agent(daemon):
    # Of a size that was not saved: it boots, and says so.
    name = daemon.create("backend=vm", "limits.memory=600M")
    yield name
    daemon("agent", "remove", name).ok()
    daemon("vm", "config", "autoStart", "true").ok()


def test_the_console_is_there_and_stays_after_the_machine(daemon, agent):
    early = daemon("vm", "console", agent)
    assert early.code == 125 and "has not started" in early.errors, early
    daemon.sh(agent, "true", timeout=300).ok()
    said = daemon("vm", "console", agent).ok().text
    assert "hutch-guest: " in said and "\r" not in said, said
    pieces = [json.loads(line) for line in daemon("vm", "console", "--json", agent).ok().text.splitlines()]
    assert "".join(piece["bytes"] for piece in pieces).replace("\r", "") == said
    with daemon.popen("vm", "console", "--follow", agent) as following:
        assert following.stdout.readline().decode() == said.splitlines(keepends=True)[0]
        assert following.poll() is None
        daemon("agent", "stop", agent).ok()
        assert following.wait(timeout=60) == 0
    assert daemon("vm", "console", agent).ok().text.startswith(said)


def test_what_has_no_console_says_so(daemon):
    name = daemon.create()
    refused = daemon("vm", "console", name)
    assert refused.code == 125 and "namespace" in refused.errors, refused
    daemon("agent", "remove", name).ok()
    assert daemon("vm", "console", "nobody").code == 125
    assert daemon("vm", "console").code == 125 and daemon("vm", "status", "--follow").code == 125


def test_one_that_crashes_starts_again_once(daemon, agent):
    daemon.sh(agent, "echo kept > kept; sync", timeout=300).ok()
    first = qemus(daemon)
    assert len(first) == 1
    os.kill(first.pop(), signal.SIGKILL)
    harness.wait_until(lambda: qemus(daemon) and machine(daemon, agent)["status"] == "running", "it runs", seconds=180)
    assert daemon.sh(agent, "cat kept", timeout=180).ok().text == "kept\n"
    assert "has crashed" in daemon.log(), daemon.log()[-2000:]
    os.kill(qemus(daemon).pop(), signal.SIGKILL)
    harness.wait_until(lambda: machine(daemon, agent)["status"] == "error", "it has ended")
    assert machine(daemon, agent)["reason"]
    with pytest.raises(AssertionError):
        harness.wait_until(lambda: machine(daemon, agent)["status"] != "error", "it starts", seconds=3)
    assert daemon.sh(agent, "cat kept", timeout=300).ok().text == "kept\n", "whoever needs it starts it"


def test_one_that_does_not_start_with_the_daemon_stays_down(daemon, agent):
    daemon("vm", "config", "autoStart", "false").ok()
    daemon.sh(agent, "true", timeout=300).ok()
    os.kill(qemus(daemon).pop(), signal.SIGKILL)
    harness.wait_until(lambda: machine(daemon, agent)["status"] == "error", "it has ended")
    with pytest.raises(AssertionError):
        harness.wait_until(lambda: machine(daemon, agent)["status"] != "error", "it starts", seconds=3)


def test_settings_that_wait_for_a_start_are_told(daemon, agent):
    daemon.sh(agent, "true", timeout=300).ok()
    try:
        daemon("vm", "config", "cpus", "1").ok()
        daemon("vm", "config", "memoryGB", "3").ok()
        # Its memory is its own.
        assert machine(daemon, agent)["pending"] == ["cpus"]
        assert "cpus: from its next start on" in daemon("vm", "status").ok().text
        daemon("agent", "stop", agent).ok()
        assert machine(daemon, agent)["pending"] == []
        daemon.sh(agent, "test $(grep -c ^processor /proc/cpuinfo) = 1", timeout=300).ok()
        assert machine(daemon, agent)["pending"] == []
    finally:
        daemon("vm", "config", "cpus", "2").ok()
        daemon("vm", "config", "memoryGB", "2").ok()
