# What is kept of plugins when something fails half way, and what is told of it.
import json
import subprocess

import harness
from recipes import tool

SAY = [tool("say", "cat x")]


def states(daemon, agent):
    return {one["id"]: (one["state"], one.get("reason", "")) for one in daemon.json("plugin", "list", "--agent", agent)}


def numbers(daemon, id):
    shown = daemon.json("plugin", "show", id)
    return shown["numbers"], shown["number"]


def test_an_update_without_the_files_before_has_failed(daemon, agent, recipe):
    daemon("plugin", "install", recipe("Talk", files={"x": "one\n"}, tools=SAY), "--agent", agent).ok()
    daemon.sh(agent, "rm -r plugins").ok()
    broken = recipe("Talk", files={"x": "two\n"}, setup="echo broke; exit 1", tools=SAY)
    assert daemon("plugin", "install", broken, "--agent", agent).code == 125
    state, reason = states(daemon, agent)["talk"]
    assert state == "failed" and "broke" in reason
    assert "broke" in daemon("plugin", "list", "--agent", agent).ok().text
    assert daemon.tool(agent, "talk_say")["kind"] == "tool_not_found"
    assert daemon("plugin", "install", broken, "--agent", agent).code == 125
    assert states(daemon, agent)["talk"][0] == "failed"
    assert daemon.json("plugin", "update", "talk")["agents"] == [agent]
    assert states(daemon, agent)["talk"] == ("ready", "")
    assert daemon.tool(agent, "talk_say")["result"]["stdout"] == "one\n"
    daemon("plugin", "remove", "talk").ok()


def test_one_that_the_agent_made_again_and_failed(daemon, agent):
    write = "mkdir -p plugins/mine && cd plugins/mine && cat > plugin.json && echo %s > x"
    made = {"name": "Mine", "description": "mine", "tools": SAY}
    daemon.sh(agent, write % "one", options=["-i"], stdin=json.dumps(made).encode()).ok()
    assert daemon.tool(agent, "sandbox_plugin_register", plugin_id="mine")["ok"]
    daemon.sh(agent, write % "two", options=["-i"], stdin=json.dumps({**made, "setup": "exit 9"}).encode()).ok()
    assert not daemon.tool(agent, "sandbox_plugin_register", plugin_id="mine")["ok"]
    state, reason = states(daemon, agent)["mine"]
    assert state == "failed" and "exit code 9" in reason
    assert daemon.sh(agent, "cat plugins/mine/x").ok().text == "two\n"
    assert daemon.tool(agent, "mine_say")["kind"] == "tool_not_found"
    daemon("plugin", "remove", "mine").ok()


def test_what_an_agent_made_stays_restricted_elsewhere(daemon, agent):
    text = json.dumps({"name": "Mine", "description": "mine", "permissions": {"network": "outbound", "inference": True},
                       "tools": [tool("x", "true")]})
    daemon.sh(agent, "hutch-host plugin create", options=["-i"], stdin=text.encode()).ok()
    daemon("plugin", "duplicate", "mine", "Other").ok()
    for id in ("mine", "other"):
        exported = json.loads(daemon("plugin", "export", id).ok().out)
        assert exported["permissions"] == {"network": "none", "inference": False}, id
        assert exported["metadata"]["created_by"] == "agent" and exported["metadata"]["created_via"] == "host_bridge"
    second = daemon.create("autonomousExec.enabled=false")
    daemon("plugin", "install", "other", "--agent", second).ok()
    assert daemon.tool(second, "other_x")["kind"] == "tool_not_found"
    daemon("agent", "remove", second).ok()
    for id in ("mine", "other"):
        daemon("plugin", "remove", id).ok()


def test_the_library_gets_what_some_agent_has(daemon, agent, recipe):
    second = daemon.create()
    for name in (agent, second):
        daemon("plugin", "install", recipe("Talk", files={"x": "one\n"}, tools=SAY), "--agent", name).ok()
    nowhere = recipe("Talk", files={"x": "two\n"}, setup="exit 1", tools=SAY)
    assert daemon("plugin", "update", "talk", nowhere).code == 125
    assert numbers(daemon, "talk") == ([1], 1)
    daemon.sh(second, "touch broken").ok()
    two = recipe("Talk", files={"x": "two\n"}, setup="! test -e ~/broken", tools=SAY)
    update = daemon("plugin", "update", "talk", two)
    assert update.code == 125 and f"agent {second}" in update.errors and f"done for {agent}" in update.errors
    assert f"hutch: {agent}: setup" in update.errors or f"hutch: {agent}: files" in update.errors
    assert numbers(daemon, "talk") == ([1, 2], 2)
    assert daemon.tool(agent, "talk_say")["result"]["stdout"] == "two\n"
    assert daemon.tool(second, "talk_say")["result"]["stdout"] == "one\n"
    daemon("agent", "remove", second).ok()
    daemon("plugin", "remove", "talk").ok()


