# Every route: agents, commands, processes, files, tools, events.
import base64
import json
import pathlib
import random
import socket
import threading

import pytest

import daemons
from api import read_some, text_of, wait_until


def test_agents_from_birth_to_end(api):
    made = api.post("/v1/agents", {"name": "alice", "limits": {"memory": "256M"},
                                   "autonomousExec": {"enabled": True}}).ok(201)
    assert made["limits"]["memory"] == "256M" and made["autonomousExec"]["enabled"] is True
    assert made["status"] == "pending"
    assert api.post("/v1/agents", {"name": "alice"}).error(409) == "conflict"
    assert api.post("/v1/agents", {"name": "al-ice"}).error(409) == "conflict"
    assert "alice" in [one["name"] for one in api.get("/v1/agents").ok()["agents"]]
    changed = api.request("PATCH", "/v1/agents/alice", data={"limits": {"pids": "64"}, "inference": True}).ok()
    assert changed["limits"]["pids"] == "64" and changed["inference"] is True
    assert api.request("PATCH", "/v1/agents/alice", data={"nothing": 1}).error(400) == "invalid_argument"
    assert api.request("PATCH", "/v1/agents/alice", data={"name": "bob"}).error(400) == "invalid_argument"
    for body in ({"backend": None}, {"osUser": None}, {"limits": {"memory": None}}, {"backend": "nope"}):
        assert api.request("PATCH", "/v1/agents/alice", data=body).error(400) == "invalid_argument"
        assert api.post("/v1/agents", {"name": "never", **body}).error(400) == "invalid_argument"
    assert api.post("/v1/agents/alice/start").ok()["status"] == "running"
    assert api.post("/v1/agents/alice/stop").ok()["status"] == "stopped"
    assert api.post("/v1/agents/alice/stop").ok()["status"] == "stopped"
    assert api.post("/v1/agents/alice/reset").ok()["status"] == "stopped"
    deleted = api.request("DELETE", "/v1/agents/alice").ok()["deleted"]
    assert any(path.endswith("/alice") for path in deleted)
    assert not any(pathlib.Path(path).exists() for path in deleted)
    assert api.request("DELETE", "/v1/agents/alice").ok() == {"deleted": []}
    for method, path in [("GET", ""), ("PATCH", ""), ("POST", "/start"), ("POST", "/stop")]:
        reply = api.request(method, f"/v1/agents/alice{path}", data={} if method == "PATCH" else None)
        assert reply.error(404) == "not_found"


def test_a_network_holds_at_once(api, agent):
    ask = {"command": "curl -s -o /dev/null -w '%{http_code}' --max-time 20 http://one.invalid/"}
    for settings, refused in (({"network": "outbound"}, False), ({"network": "none"}, True),
                              ({"network": "rules", "allowedDomains": ["one.invalid"]}, False),
                              ({"deniedDomains": ["one.invalid"], "allowedDomains": []}, True)):
        changed = api.request("PATCH", f"/v1/agents/{agent}", data=settings).ok()
        assert settings.items() <= changed.items() and "notes" not in changed, changed
        said = api.post(f"/v1/agents/{agent}/exec", ask).ok()["stdout"]
        assert (said == "403") == refused, f"{settings}: {said}"
    document = json.loads((pathlib.Path(__file__).parents[2] / "docs" / "openapi.json").read_text())
    schemas = document["components"]["schemas"]
    known = {*schemas["AgentSettings"]["properties"], *schemas["Agent"]["allOf"][1]["properties"]}
    assert set(api.get(f"/v1/agents/{agent}").ok()) <= known


def test_what_a_change_cannot_have_at_once_is_said(api):
    name = api.create(network="none")
    api.post(f"/v1/agents/{name}/start").ok()
    changed = api.request("PATCH", f"/v1/agents/{name}", data={"network": "rules"}).ok()
    assert changed["network"] == "rules"
    assert all("next start" in note for note in changed.get("notes", [])), changed
    api.request("DELETE", f"/v1/agents/{name}").ok()


