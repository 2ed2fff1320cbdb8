# Plugins as a client of MCP meets them: tools that come and go, and the text that tells how they are made.
import http.client
import json
import shutil
import socket

import pytest

from mcp_stdio import Client, names
from recipes import recipe as made, tool

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def client_of(daemon, agent):
    client = Client(daemon, agent)
    who = {"name": "t", "version": "1"}
    said, _ = client.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=who)
    client.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return client, said


@pytest.fixture
def talk(daemon, agent):
    client, _ = client_of(daemon, agent)
    yield client
    client.close()


def test_tools_come_and_go_and_the_client_hears_of_it(daemon, agent, talk, recipe):
    path = recipe("Adder", tools=[tool("add", "echo $((PARAM_A + PARAM_B))", a="integer",
                                       b={"type": "integer", "default": "1"})])
    daemon("plugin", "install", path, "--agent", agent).ok()
    assert talk.hear() == CHANGED
    listed, before = talk.ask("tools/list")
    [offered] = [one for one in listed["tools"] if one["name"] == "adder_add"]
    assert offered["inputSchema"] == {
        "type": "object", "additionalProperties": False, "required": ["a"],
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}}}
    answer, _ = talk.ask("tools/call", name="adder_add", arguments={"a": 41})
    assert answer["structuredContent"]["result"]["stdout"] == "42\n" and not answer["isError"]
    refused, _ = talk.ask("tools/call", name="adder_add", arguments={"a": 1, "c": 2})
    assert refused["isError"] and refused["structuredContent"]["field"] == "c"
    daemon("plugin", "remove", "adder").ok()
    assert talk.hear() == CHANGED
    assert "adder_add" not in names(talk.ask("tools/list")[0])


def test_the_same_by_http(daemon, agent, recipe):
    daemon("plugin", "install", recipe("Echo", tools=[tool("say", "printf %s \"$PARAM_X\"", x="string")]), "--agent",
           agent).ok()

    def ask(method, path, body=None):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(daemon.socket))
        headers = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, f"/v1/agents/{agent}/tools{path}", body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    assert "echo_say" in [one["name"] for one in ask("GET", "")[1]["tools"]]
    assert ask("POST", "/echo_say", '{"x": "a b"}')[1]["result"]["stdout"] == "a b"
    assert ask("POST", "/echo_say", '{"y": "a b"}')[1]["field"] == "y"
    daemon("plugin", "remove", "echo").ok()
    assert ask("POST", "/echo_say", '{"x": "a b"}')[0] == 404


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_an_agent_makes_a_tool_and_calls_it_in_one_conversation(daemon, agent, talk):
    def call(name, **arguments):
        return talk.ask("tools/call", name=name, arguments=arguments)[0]["structuredContent"]
    script = "const words = process.env.PARAM_TEXT.split(' ');\nconsole.log(words.reverse().join(' '));\n"
    assert call("sandbox_write_file", path="plugins/turn/turn.js", content=script)["ok"]
    manifest = made("Turn", tools=[tool("turn", "node turn.js", text="string")])
    assert call("sandbox_write_file", path="plugins/turn/plugin.json", content=json.dumps(manifest))["ok"]
    assert call("sandbox_plugin_register", plugin_id="turn")["result"]["tools"] == [
        {"name": "turn_turn", "description": "does turn"}]
    assert call("turn_turn", text="one two three")["result"]["stdout"] == "three two one\n"
    daemon("plugin", "remove", "turn").ok()


def test_the_skill_is_a_prompt_a_resource_and_an_instruction(daemon, agent, recipe):
    client, said = client_of(daemon, agent)
    assert "# Sandbox Plugin Creator" in said["instructions"] and "prompts" in said["capabilities"]
    [prompt] = client.ask("prompts/list")[0]["prompts"]
    assert (prompt["name"], prompt["title"]) == ("sandbox-plugin-creator", "Sandbox Plugin Creator")
    text = client.ask("prompts/get", name="sandbox-plugin-creator")[0]["messages"][0]["content"]["text"]
    uri = "hutch://skill/sandbox-plugin-creator"
    assert uri in [one["uri"] for one in client.ask("resources/list")[0]["resources"]]
    [content] = client.ask("resources/read", uri=uri)[0]["contents"]
    assert content["text"] == text == daemon("skill", "show", "sandbox-plugin-creator").ok().text
    client.close()
    # One that has tools of its own is told no more, and one that may make none neither.
    daemon("plugin", "install", recipe("Some", tools=[tool("x", "true")]), "--agent", agent).ok()
    client, said = client_of(daemon, agent)
    assert "Plugin Creator" not in said["instructions"] and client.ask("prompts/list")[0]["prompts"] != []
    client.close()
    daemon("plugin", "remove", "some").ok()
    daemon("skill", "disable", "sandbox-plugin-creator").ok()
    client, said = client_of(daemon, agent)
    assert "Plugin Creator" not in said["instructions"] and client.ask("prompts/list")[0]["prompts"] == []
    client.close()
    daemon("skill", "enable", "sandbox-plugin-creator").ok()
    daemon("agent", "set", agent, "autonomousExec.pluginCreate=false").ok()
    client, said = client_of(daemon, agent)
    assert "Plugin Creator" not in said["instructions"] and client.ask("prompts/list")[0]["prompts"] == []
    client.close()


def test_the_skills_own_example_is_a_recipe(daemon, agent):
    text = daemon("skill", "show", "sandbox-plugin-creator").ok().text
    example = text.split("```json\n")[1].split("```")[0]
    told = daemon("plugin", "check", "--read-only", "-", stdin=example.encode()).ok().text
    assert told.splitlines()[1] == "tool word-tools_count"
