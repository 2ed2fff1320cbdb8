# hutch vm start, stop, restart, config, reset and remove: the machines of all agents, and what they start from.
import json

import harness
import pytest

@pytest.fixture
def agent(daemon):
    name = daemon.create("backend=vm", "autonomousExec.enabled=true")
    yield name
    daemon("agent", "remove", name).ok()
    daemon("vm", "config", "autoStart", "true").ok()


def machines(daemon):
    return {one["agent"]: one["status"] for one in daemon.json("vm", "status")["machines"]}


def test_settings_are_shown_and_changed(daemon):
    usual = {"autoStart": True, "cpus": 2, "memoryGB": 2, "network": "outbound"}
    assert daemon.json("vm", "config") == usual
    assert daemon("vm", "config", "memoryGB").ok().text == "2\n"
    said = daemon("vm", "config", "memoryGB", "3").ok()
    assert "restart" in said.errors
    assert daemon.json("vm", "config") == {**usual, "memoryGB": 3}
    assert json.loads((daemon.state / "config/sandbox.json").read_text()) == {**usual, "memoryGB": 3}
    for key, value in (("cpus", "9"), ("cpus", "0"), ("memoryGB", "1.5"), ("network", "host"), ("autoStart", "yes"),
                       ("disk", "1")):
        refused = daemon("vm", "config", key, value)
        assert refused.code == 125 and key in refused.errors, refused
    assert daemon("vm", "config", "disk").code == 125
    daemon("vm", "config", "memoryGB", "2").ok()


def test_another_size_is_saved_and_what_was_written_stays(daemon, agent):
    before = daemon.json("vm", "status")
    assert before["snapshot"] and machines(daemon)[agent] == "pending"
    daemon("vm", "start", timeout=300).ok()
    assert machines(daemon)[agent] == "running"
    daemon.sh(agent, "echo kept > kept", timeout=120).ok()
    try:
        daemon("vm", "config", "cpus", "1").ok()
        daemon("vm", "config", "memoryGB", "1").ok()
        assert daemon.json("vm", "status")["snapshot"] is False
        daemon("vm", "restart", timeout=400).ok()
        assert daemon.json("vm", "status")["snapshot"] is True
        look = "cat kept; grep -c ^processor /proc/cpuinfo; grep MemTotal /proc/meminfo"
        seen = daemon.sh(agent, look).ok().text.split()
        assert seen[:2] == ["kept", "1"] and int(seen[3]) < 1 << 20, seen
        daemon("vm", "stop").ok()
        assert machines(daemon)[agent] == "stopped"
    finally:
        daemon("vm", "config", "cpus", "2").ok()
        daemon("vm", "config", "memoryGB", "2").ok()
    daemon("vm", "start", timeout=400).ok()
    assert daemon.sh(agent, "cat kept", timeout=120).ok().text == "kept\n"


def test_without_a_network_the_bridge_is_left(daemon, agent):
    daemon("vm", "config", "network", "none").ok()
    try:
        daemon("vm", "restart", timeout=300).ok()
        assert daemon.sh(agent, "hutch-host config set k v && hutch-host config get k", timeout=120).ok().text == "v\n"
        # At the proxy's port, which is where all else would go.
        said = daemon.sh(agent, "exec 2>&1; wget -T 5 -q -O - http://10.0.2.2:1023/ ; echo $http_proxy; echo over").ok()
        assert "over" in said.text
        checked = daemon("check", "--backend", "vm", "--allow-domain", "example.org", "connect", "example.org:443")
        assert checked.code == 1, checked
    finally:
        daemon("vm", "config", "network", "outbound").ok()
        daemon("vm", "stop").ok()


@pytest.mark.parametrize("wanted", ["true", "false"])
def test_machines_start_with_the_daemon(daemon, agent, wanted):
    daemon("vm", "config", "autoStart", wanted).ok()
    daemon("vm", "stop").ok()
    daemon("daemon", "stop").ok()
    daemon.json("agent", "list")
    if wanted == "true":
        harness.wait_until(lambda: machines(daemon)[agent] == "running", "the machine runs", seconds=120)
    else:
        assert machines(daemon)[agent] != "running"
        daemon.sh(agent, "true", timeout=120).ok()


def test_what_deletes_asks_first(daemon, agent):
    daemon.sh(agent, "echo mine > mine", timeout=120).ok()
    for action in ("reset", "remove"):
        refused = daemon("vm", action)
        assert refused.code == 125 and "--yes" in refused.errors, refused
    assert daemon.json("vm", "status")["provisioned"] and machines(daemon)[agent] == "running"
    assert daemon("vm", "stop", "--yes").code == 125
    daemon("vm", "reset", "--yes", timeout=400).ok()
    assert machines(daemon)[agent] == "stopped"
    assert daemon.sh(agent, "cat mine", timeout=120).ok().text == "mine\n"
    daemon("vm", "remove", "--yes").ok()
    assert not (daemon.data / "vm").exists()
    refused = daemon.sh(agent, "true")
    assert refused.code == 125 and "hutch vm provision" in refused.errors, refused
    assert (daemon.data / "workspace/agents" / agent / "mine").read_text() == "mine\n"
