# Questions of agents' sandboxes: by HTTP, by hutch questions and hutch answer, by MCP of both eras.
"""Whether a host is reached at all is another suite's: here it is asked about, and who is asked is looked at."""

import contextlib
import json
import os
import socket
import threading
import time

import pytest

import harness
from api import read_events, wait_until

ASK = "bash -c 'exec 3<>/dev/tcp/wanted.example/80 && read -t 2 line <&3'; echo over"
BOTH = {"Accept": "application/json, text/event-stream"}
MODERN = "2026-07-28"


class Run:
    """A command of the agent's, by HTTP, on a thread of its own."""

    def __init__(self, api, agent, command=ASK):
        self.thread = threading.Thread(target=self.work, args=(api, agent, command))
        self.thread.start()

    def work(self, api, agent, command):
        self.reply = api.post(f"/v1/agents/{agent}/exec", {"command": command})

    def end(self):
        self.thread.join(60)
        assert not self.thread.is_alive()
        return self.reply.ok()["stdout"]


@pytest.fixture
def hosts_socket(api):
    """Where a server of the host's greets."""
    directory = api.person.mkdir(api.person.home / f"greeter-{api.state.name}-{time.monotonic_ns()}")
    with socket.socket(socket.AF_UNIX) as listener:
        above = os.open(directory, os.O_PATH)
        listener.bind(f"/proc/self/fd/{above}/s.sock")
        os.close(above)
        api.person.own(directory / "s.sock")
        listener.listen()

        def greet():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    client.sendall(b"greetings")
                    client.close()

        thread = threading.Thread(target=greet)
        thread.start()
        yield directory / "s.sock"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def following(api, agent):
    return api.events("GET", f"/v1/questions?agent={agent}")


def listed(api, agent):
    return api.get(f"/v1/questions?agent={agent}").ok()["questions"]


def test_whoever_listens_is_asked(api, agent):
    with following(api, agent) as events:
        assert next(events) == ("ready", {})
        run = Run(api, agent)
        name, question = next(events)
        assert name == "question" and question["id"].startswith(f"{agent}.") and question["agent"] == agent
        assert (question["kind"], question["host"], question["port"]) == ("connect", "wanted.example", 80)
        assert question["exe"].endswith("bash") and 0 < question["leftMs"] <= 60000
        assert [one["id"] for one in listed(api, agent)] == [question["id"]]
        assert api.post(f"/v1/questions/{question['id']}", {"choice": "no"}).ok()["choice"] == "no"
        name, answered = next(events)
        assert name == "answered" and answered["choice"] == "no" and answered["by"] == "an HTTP client"
        assert run.end() == "over\n" and listed(api, agent) == []
        late = api.post(f"/v1/questions/{question['id']}", {"choice": "once"})
        assert late.error(409) == "conflict" and "by an HTTP client" in late.json()["error"]["message"]


def test_a_socket_of_the_host(api, agent, hosts_socket):
    """It is connected to once somebody says so, and not again once that is taken back."""
    client = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{hosts_socket}'); print(s.recv(9).decode())"
    command = f'python3 -c "{client}" 2>&1 | tail -1'
    with following(api, agent) as events:
        next(events)
        run = Run(api, agent, command)
        name, question = next(events)
        assert (name, question["kind"], question["path"]) == ("question", "socket", str(hosts_socket))
        api.post(f"/v1/questions/{question['id']}", {"choice": "session"}).ok()
        next(events)
        assert run.end() == "greetings\n"
        assert Run(api, agent, command).end() == "greetings\n"
        assert f"{agent}" in api("revoke", str(hosts_socket)).ok().text
        run = Run(api, agent, command)
        _, question = next(events)
        api.post(f"/v1/questions/{question['id']}", {"choice": "no"}).ok()
        assert "FileNotFoundError" in run.end() or "PermissionError" in run.end()


def test_without_anybody_the_answer_is_no(api, agent):
    assert Run(api, agent).end() == "over\n"
    assert listed(api, agent) == []


def test_what_was_open_before_is_told(api, agent):
    with following(api, agent) as events:
        next(events)
        run = Run(api, agent)
        _, question = next(events)
        with following(api, agent) as others:
            assert next(others)[0] == "ready"
            assert next(others)[1]["id"] == question["id"]
        api.post(f"/v1/questions/{question['id']}", {"choice": "once"}).ok()
        assert run.end() == "over\n"


