# MCP on standard input and output: what a client hears without asking, in both revisions.
import pytest

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
    assert [one["name"] for one in legacy.ask("resources/list")[0]["resources"]] == ["a.txt"]
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
