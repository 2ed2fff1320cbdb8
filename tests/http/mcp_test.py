# MCP over streamable HTTP: sessions of 2025-11-25, single requests of 2026-07-28.
import json

import pytest

from api import read_events, wait_until

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
BOTH = {"Accept": "application/json, text/event-stream"}


def message(method, number=1, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def modern(api, agent, method, headers=None, **params):
    name = params.get("name") or params.get("uri")
    sent = {**BOTH, "MCP-Protocol-Version": MODERN, "Mcp-Method": method, **({"Mcp-Name": name} if name else {}),
            **(headers or {})}
    return api.post(f"/mcp?agent={agent}", message(method, _meta=META, **params), headers=sent)


class Conversation:
    """A session of the first era."""

    def __init__(self, api, agent):
        self.api, self.agent = api, agent
        opened = api.post(f"/mcp?agent={agent}", message("initialize", protocolVersion=LEGACY, capabilities={},
                                                         clientInfo={"name": "test", "version": "1"}), headers=BOTH)
        assert opened.ok()["result"]["protocolVersion"] == LEGACY
        self.id = opened.headers["mcp-session-id"]
        assert self.send({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202

    def headers(self):
        return {**BOTH, "Mcp-Session-Id": self.id, "MCP-Protocol-Version": LEGACY}

    def send(self, data):
        return self.api.post("/mcp", data, headers=self.headers())

    def call(self, name, arguments, number=1):
        return self.send(message("tools/call", number, name=name, arguments=arguments))


def test_a_session(api, agent):
    talk = Conversation(api, agent)
    names = [tool["name"] for tool in talk.send(message("tools/list")).ok()["result"]["tools"]]
    assert "sandbox_exec" in names
    done = talk.call("sandbox_exec", {"command": "echo hi"})
    result = events_of(done)[-1]["result"]
    assert result["structuredContent"]["result"]["stdout"] == "hi\n" and not result.get("isError")
    assert api.request("DELETE", "/mcp", headers=talk.headers()).status == 204
    assert talk.send(message("ping")).error(404) == "not_found"
    assert api.request("DELETE", "/mcp", headers=talk.headers()).error(404) == "not_found"


def events_of(reply):
    """The messages of an answer, whether it is JSON or events."""
    assert reply.status == 200, reply.body
    if reply.headers["content-type"] == "application/json":
        return [reply.json()]
    return [data for _, data in read_events(line + b"\n" for line in reply.body.split(b"\n"))]


def test_progress_comes_before_the_answer(api, agent):
    talk = Conversation(api, agent)
    asked = message("tools/call", 5, name="sandbox_exec", arguments={"command": "echo a; sleep 0.3; echo b"},
                    _meta={"progressToken": "p"})
    said = events_of(talk.send(asked))
    assert said[-1]["id"] == 5 and "result" in said[-1]
    progress = [one for one in said[:-1] if one["method"] == "notifications/progress"]
    assert progress and all(one["params"]["progressToken"] == "p" for one in progress)


def test_a_cancelled_call_is_ended(api, agent):
    talk = Conversation(api, agent)
    body = json.dumps(message("tools/call", 9, name="sandbox_exec", arguments={"command": "sleep 200", "timeout": 250}))
    with api.raw() as plain:
        fields = [f"{name}: {value}" for name, value in talk.headers().items()]
        plain.sendall(api.head("POST /mcp HTTP/1.1", "Content-Type: application/json",
                               f"Content-Length: {len(body)}", *fields) + body.encode())
        wait_until(lambda: running(api, agent))
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
        assert talk.send(cancelled).status == 202
        wait_until(lambda: not running(api, agent))


def running(api, agent):
    return [one for one in api.get(f"/v1/agents/{agent}/processes").ok()["processes"] if one["running"]]


def test_a_stream_of_a_session(api, agent):
    talk = Conversation(api, agent)
    with api.events("GET", "/mcp", headers=talk.headers()) as events:
        second = api.get("/mcp", headers=talk.headers())
        assert second.error(409) == "conflict"
        assert api.request("DELETE", "/mcp", headers=talk.headers()).status == 204
        assert list(events) == []
    assert api.get("/mcp").error(405) == "method_not_allowed"
    other = Conversation(api, agent)
    assert api.get("/mcp", headers={**other.headers(), "Accept": "application/json"}).error(406) == "not_acceptable"


def switch_tools(api, agent, enabled):
    api.request("PATCH", f"/v1/agents/{agent}", data={"autonomousExec": {"enabled": enabled}}).ok()


def test_changes_are_told_on_the_stream_of_a_session(api, agent):
    talk = Conversation(api, agent)
    with api.events("GET", "/mcp", headers=talk.headers()) as events:
        switch_tools(api, agent, False)
        assert next(events)[1] == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        names = [tool["name"] for tool in talk.send(message("tools/list")).ok()["result"]["tools"]]
        assert "sandbox_exec" not in names and "sandbox_read_file" in names
        switch_tools(api, agent, True)
        assert next(events)[1]["method"] == "notifications/tools/list_changed"
        talk.call("share_artifact", {"content": "text", "filename": "a.txt"})
        assert next(events)[1] == {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}


def test_changes_are_told_to_a_subscription(api, agent):
    asked = message("subscriptions/listen", 7, _meta=META, notifications={"resourcesListChanged": True})
    headers = {**BOTH, "MCP-Protocol-Version": MODERN, "Mcp-Method": "subscriptions/listen"}
    with api.events("POST", f"/mcp?agent={agent}", asked, headers=headers) as events:
        assert next(events)[1]["method"] == "notifications/subscriptions/acknowledged"
        switch_tools(api, agent, False)
        switch_tools(api, agent, True)
        shared = modern(api, agent, "tools/call", name="share_artifact",
                        arguments={"content": "text", "filename": "a.txt"})
        assert events_of(shared)[-1]["result"]["structuredContent"]["ok"] is True
        told = next(events)[1]
        assert told["method"] == "notifications/resources/list_changed", "the tools were not asked for"
        assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 7


def test_the_stream_of_events_tells_them_too(api, agent):
    with api.events("GET", f"/v1/events?agent={agent}") as events:
        assert next(events)[0] == "ready"
        switch_tools(api, agent, False)
        assert [next(events)[1]["state"] for _ in range(2)] == ["changed", "tools"]
        switch_tools(api, agent, True)
        assert [next(events)[1]["state"] for _ in range(2)] == ["changed", "tools"]
        api.post(f"/v1/agents/{agent}/tools/share_artifact", {"content": "text", "filename": "b.txt"}).ok()
        states = iter(lambda: next(events)[1]["state"], "artifacts")
        assert set(states) <= {"starting", "running"}


def test_which_agent(api, agent):
    hello = message("initialize", protocolVersion=LEGACY, capabilities={}, clientInfo={"name": "t", "version": "1"})
    assert api.post("/mcp", hello, headers=BOTH).error(400) == "invalid_argument"
    assert api.post("/mcp?agent=nobody", hello, headers=BOTH).error(404) == "not_found"
    api.post("/mcp", hello, headers={**BOTH, "Hutch-Agent": agent}).ok()
    talk = Conversation(api, agent)
    other = api.create()
    assert api.post(f"/mcp?agent={other}", message("ping"), headers=talk.headers()).error(404) == "not_found"
    assert api.post("/mcp", message("ping"), headers={**talk.headers(), "Mcp-Session-Id": "0" * 32}).status == 404
    api.request("DELETE", f"/v1/agents/{other}").ok()


def test_single_requests(api, agent):
    found = modern(api, agent, "server/discover").ok()["result"]
    assert MODERN in found["supportedVersions"]
    names = [tool["name"] for tool in modern(api, agent, "tools/list").ok()["result"]["tools"]]
    assert "sandbox_read_file" in names
    done = modern(api, agent, "tools/call", name="sandbox_exec", arguments={"command": "echo hi"})
    assert "mcp-session-id" not in done.headers
    assert events_of(done)[-1]["result"]["structuredContent"]["result"]["stdout"] == "hi\n"
    assert modern(api, agent, "no/such").status == 404
    assert modern(api, agent, "tools/list", headers={"Mcp-Method": "tools/call"}).status == 400
    assert modern(api, agent, "tools/list", headers={"MCP-Protocol-Version": "2030-01-01"}).status == 400


def test_a_single_request_whose_client_goes_is_ended(api, agent):
    body = json.dumps(message("tools/call", _meta=META, name="sandbox_exec",
                              arguments={"command": "sleep 200", "timeout": 250}))
    with api.raw() as plain:
        plain.sendall(api.head(f"POST /mcp?agent={agent} HTTP/1.1", "Content-Type: application/json",
                               f"Content-Length: {len(body)}", f"MCP-Protocol-Version: {MODERN}",
                               "Mcp-Method: tools/call", "Mcp-Name: sandbox_exec") + body.encode())
        wait_until(lambda: running(api, agent))
    wait_until(lambda: not running(api, agent))


@pytest.mark.parametrize("body", ["", "{", "[]", "3", '{"jsonrpc":"2.0"}', '{"jsonrpc":"1.0","id":1,"method":"ping"}',
                                  "[" * 2000, '{"jsonrpc":"2.0","id":{},"method":"ping"}'])
def test_messages_that_are_none(api, agent, body):
    reply = api.request("POST", f"/mcp?agent={agent}", body=body, headers={**BOTH, "Content-Type": "application/json"})
    assert reply.status == 400 and reply.json()["error"]["code"] in (-32700, -32600), reply.body


def test_sessions_are_bounded(api, agent):
    first = Conversation(api, agent)
    for _ in range(260):
        Conversation(api, agent)
    assert first.send(message("ping")).status == 404
    api.get("/v1/health").ok()


def test_real_work(api, agent):
    """A C program is written, built, mended, tested and handed out; what was handed out is read back."""
    talk = Conversation(api, agent)

    def use(name, **arguments):
        envelope = events_of(talk.call(name, arguments))[-1]["result"]["structuredContent"]
        assert envelope["ok"] is True, envelope
        return envelope["result"]

    use("sandbox_write_file", path="sum/sum.c", content=SUM)
    use("sandbox_write_file", path="sum/check.sh", content="set -e\n[ \"$(./sum 1 2 3)\" = 6 ]\necho passed\n")
    built = use("sandbox_exec", command="cd sum && cc -Wall -o sum sum.c && sh check.sh")
    assert built["exit_code"] != 0
    assert "i < argc - 1" in use("sandbox_read_file", path="sum/sum.c")["content"]
    use("sandbox_edit_file", path="sum/sum.c", old_string="i < argc - 1", new_string="i < argc")
    tested = use("sandbox_exec", command="cd sum && cc -Wall -o sum sum.c && sh check.sh")
    assert tested["exit_code"] == 0 and tested["stdout"] == "passed\n"
    use("share_artifact", path="sum/sum")
    listed = talk.send(message("resources/list"))
    resource = events_of(listed)[-1]["result"]["resources"][0]
    content = events_of(talk.send(message("resources/read", uri=resource["uri"])))[-1]["result"]["contents"][0]
    import base64
    assert base64.b64decode(content["blob"]).startswith(b"\x7fELF")


SUM = """#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  long sum = 0;
  for (int i = 1; i < argc - 1; i++) sum += atol(argv[i]);
  printf("%ld\\n", sum);
  return 0;
}
"""