def test_when_whoever_listens_goes_the_answer_is_no(api, agent):
    with following(api, agent) as events:
        next(events)
        run = Run(api, agent)
        next(events)
    assert run.end() == "over\n"


def test_session_holds_until_the_sandbox_stops(api, agent):
    with following(api, agent) as events:
        next(events)
        run = Run(api, agent)
        _, question = next(events)
        api.post(f"/v1/questions/{question['id']}", {"choice": "session"}).ok()
        next(events)
        run.end()
        Run(api, agent).end()
        api.post(f"/v1/agents/{agent}/stop").ok()
        run = Run(api, agent)
        name, again = next(events)
        assert name == "question" and again["id"] != question["id"], "an old answer is to nobody's question"
        api.post(f"/v1/questions/{again['id']}", {"choice": "no"}).ok()
        run.end()


def test_an_old_answer_is_nobodys_after_a_change_of_the_agent(api, agent):
    asked = []
    for _ in range(2):
        with following(api, agent) as events:
            next(events)
            run = Run(api, agent)
            _, question = next(events)
            asked.append(question["id"])
            late = api.post(f"/v1/questions/{asked[0]}", {"choice": "no"})
            assert late.status == (200 if len(asked) == 1 else 404), "it is of a sandbox that is gone"
            api.post(f"/v1/questions/{question['id']}", {"choice": "no"})
            run.end()
        api.post(f"/v1/agents/{agent}/stop").ok()
        api("agent", "set", agent, "limits.pids=500").ok()
    assert asked[0] != asked[1]


@pytest.mark.parametrize(
    "body, status, said",
    [
        ({}, 400, "choice must be text"),
        ({"choice": 1}, 400, "choice must be text"),
        ({"choice": "maybe"}, 400, "choice must be one of"),
        ({"choice": "session", "minutes": 0}, 400, "minutes must be a whole number"),
        ({"choice": "session", "minutes": "5"}, 400, "minutes must be a whole number"),
        ({"choice": "once", "minutes": 5}, 400, "minutes go with session, not with once"),
        ({"choice": "once", "more": 1}, 400, "more"),
    ],
)
def test_a_wrong_answer_changes_nothing(api, agent, body, status, said):
    with following(api, agent) as events:
        next(events)
        run = Run(api, agent)
        _, question = next(events)
        reply = api.post(f"/v1/questions/{question['id']}", body)
        assert reply.status == status and said in reply.json()["error"]["message"], reply.body
        assert len(listed(api, agent)) == 1
        api.post(f"/v1/questions/{question['id']}", {"choice": "no"}).ok()
        run.end()


def test_a_question_that_is_none(api, agent):
    for question in (f"{agent}.77", "nobody.1", "nothing", f"{agent}.x"):
        assert api.post(f"/v1/questions/{question}", {"choice": "no"}).error(404) == "not_found"
    assert api.get("/v1/questions?agent=nobody").error(404) == "not_found"


def test_by_the_command_line(api, agent):
    follow = [api.program, "questions", "--follow", "--json"]
    with harness.start_in(api.person, follow, env=api.environment()) as follower:
        # It is there once a question waits for it; until then the answer is no.
        runs = []

        def asked():
            runs.append(Run(api, agent))
            runs[-1].thread.join(1)
            return listed(api, agent)

        [question] = wait_until(asked)
        assert json.loads(follower.stdout.readline())["id"] == question["id"]
        text = api("questions").ok().text
        assert f"{question['id']}  connect wanted.example:80" in text and f"in agent {agent}" in text
        wrong = api("answer", question["id"], "maybe")
        assert wrong.code == 1 and "choice must be one of" in wrong.errors
        api("answer", question["id"], "once").ok()
        answered = json.loads(follower.stdout.readline())
        assert (answered["type"], answered["choice"]) == ("answered", "once") and "process" in answered["by"]
        for run in runs:
            run.end()
        follower.kill()