def test_a_command_to_its_end(api, agent):
    done = api.post(f"/v1/agents/{agent}/exec", {"command": "cat; echo $A >&2; pwd; exit 7", "stdin": "in\n",
                                                 "env": {"A": "b c"}, "cwd": "/tmp"}).ok()
    assert done["exitCode"] == 7 and done["stdout"] == "in\n/tmp\n" and done["stderr"] == "b c\n"
    assert done["timedOut"] is False and done["stdoutOmittedBytes"] == 0
    large = "x" * 300_000
    back = api.post(f"/v1/agents/{agent}/exec", {"arguments": ["wc", "-c"], "stdin": large}).ok()
    assert back["stdout"].strip() == "300000"
    every = bytes(range(256))
    echoed = api.post(f"/v1/agents/{agent}/exec?encoding=base64",
                      {"arguments": ["cat"], "stdinBase64": base64.b64encode(every).decode()}).ok()
    assert base64.b64decode(echoed["stdoutBase64"]) == every


def test_the_working_directory_of_a_command(api, agent):
    api.post(f"/v1/agents/{agent}/exec", {"command": "mkdir sub"}).ok()
    done = api.post(f"/v1/agents/{agent}/exec", {"command": "pwd", "cwd": "sub"}).ok()
    assert done["stdout"] == f"/workspace/agents/{agent}/sub\n"
    for route in ("exec", "processes"):
        assert api.post(f"/v1/agents/{agent}/{route}", {"command": "pwd", "cwd": "no"}).error(400) == "invalid_argument"


def test_a_command_that_takes_too_long(api, agent):
    done = api.post(f"/v1/agents/{agent}/exec", {"command": "echo begun; sleep 600", "timeoutMs": 500}).ok()
    assert done["timedOut"] is True and done["exitCode"] == 124 and done["stdout"] == "begun\n"


@pytest.mark.parametrize("body", [{}, {"command": ""}, {"arguments": []}, {"arguments": [""]}, {"arguments": "ls"},
                                  {"command": "a", "arguments": ["b"]}, {"command": "a", "timeoutMs": -1},
                                  {"command": "a", "timeoutMs": "1"}, {"command": "a", "env": {"A=": "b"}},
                                  {"command": "a", "env": ["A=b"]}, {"command": "a", "nothing": 1},
                                  {"command": "a", "stdinBase64": "%"}, {"command": "a\u0000b"},
                                  {"command": "a", "stdin": "x", "stdinBase64": "eA=="}])
def test_commands_that_are_none(api, agent, body):
    for route in ["exec", "processes"]:
        assert api.post(f"/v1/agents/{agent}/{route}", body).error(400) == "invalid_argument"


def test_a_command_with_events(api, agent):
    body = {"command": "cat; echo err >&2; exit 3", "stdin": "hello"}
    with api.events("POST", f"/v1/agents/{agent}/exec", body) as events:
        seen = list(events)
    assert seen[0][0] == "started" and seen[0][1]["running"] is True
    assert text_of(seen, "stdout") == b"hello" and text_of(seen, "stderr") == b"err\n"
    assert seen[-1][0] == "exit" and seen[-1][1]["exitCode"] == 3


def test_events_come_while_it_runs(api, agent):
    with api.events("POST", f"/v1/agents/{agent}/exec", {"command": "echo one; sleep 600"}) as events:
        assert next(events)[0] == "started"
        assert text_of([next(events)], "stdout") == b"one\n"


def test_all_of_a_large_output(api, agent):
    script = "head -c 20000000 /dev/zero | tr '\\0' x"
    with api.events("POST", f"/v1/agents/{agent}/exec", {"command": script}) as events:
        assert sum(len(text_of([event], "stdout")) for event in events) == 20_000_000


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_client_that_goes_takes_its_command_along(api, agent, accept):
    body = json.dumps({"arguments": ["sleep", "4321"]}).encode()
    with api.raw() as plain:
        plain.sendall(api.head(f"POST /v1/agents/{agent}/exec HTTP/1.1", "Content-Type: application/json",
                               f"Accept: {accept}", f"Content-Length: {len(body)}") + body)
        wait_until(lambda: running(api, agent))
    wait_until(lambda: not running(api, agent))


