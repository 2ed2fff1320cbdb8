# MCP on standard input and output: what a client hears without asking, in both revisions.
import json

import pytest

import harness
from mcp_stdio import Client, names

MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


@pytest.fixture
def legacy(daemon, agent):
    client = Client(daemon, agent)
    client.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"})
    client.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    yield client
    client.close()


@pytest.fixture
def modern(daemon, agent):
    client = Client(daemon, agent)
    yield client
    client.close()


def test_an_agent_of_the_working_directory(daemon):
    here = daemon.person.mkdir(daemon.state / "a project")
    beside = daemon.person.write(daemon.state / "beside.txt", "not given")
    daemon.person.write(here / "sum.c", "int main(void) { return 0; }\n")

    def use():
        client = Client(daemon, cwd=here)
        who = {"name": "t", "version": "1"}
        client.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=who)

        def call(name, **arguments):
            return client.ask("tools/call", name=name, arguments=arguments)[0]["structuredContent"]
        return client, call

    client, call = use()
    # More of them than an agent that was created may run in a turn.
    for _ in range(12):
        assert call("sandbox_exec", command="pwd")["result"]["stdout"] == f"{here}\n"
    built = call("sandbox_exec", command=f"cc sum.c -o sum && ./sum; echo $?; echo no > {beside}")["result"]
    assert built["stdout"] == "0\n" and "beside.txt" in built["stderr"]
    assert beside.read_text() == "not given" and (here / "sum").exists()
    assert call("sandbox_read_file", path="sum.c")["result"]["path"] == str(here / "sum.c")
    assert call("sandbox_write_file", path="src/new.c", content="")["ok"] and (here / "src/new.c").exists()
    refused = call("sandbox_read_file", path=str(beside))
    assert (refused["ok"], refused["field"]) == (False, "path")
    client.close()
    # The next one in that directory is the same agent.
    client, call = use()
    assert call("sandbox_exec", command="ls")["result"]["stdout"] == "src\nsum\nsum.c\n"
    client.close()
    named = [one["name"] for one in daemon.json("agent", "list") if one["dir"] == str(here)]
    assert len(named) == 1 and named[0].startswith("a-project-"), named
    daemon("agent", "remove", named[0]).ok()
    assert (here / "sum.c").exists()


def test_tools_that_are_switched_are_told(daemon, agent, legacy):
    assert "sandbox_exec" not in names(legacy.ask("tools/list")[0])
    daemon("agent", "set", agent, "autonomousExec.enabled=true").ok()
    assert legacy.hear() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    assert "sandbox_exec" in names(legacy.ask("tools/list")[0])
    # What does not change the list is not told: the next thing that comes is the answer.
    daemon("agent", "set", agent, "autonomousExec.commandTimeout=5", "inference=true").ok()
    assert legacy.ask("ping") == ({}, [])


def test_they_hold_at_once_in_a_running_sandbox(daemon, agent, legacy):
    daemon("agent", "start", agent).ok()
    daemon("agent", "set", agent, "autonomousExec.enabled=true").ok()
    assert legacy.hear()["method"] == "notifications/tools/list_changed"
    result, _ = legacy.ask("tools/call", name="sandbox_exec", arguments={"command": "echo hi"})
    assert result["structuredContent"]["result"]["stdout"] == "hi\n"
    daemon("agent", "set", agent, "autonomousExec.enabled=false").ok()
    result, heard = legacy.ask("tools/call", name="sandbox_exec", arguments={"command": "echo hi"})
    assert result["isError"] is True
    assert "notifications/tools/list_changed" in [one["method"] for one in heard]