def test_revoke_can_end_the_commands_of_an_agent(api, agent, hosts_socket):
    client = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{hosts_socket}'); print(s.recv(9).decode())"
    with following(api, agent) as events:
        next(events)
        run = Run(api, agent, f'python3 -c "{client}"; sleep 1000')
        _, question = next(events)
        api.post(f"/v1/questions/{question['id']}", {"choice": "session"}).ok()
        next(events)
        assert json.loads(api("revoke", "--kill", "--json", "/none/such").text)["agents"] == []
        assert run.thread.is_alive()
        result = json.loads(api("revoke", "--kill", "--json", str(hosts_socket)).ok().text)
        assert [(one["agent"], one["ended"] >= 1) for one in result["agents"]] == [(agent, True)], result
        run.end()
    assert all(not one["running"] for one in json.loads(api("ps", "--json", agent).ok().text))


def test_a_saved_change_reaches_an_agent(api, agent):
    with following(api, agent) as events:
        next(events)
        run = Run(api, agent)
        next(events)
        api("config", "add", "network.allowedDomains", "wanted.example", "--scope", "default").ok()
        name, answered = next(events)
        assert name == "answered" and answered["by"] == "your policy"
        run.end()
        result = json.loads(api("revoke", "--json", "wanted.example").text)
        assert result["file"] is None or "default.json" in result["file"]
        api("config", "remove", "network.allowedDomains", "--scope", "default")


def test_the_record_has_it(api, agent):
    with following(api, agent) as events:
        next(events)
        run = Run(api, agent)
        _, question = next(events)
        api.post(f"/v1/questions/{question['id']}", {"choice": "once"}).ok()
        run.end()
    text = api("audit", "--json", "--type", "decision", "--agent", agent).ok().text
    assert "wanted.example:80" in text and "an HTTP client" in text


# --- MCP ---


def message(method, number, params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_a_client_of_the_first_era_is_asked(api, agent):
    params = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t"}}
    opened = api.post(f"/mcp?agent={agent}", message("initialize", 1, params), headers=BOTH)
    headers = {**BOTH, "Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
    call = message("tools/call", 2, {"name": "sandbox_exec", "arguments": {"command": ASK}})
    with api.events("POST", "/mcp", call, headers) as events:
        asked = next(data for _, data in events if data.get("method") == "elicitation/create")
        assert "wanted.example:80" in asked["params"]["message"] and agent in asked["params"]["message"]
        schema = asked["params"]["requestedSchema"]
        assert "once" in schema["properties"]["choice"]["enum"] and schema["required"] == ["choice"]
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"choice": "no"}}}
        assert api.post("/mcp", answer, headers=headers).status == 202
        done = next(data for _, data in events if data.get("id") == 2)
    assert done["result"]["structuredContent"].get("result", {}).get("stdout") == "over\n", done
    assert "the MCP client" in api("audit", "--json", "--type", "decision", "--agent", agent).ok().text


def modern(api, agent, number, capabilities, **params):
    prefix = "io.modelcontextprotocol"
    meta = {f"{prefix}/protocolVersion": MODERN, f"{prefix}/clientCapabilities": capabilities}
    sent = {**BOTH, "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "sandbox_exec"}
    params = {"name": "sandbox_exec", "arguments": {"command": ASK}, "_meta": meta, **params}
    reply = api.post(f"/mcp?agent={agent}", message("tools/call", number, params), headers=sent)
    assert reply.status == 200, reply.body
    if reply.headers["content-type"] == "application/json":
        return reply.json()
    return list(read_events(reply.body.splitlines(keepends=True)))[-1][1]


def test_a_client_of_the_second_era_calls_again(api, agent):
    first = modern(api, agent, 1, {"elicitation": {"form": {}}})["result"]
    assert first["resultType"] == "input_required"
    [(key, request)] = first["inputRequests"].items()
    assert request["method"] == "elicitation/create" and "wanted.example:80" in request["params"]["message"]
    again = {"requestState": first["requestState"], "inputResponses": {key: {"action": "decline"}}}
    second = modern(api, agent, 2, {"elicitation": {"form": {}}}, **again)["result"]
    assert second["resultType"] == "complete"
    assert second["structuredContent"].get("result", {}).get("stdout") == "over\n", second
    third = modern(api, agent, 3, {"elicitation": {"form": {}}}, **again)
    assert "of no call that waits" in third["error"]["message"]


def test_a_client_that_cannot_be_asked_is_not(api, agent):
    result = modern(api, agent, 1, {})["result"]
    assert result["resultType"] == "complete" and result["structuredContent"]["result"]["stdout"] == "over\n"