def test_a_client_that_has_said_all_is_not_gone_on_the_unix_socket(api, agent):
    body = json.dumps({"command": "sleep 1; echo done"}).encode()
    with socket.socket(socket.AF_UNIX) as plain:
        plain.settimeout(45)
        plain.connect(str(api.socket_path))
        plain.sendall(api.head(f"POST /v1/agents/{agent}/exec HTTP/1.1", "Content-Type: application/json",
                               f"Content-Length: {len(body)}", token=False) + body)
        plain.shutdown(socket.SHUT_WR)
        assert b'"stdout":"done\\n"' in read_some(plain, b"done")
    with socket.socket(socket.AF_UNIX) as plain:
        plain.connect(str(api.socket_path))
        body = json.dumps({"arguments": ["sleep", "4321"]}).encode()
        plain.sendall(api.head(f"POST /v1/agents/{agent}/exec HTTP/1.1", "Content-Type: application/json",
                               f"Content-Length: {len(body)}", token=False) + body)
        wait_until(lambda: running(api, agent))
    wait_until(lambda: not running(api, agent))


def running(api, agent):
    return [one for one in api.get(f"/v1/agents/{agent}/processes").ok()["processes"] if one["running"]]


def test_processes(api, agent):
    path = f"/v1/agents/{agent}/processes"
    made = api.post(path, {"command": "while read line; do echo got $line; done; exit 5", "input": True}).ok(201)
    one = f"{path}/{made['id']}"
    assert made["running"] is True and api.get(one).ok()["running"] is True
    assert api.request("POST", f"{one}/stdin", body=b"a\nb\n").status == 204
    wait_until(lambda: api.get(f"{one}/output").ok()["stdout"] == "got a\ngot b\n")
    waited = api.post(f"{one}/wait?timeoutMs=10").ok()
    assert waited["running"] is True
    assert api.request("POST", f"{one}/stdin?close=true", body=b"c\n").status == 204
    ended = api.post(f"{one}/wait").ok()
    assert ended["running"] is False and ended["end"]["exitCode"] == 5
    output = api.get(f"{one}/output?encoding=base64").ok()
    assert base64.b64decode(output["stdoutBase64"]) == b"got a\ngot b\ngot c\n"
    assert api.request("POST", f"{one}/stdin", body=b"d\n").error(409) == "conflict"
    assert made["id"] in [other["id"] for other in api.get(path).ok()["processes"]]


def test_a_process_is_followed(api, agent):
    path = f"/v1/agents/{agent}/processes"
    made = api.post(path, {"command": "echo first; read x; echo $x; exit 2", "input": True}).ok(201)
    one = f"{path}/{made['id']}"
    with api.events("GET", f"{one}/output") as events:
        assert text_of([next(events)], "stdout") == b"first\n"
        api.request("POST", f"{one}/stdin", body=b"second\n")
        rest = list(events)
    assert text_of(rest, "stdout") == b"second\n" and rest[-1] == ("exit", rest[-1][1])
    assert rest[-1][1]["exitCode"] == 2
    with api.events("GET", f"{one}/output") as events:
        assert text_of(list(events), "stdout") == b"first\nsecond\n"


def test_a_process_is_ended(api, agent):
    path = f"/v1/agents/{agent}/processes"
    made = api.post(path, {"command": "trap 'exit 9' USR1; while :; do sleep 0.05; done"}).ok(201)
    one = f"{path}/{made['id']}"
    # Until the trap is there the signal itself ends it.
    wait_until(lambda: api.post(f"{one}/kill", {"signal": 10}).ok().get("end"))
    other = api.post(path, {"command": "sleep 600 & sleep 600"}).ok(201)
    killed = api.post(f"{path}/{other['id']}/kill").ok()
    assert killed["killed"] is True and killed["running"] is False
    assert api.post(f"{path}/{other['id']}/kill").ok()["killed"] is False
    for number in (1000, 0, -1, "TERM"):
        assert api.post(f"{one}/kill", {"signal": number}).error(400) == "invalid_argument"


def test_a_process_of_another_agent_is_not_there(api, agent):
    other = api.create()
    made = api.post(f"/v1/agents/{agent}/processes", {"command": "sleep 600"}).ok(201)
    assert api.get(f"/v1/agents/{other}/processes").ok()["processes"] == []
    for method, tail in [("GET", ""), ("GET", "/output"), ("POST", "/kill"), ("POST", "/wait"), ("POST", "/stdin")]:
        reply = api.request(method, f"/v1/agents/{other}/processes/{made['id']}{tail}")
        assert reply.error(404) == "not_found"
    for bad in ["0", "-1", "x", "99999999999999999999", "%2e%2e"]:
        assert api.get(f"/v1/agents/{agent}/processes/{bad}").error(404) == "not_found"
    api.request("DELETE", f"/v1/agents/{other}").ok()


