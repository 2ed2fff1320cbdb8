# A plugin's removal ends what is at work for it, and nothing that began before it brings it back.
import json
import os
import subprocess

import pytest

import harness
import plugin_cases
from recipes import tool

RIGHTS = {"wide": {}, "narrow": {"permissions": {"network": "none"}}}
LONG = f"39{os.getpid()}"


def sleeps(seconds=LONG):
    told = subprocess.run(["pgrep", "-fx", f"sleep {seconds}"], stdout=subprocess.PIPE, text=True)
    return bool(told.stdout.split())


def place(daemon, agent):
    return daemon.data / "workspace/agents" / agent / "plugins"


def leaves_nothing(daemon, agent, id):
    assert id not in [one["id"] for one in daemon.json("plugin", "list", "--library")]
    assert daemon.json("plugin", "list", "--agent", agent) == []
    assert not (daemon.data / "agents" / agent / "plugins" / f"{id}.json").exists()
    assert list(place(daemon, agent).glob(f"*{id}*")) == []


@pytest.mark.parametrize("rights", RIGHTS)
def test_it_ends_calls_that_are_under_way(daemon, agent, recipe, rights):
    daemon("plugin", "install", recipe("Long", **RIGHTS[rights], tools=[
        {**tool("wait", f"touch began; sleep {LONG}; mkdir -p ../long; echo back > ../long/x"), "timeout": 300}]),
        "--agent", agent).ok()
    with daemon.popen("tool", "call", agent, "long_wait", stdout=subprocess.PIPE) as call:
        harness.wait_until((place(daemon, agent) / "long/began").exists, "the call is under way")
        daemon("plugin", "remove", "long").ok()
        out, _ = call.communicate(timeout=harness.PATIENCE)
    assert json.loads(out)["kind"] == "tool_not_found"
    assert not sleeps()
    leaves_nothing(daemon, agent, "long")


def test_the_agents_stop_ends_its_calls_that_are_under_way(daemon, agent, recipe):
    daemon("plugin", "install", recipe("Long", **RIGHTS["narrow"], tools=[
        {**tool("wait", f"touch began; sleep {LONG}"), "timeout": 300}]), "--agent", agent).ok()
    with daemon.popen("tool", "call", agent, "long_wait", stdout=subprocess.PIPE) as call:
        harness.wait_until((place(daemon, agent) / "long/began").exists, "the call is under way")
        daemon("agent", "stop", agent).ok()
        assert not sleeps()
        out, _ = call.communicate(timeout=harness.PATIENCE)
    assert not json.loads(out)["ok"]
    daemon("plugin", "remove", "long").ok()


@pytest.mark.parametrize("rights", RIGHTS)
def test_it_ends_a_set_up_that_is_under_way(daemon, agent, recipe, rights):
    path = recipe("Long", **RIGHTS[rights], setup=f"touch began; sleep {LONG}", tools=[tool("x", "true")])
    with daemon.popen("plugin", "install", path, "--agent", agent, stderr=subprocess.PIPE) as install:
        harness.wait_until((place(daemon, agent) / "long/began").exists, "the set-up runs")
        daemon("plugin", "remove", "long", "--agent", agent).ok()
        _, errors = install.communicate(timeout=harness.PATIENCE)
    assert install.returncode == 125 and b"removed meanwhile" in errors, errors
    assert not sleeps()
    leaves_nothing(daemon, agent, "long")


def test_a_repair_that_is_under_way_does_not_bring_it_back(daemon, agent, recipe):
    setup = f"test -e ~/first || {{ touch ~/first; exit 0; }}; touch began; sleep {LONG}"
    daemon("plugin", "install", recipe("Long", setup=setup, tools=[tool("x", "true")]), "--agent", agent).ok()
    daemon.sh(agent, "rm -r plugins").ok()
    with daemon.popen("tool", "call", agent, "long_x", stdout=subprocess.PIPE) as call:
        harness.wait_until((place(daemon, agent) / "long/began").exists, "it is installed again")
        daemon("plugin", "remove", "long").ok()
        out, _ = call.communicate(timeout=harness.PATIENCE)
    assert not json.loads(out)["ok"]
    leaves_nothing(daemon, agent, "long")