def test_a_narrower_version_says_what_the_wider_one_left(daemon, agent, recipe):
    daemon("plugin", "install", recipe("Talk", tools=SAY), "--agent", agent).ok()
    told = daemon("plugin", "update", "talk", recipe("Talk", tools=SAY, permissions={"network": "none"})).ok()
    assert f"hutch agent stop {agent}" in told.errors
    daemon("plugin", "remove", "talk").ok()


def test_a_rollback_that_was_killed_is_finished(own_daemon, recipe):
    agent = own_daemon.create()
    for word in ("one", "two"):
        own_daemon("plugin", "install", recipe("Talk", files={"x": f"{word}\n"}, tools=SAY), "--agent", agent).ok()
    own_daemon("daemon", "stop").ok()
    head = own_daemon.data / "plugins/talk/entry.json"
    kept = json.loads(head.read_text())
    head.write_text(json.dumps({**kept, "current": 1, "rolled_from": 2, "rolled_origin": kept["from"]}))
    harness.wait_until(lambda: "one" in json.dumps(own_daemon.tool(agent, "talk_say")), "it is finished")
    harness.wait_until(lambda: "rolled_from" not in json.loads(head.read_text()), "it is over")
    assert numbers(own_daemon, "talk") == ([1, 2], 1)


def test_what_is_damaged_is_named_and_hides_no_other(own_daemon, recipe):
    agent = own_daemon.create()
    for name in ("One", "Two"):
        own_daemon("plugin", "install", recipe(name, tools=[tool("x", "true")]), "--agent", agent).ok()
    own_daemon("daemon", "stop").ok()
    (own_daemon.data / "plugins/one/entry.json").write_text('{"cur')
    (own_daemon.data / "agents" / agent / "plugins/one.json").write_text('{"agent"')
    listed = {one["id"]: one for one in own_daemon.json("plugin", "list", "--library")}
    assert "entry.json" in listed["one"]["damaged"] and listed["two"]["number"] == 1
    assert states(own_daemon, agent)["one"][0] == "damaged" and states(own_daemon, agent)["two"][0] == "ready"
    assert own_daemon.tool(agent, "two_x")["ok"]
    own_daemon("plugin", "remove", "one").ok()
    assert list(states(own_daemon, agent)) == ["two"]
    assert [one["id"] for one in own_daemon.json("plugin", "list", "--library")] == ["two"]


def test_needs_are_told_with_the_first_call(daemon, agent, recipe):
    path = recipe("Needy", needs=["path:~/nowhere at all"], tools=[tool("x", "true")])
    installed = daemon("plugin", "install", path, "--agent", agent).ok()
    assert "hutch share" not in installed.errors and "allowRead" in installed.errors
    for _ in range(2):
        [warning] = daemon.tool(agent, "needy_x")["warnings"]
        assert "~/nowhere at all" in warning and "hutch" not in warning and "allowRead" not in warning
        assert not daemon.tool(agent, "needy_x").get("warnings")
        daemon("agent", "stop", agent).ok()
    record = daemon("audit", "--kind", "service", "--agent", agent).ok().text
    assert "allowRead" in record
    daemon("plugin", "remove", "needy").ok()


def test_a_plugin_that_floods_the_bridge_takes_its_own_share(daemon, agent, recipe):
    flood = "for i in $(seq 130); do hutch-host log x 2>/dev/null || { echo $i $?; break; }; done"
    for name in ("Loud", "Quiet"):
        daemon("plugin", "install", recipe(name, permissions={"network": "none"},
                                           tools=[tool("log", "hutch-host log x; echo $?"), tool("flood", flood)]),
               "--agent", agent).ok()
    assert daemon.tool(agent, "loud_flood")["result"]["stdout"] == "121 5\n"
    assert daemon.tool(agent, "quiet_log")["result"]["stdout"] == "0\n"
    assert daemon.sh(agent, "hutch-host log x").code == 0
    for id in ("loud", "quiet"):
        daemon("plugin", "remove", id).ok()


def test_an_agent_tries_one_plugin_at_a_time(daemon, agent):
    text = json.dumps({"name": "Slow", "description": "slow", "setup": "sleep 4", "tools": [tool("x", "true")]})
    check = ["exec", "-i", agent, "--", "sh", "-c", "hutch-host plugin check"]
    with daemon.popen(*check, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        first.stdin.write(text.encode())
        first.stdin.close()
        codes = []
        for _ in range(3):
            tried = daemon.sh(agent, "sleep 0.5; hutch-host plugin check", options=["-i"], stdin=text.encode())
            codes.append(tried.code)
        first.wait(timeout=harness.PATIENCE)
    assert 6 in codes and first.returncode == 0
    assert daemon.sh(agent, "hutch-host plugin check", options=["-i"], stdin=text.encode()).code == 0