def test_files(api, agent):
    every = bytes(range(256)) * 40
    name = "dir/with space ' \" $x.bin"
    made = api.request("PUT", api.files(agent, name, mode=0o640), body=every).ok(201)
    assert made["created"] is True and made["size"] == len(every) and made["mode"] == 0o640
    reply = api.get(api.files(agent, name))
    assert reply.status == 200 and reply.body == every and reply.headers["content-type"] == "application/octet-stream"
    assert api.request("PUT", api.files(agent, name), body=b"").ok(200)["created"] is False
    assert api.get(api.files(agent, name)).body == b""
    assert api.get(api.files(agent, name, stat=1)).ok()["kind"] == "file"
    listing = api.get(api.files(agent, "dir")).ok()
    assert [entry["name"] for entry in listing["entries"]] == ["with space ' \" $x.bin"] and listing["total"] == 1
    api.request("PUT", api.files(agent, "empty/below", directory=1)).ok(201)
    assert api.get(api.files(agent, "empty/below")).ok()["entries"] == []
    assert api.request("DELETE", api.files(agent, "dir")).status >= 400
    assert api.request("DELETE", api.files(agent, "dir", recursive=1)).ok()["removed"] == 2
    assert api.request("DELETE", api.files(agent, "dir")).error(404) == "not_found"
    assert api.get(api.files(agent, name)).error(404) == "not_found"


def test_a_file_larger_than_a_piece(api, agent):
    api.post(f"/v1/agents/{agent}/exec", {"command": "head -c 13000000 /dev/urandom > big; sha256sum big > sum"}).ok()
    import hashlib
    body = api.get(api.files(agent, "big")).body
    assert len(body) == 13_000_000
    assert hashlib.sha256(body).hexdigest() in api.get(api.files(agent, "sum")).body.decode()


def temporaries(api, agent):
    names = [entry["name"] for entry in api.get(api.files(agent, ".")).ok()["entries"]]
    return [name for name in names if name.startswith(".hutch-")]


@pytest.mark.parametrize("size", [4 << 20, (4 << 20) + 1, 13_000_001])
def test_a_file_is_written_whole_of_any_size(api, agent, size):
    body = random.Random(size).randbytes(size)
    made = api.request("PUT", api.files(agent, "sub/big", mode=0o600), body=body).ok(201)
    assert made["size"] == size and made["mode"] == 0o600
    assert api.get(api.files(agent, "sub/big")).body == body
    chunked = api.request("PUT", api.files(agent, "sub/big"), body=iter([body, b"end"])).ok(200)
    assert chunked["size"] == size + 3 and chunked["mode"] == 0o600
    assert temporaries(api, agent) == []


def test_a_body_that_breaks_off_leaves_what_was_there(api, agent):
    path = api.files(agent, "f")
    api.request("PUT", path, body=b"old").ok(201)
    with api.raw() as client:
        client.sendall(api.head(f"PUT {path} HTTP/1.1", "Content-Length: 99000000") + b"x" * (9 << 20))
        wait_until(lambda: temporaries(api, agent))
        assert api.get(path).body == b"old"
    wait_until(lambda: not temporaries(api, agent))
    assert api.get(path).body == b"old"


def test_a_file_beyond_the_limit_is_refused(api, agent):
    reply = api.say(api.head(f"PUT {api.files(agent, 'f')} HTTP/1.1", f"Content-Length: {(4 << 30) + 1}"))
    assert b" 413 " in reply.split(b"\r\n")[0] and b"daemon.maxUpload" in reply
    assert api.get(api.files(agent, "f")).error(404) == "not_found"


def test_large_files_take_no_memory_of_the_daemon(api, agent):
    daemon = api.process.pid
    api.request("PUT", api.files(agent, "f"), body=iter([bytes(1 << 20)] * 16)).ok(201)
    before = daemons.memory(daemon)
    made = api.request("PUT", api.files(agent, "f"), body=iter([bytes(1 << 20)] * 256)).ok(200)
    assert made["size"] == 256 << 20
    assert daemons.memory(daemon) - before < 32 << 20