def test_what_is_handed_out_is_told(daemon, agent, legacy):
    daemon("agent", "set", agent, "autonomousExec.enabled=true").ok()
    assert legacy.hear()["method"] == "notifications/tools/list_changed"
    shared = daemon.tool(agent, "share_artifact", content="text", filename="a.txt")
    assert shared["ok"] is True, shared
    assert legacy.hear() == {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}
    assert [one["name"] for one in legacy.ask("resources/list")[0]["resources"]] == ["a.txt", "sandbox-plugin-creator"]
    assert daemon.tool(agent, "share_artifact", path="nothing")["ok"] is False
    assert legacy.ask("ping") == ({}, [])


def test_a_subscription_hears_what_it_asked_for(daemon, agent, modern):
    number = modern.send("subscriptions/listen", _meta=META, notifications={"toolsListChanged": True})
    acknowledged = modern.hear()
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged", acknowledged
    daemon("agent", "set", agent, "autonomousExec.enabled=true").ok()
    told = modern.hear()
    assert told["method"] == "notifications/tools/list_changed"
    assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == number
    # The other kind was not asked for.
    assert daemon.tool(agent, "share_artifact", content="text", filename="a.txt")["ok"] is True
    assert modern.ask("tools/list", _meta=META)[1] == []


def test_another_agents_changes_are_not_told(daemon, agent, legacy):
    other = daemon.create()
    daemon("agent", "set", other, "autonomousExec.enabled=true").ok()
    assert daemon.tool(other, "share_artifact", content="text", filename="a.txt")["ok"] is True
    assert legacy.ask("ping") == ({}, [])
    daemon("agent", "remove", other).ok()


def instructions(daemon, agent):
    client = Client(daemon, agent)
    answer, _ = client.ask("initialize", protocolVersion="2025-11-25", capabilities={},
                           clientInfo={"name": "t", "version": "1"})
    client.close()
    return answer["instructions"]


def test_the_instructions_say_how_secrets_are_used(daemon, agent):
    value = "a-value-of-32-bytes-for-a-secret"
    for options, name in ((["--host", "api.example.com"], "API_KEY"), (["--via", "bridge"], "DB_TOKEN")):
        daemon("secret", "set", "--agent", agent, *options, name, stdin=value.encode()).ok()
    # An agent that may not execute hears of none.
    assert "API_KEY" not in instructions(daemon, agent)
    daemon("agent", "set", agent, "autonomousExec.enabled=true").ok()
    told = instructions(daemon, agent)
    assert "sandbox_secret_set" in told and value not in told, told
    assert "- API_KEY: The variable API_KEY holds a placeholder." in told and "api.example.com" in told, told
    assert "$(hutch-host secrets get DB_TOKEN)" in told, told


def test_what_is_asked_before_the_end_of_the_input_is_answered(daemon, agent):
    """The last line without its end as well."""
    messages = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                                                     "clientInfo": {"name": "t", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "sandbox_list_directory", "arguments": {}}},
    ]
    text = "\n".join(json.dumps({"jsonrpc": "2.0", **message}) for message in messages)
    with daemon.popen("mcp", "--agent", agent) as client:
        out, err = client.communicate(text.encode(), timeout=harness.PATIENCE)
    assert client.returncode == 0 and sorted(json.loads(line)["id"] for line in out.splitlines()) == [1, 2, 3], err


def test_what_a_command_prints_is_told_to_who_asks_for_it(daemon, agent, legacy):
    daemon("agent", "set", agent, "autonomousExec.enabled=true").ok()
    assert legacy.hear()["method"] == "notifications/tools/list_changed"
    prints = {"command": "head -c 50000000 /dev/zero | tr '\\0' a"}
    result, heard = legacy.ask("tools/call", name="sandbox_exec", arguments=prints)
    assert result["structuredContent"]["ok"] is True and heard == [], heard
    legacy.ask("logging/setLevel", level="info")
    result, heard = legacy.ask("tools/call", name="sandbox_exec", arguments=prints)
    assert {one["method"] for one in heard} == {"notifications/message"} and result["structuredContent"]["ok"] is True
    told = sum(len(one["params"]["data"]) for one in heard)
    assert 1000 < told < (1 << 20) + (1 << 17)