def test_what_it_left_running_writes_no_value_of_it(daemon, agent, recipe):
    path = recipe("Left", tools=[tool("get", "hutch-host config get k; echo $?")])
    daemon("plugin", "install", path, "--agent", agent).ok()
    assert daemon.sh(agent, "HUTCH_PLUGIN=left hutch-host config set k v").code == 0
    daemon("plugin", "remove", "left").ok()
    assert daemon.sh(agent, "HUTCH_PLUGIN=left hutch-host config set k v").code == 3
    daemon("plugin", "install", path, "--agent", agent).ok()
    assert daemon.tool(agent, "left_get")["result"]["stdout"] == "3\n"
    daemon("plugin", "remove", "left").ok()


def test_one_that_cannot_be_reached_keeps_no_other(daemon, recipe):
    agents = sorted(daemon.create() for _ in range(3))
    path = recipe("Spread", tools=[tool("x", "true")])
    for agent in agents:
        daemon("plugin", "install", path, "--agent", agent).ok()
    daemon("agent", "stop", agents[0]).ok()
    policy = daemon.person.write(daemon.state / "broken.json", "{}")
    daemon("agent", "set", agents[0], f"policy={policy}").ok()
    policy.write_text("nonsense")
    removed = daemon("plugin", "remove", "spread")
    assert removed.code == 1 and f"agent {agents[0]}" in removed.errors, removed
    assert removed.text == f"removed spread from the library, for {','.join(agents[1:])}\n"
    for agent in agents[1:]:
        leaves_nothing(daemon, agent, "spread")
    assert [one["state"] for one in daemon.json("plugin", "list")] == ["removing"]
    assert daemon.tool(agents[0], "spread_x")["kind"] == "tool_not_found"
    # Once it can be, it is finished.
    daemon("agent", "set", agents[0], "policy=").ok()
    daemon("plugin", "remove", "spread", "--agent", agents[0]).ok()
    leaves_nothing(daemon, agents[0], "spread")
    for agent in agents:
        daemon("agent", "remove", agent).ok()


def test_sockets_go_with_their_sandboxes(daemon, agent, recipe):
    daemon("plugin", "install", recipe("Narrow", permissions={"network": "none"},
                                       tools=[tool("log", "hutch-host log here")]), "--agent", agent).ok()
    assert daemon.tool(agent, "narrow_log")["result"]["exit_code"] == 0
    sockets = daemon.data / "bridge" / agent / "p"
    assert len(list(sockets.iterdir())) == 1
    daemon("plugin", "remove", "narrow").ok()
    assert list(sockets.iterdir()) == []


def test_sockets_of_a_daemon_that_was_killed_go(own_daemon):
    own_daemon.create(name="alice")
    own_daemon.sh("alice", "true").ok()
    own_daemon("daemon", "stop").ok()
    for name in ("ghost", "alice/p/7"):
        (own_daemon.data / "bridge" / name).mkdir(parents=True)
        (own_daemon.data / "bridge" / name / "bridge.sock").touch()
    own_daemon.sh("alice", "hutch-host log x").ok()
    assert [path.name for path in (own_daemon.data / "bridge").rglob("*")] == ["alice", "bridge.sock"]


def test_an_update_that_is_under_way_does_not_bring_it_back(daemon, agent, recipe):
    """It is done for one agent after another: whose it was is looked at once more when its turn comes."""
    other = daemon.create("autonomousExec.enabled=true")
    first, second = sorted([agent, other])
    daemon("plugin", "install", recipe("Spread", version="1", tools=[tool("x", "true")]), "--agent", agent,
           "--agent", other).ok()
    path = recipe("Spread", version="2", setup="touch began; while test ! -e ~/go; do sleep 0.1; done",
                  tools=[tool("x", "true")])
    with daemon.popen("plugin", "update", "spread", path, stderr=subprocess.PIPE) as update:
        harness.wait_until((place(daemon, first) / "spread/began").exists, "the update of the first is under way")
        daemon("plugin", "remove", "spread", "--agent", second).ok()
        for name in (first, second):
            daemon.sh(name, "touch go").ok()
        _, errors = update.communicate(timeout=harness.PATIENCE)
    assert update.returncode == 125 and b"removed meanwhile" in errors, errors
    assert daemon.json("plugin", "list", "--agent", second) == []
    assert [one["version"] for one in daemon.json("plugin", "list", "--agent", first)] == ["2"]
    daemon("plugin", "remove", "spread").ok()
    daemon("agent", "remove", other).ok()


def test_directories_that_nobody_may_write_go_as_well(daemon, any_agent, recipe):
    plugin_cases.test_directories_that_nobody_may_write_go_as_well(daemon, any_agent, recipe)