@pytest.mark.parametrize("path", ["/etc/passwd", "../../etc/passwd", "a/../../..", "", "/", "x\ny",
                                  "/workspace/agents"])
def test_files_elsewhere_are_refused(api, agent, path):
    for method in ["GET", "PUT", "DELETE"]:
        assert api.request(method, api.files(agent, path), body=b"" if method == "PUT" else None).status in (400, 403)


def test_a_link_leads_nowhere_else(api, agent):
    script = "ln -s /etc/passwd out; ln -s / root; echo in > f; ln -s f in"
    api.post(f"/v1/agents/{agent}/exec", {"command": script}).ok()
    assert api.get(api.files(agent, "out")).status >= 400
    assert api.get(api.files(agent, "root/etc/passwd")).status >= 400
    assert api.request("PUT", api.files(agent, "root/tmp/x"), body=b"x").status >= 400
    assert api.get(api.files(agent, "in")).body == b"in\n"


def test_tools(api, agent):
    every = api.get("/v1/tools").ok()["tools"]
    assert "sandbox_exec" in [tool["name"] for tool in every]
    assert len(api.get(f"/v1/agents/{agent}/tools").ok()["tools"]) == len(every)
    done = api.post(f"/v1/agents/{agent}/tools/sandbox_exec", {"command": "echo hi"}).ok()
    assert done["ok"] is True and done["result"]["stdout"] == "hi\n"
    wrong = api.post(f"/v1/agents/{agent}/tools/sandbox_exec", {"command": 3}).ok()
    assert wrong["ok"] is False and wrong["kind"] == "invalid_args" and wrong["field"] == "command"
    assert api.post(f"/v1/agents/{agent}/tools/nothing", {}).error(404) == "not_found"


def test_a_turn_has_a_limit(api):
    name = api.create(autonomousExec={"enabled": True, "maxCommandsPerTurn": 2})

    def call(turn):
        path = f"/v1/agents/{name}/tools/sandbox_exec"
        return api.post(path, {"command": "true"}, headers={"Hutch-Turn": turn}).ok()["ok"]

    assert [call("one"), call("one"), call("one"), call("two")] == [True, True, False, True]
    api.request("DELETE", f"/v1/agents/{name}").ok()


def test_a_tool_of_a_client_that_goes_is_ended(api, agent):
    body = json.dumps({"command": "sleep 250", "timeout": 280}).encode()
    with api.raw() as plain:
        plain.sendall(api.head(f"POST /v1/agents/{agent}/tools/sandbox_exec HTTP/1.1", "Content-Type: application/json",
                               f"Content-Length: {len(body)}") + body)
        wait_until(lambda: running(api, agent))
    wait_until(lambda: not running(api, agent))


def test_events_of_agents(api):
    seen = []
    with api.events("GET", "/v1/events") as events:
        assert next(events)[0] == "ready"
        name = api.create()
        threading.Thread(target=lambda: (api.post(f"/v1/agents/{name}/start"), api.post(f"/v1/agents/{name}/stop"),
                                         api.request("DELETE", f"/v1/agents/{name}"))).start()
        for _, data in events:
            if data["agent"] == name:
                seen.append(data["state"])
            if data["state"] == "removed":
                break
    assert seen == ["created", "starting", "running", "stopping", "stopped", "removed"]


def test_a_listener_who_does_not_read_holds_up_nobody(api, agent):
    with api.raw() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.sendall(api.head("GET /v1/events HTTP/1.1", "Accept: text/event-stream"))
        read_some(plain, b"ready")
        with api.raw() as other:
            body = json.dumps({"arguments": ["yes"]}).encode()
            other.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            other.sendall(api.head(f"POST /v1/agents/{agent}/exec HTTP/1.1", "Content-Type: application/json",
                                   "Accept: text/event-stream", f"Content-Length: {len(body)}") + body)
            read_some(other, b"started")
            for _ in range(50):
                api.request("PATCH", f"/v1/agents/{agent}", data={"inference": True}).ok()
                assert api.post(f"/v1/agents/{agent}/exec", {"command": "echo ok"}).ok()["stdout"] == "ok\n"
