# The E2B-compatible API without a client of it: what is refused, who may, and clients that stall, vanish or come back.
import base64
import contextlib
import json
import socket
import sqlite3
import struct
import threading
import time

import pytest

import api as client
import e2b
import harness


@pytest.fixture
def sandbox(api):
    made = e2b.Sandbox(api)
    yield made
    if not made.api.process.poll():
        made.kill()


def error_of(reply, status):
    """The text of an error of the API of sandboxes."""
    said = reply.json()
    assert (reply.status, said["code"]) == (status, status), said
    return said["message"]


# --- who may ---


def test_a_key_is_asked_for(api, sandbox):
    for headers in ({}, {e2b.KEY: "wrong-key-of-nobody"}, {"Authorization": "Bearer wrong"}, {e2b.KEY: ""}):
        reply = api.request("GET", "/v2/sandboxes", headers={"Authorization": None, **headers})
        assert "X-API-KEY" in error_of(reply, 401)
    assert e2b.rest(api, "GET", "/v2/sandboxes").ok()[0]["sandboxID"] == sandbox.id
    assert api.get("/v2/sandboxes").ok()[0]["sandboxID"] == sandbox.id  # the daemon's own header does as well
    # hutch's own routes take no key of clients.
    assert api.request("GET", "/v1/agents", headers={"Authorization": None, e2b.KEY: api.token}).error(401)
    assert api.request("GET", "/nothing", headers={"Authorization": None, e2b.KEY: api.token}).error(401)


@pytest.mark.parametrize("path, headers", [
    ("/v2/sandboxes", {e2b.KEY: "wrong-key-of-nobody", "Content-Type": "application/json"}),
    ("/v2/templates", {"Content-Type": "application/json"}),
    ("/execute", {"Content-Type": "application/json"}),
    ("/process.Process/List", {"Content-Type": "application/json"}),
    ("/process.Process/Start", {"Content-Type": "application/connect+json"}),
])
def test_nobody_has_a_body_read_without_showing_a_key(api, sandbox, path, headers):
    """It is refused by its head alone, and nothing of what it says it sends is waited for or kept."""
    fields = [f"{name}: {value}" for name, value in {"E2b-Sandbox-Id": sandbox.id, **headers}.items()]
    head = api.head(f"POST {path} HTTP/1.1", *fields, "Content-Length: 8000000", token=False)
    began = time.monotonic()
    said = api.say(head, b"[" * 1000)
    assert time.monotonic() - began < 15, "it waited for the body"
    status, text = said.split(b" ", 2)[1], said.decode(errors="replace")
    if path == "/execute":
        assert status == b"404", text
    elif path.endswith("Start"):
        assert "unauthenticated" in text, text
    else:
        assert status == b"401", text


def test_a_sandbox_asks_for_its_own_token(api, sandbox):
    other = e2b.Sandbox(api)
    for token in (None, "", "wrong", other.token):
        headers = {"X-Access-Token": token}
        assert sandbox.call("process.Process/List", {}, headers).json()["code"] == "unauthenticated"
        assert error_of(api.get("/files?path=x", headers=sandbox.headers(headers)), 401)
    assert sandbox.call("process.Process/List", {}).ok() == {"processes": []}
    other.kill()
    assert error_of(api.get("/health", headers=other.headers()), 502)
    assert error_of(api.get("/health", headers={"Authorization": None}), 400)
    # The host's name chooses one too, where no header does.
    host = {"E2b-Sandbox-Id": None, "Host": f"49983-{sandbox.id}.localhost:{api.port}"}
    assert api.get("/health", headers=sandbox.headers(host)).status == 204
    elsewhere = {"Host": f"49983-{sandbox.id}.example.org"}
    assert api.get("/health", headers=sandbox.headers(elsewhere)).error(421)


def test_keys_have_sandboxes_of_their_own(api):
    keys = api.state / "config" / "api-keys"
    api.person.write(keys, "# who\nci 0123456789abcdef0123\nlab fedcba9876543210fedc\nshort abc\n", mode=0o644)
    ci, lab = "0123456789abcdef0123", "fedcba9876543210fedc"
    try:
        assert e2b.rest(api, "GET", "/v2/sandboxes", key=ci).status == 401  # others could read it
        keys.chmod(0o600)
        assert e2b.rest(api, "GET", "/v2/sandboxes", key="abc").status == 401
        own = e2b.Sandbox(api, key=ci)
        assert [one["sandboxID"] for one in e2b.rest(api, "GET", "/v2/sandboxes", key=ci).ok()] == [own.id]
        assert e2b.rest(api, "GET", "/v2/sandboxes", key=lab).ok() == []
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/pause"), ("GET", "/logs"), ("GET", "/metrics")):
            data = {} if method == "POST" else None
            error_of(e2b.rest(api, method, f"/sandboxes/{own.id}{path}", data, key=lab), 404)
        assert e2b.rest(api, "GET", f"/sandboxes/{own.id}").ok()["sandboxID"] == own.id  # the daemon's own user
        assert own.kill().status == 204
    finally:
        keys.unlink()


def test_a_page_may_not(api, sandbox):
    headers = sandbox.headers({"Origin": "https://example.org"})
    assert api.get("/files?path=x", headers=headers).error(403) == "origin_refused"


# --- what is asked wrongly ---


@pytest.mark.parametrize("body", [
    {}, {"templateID": ""}, {"templateID": 7}, {"templateID": "base", "timeout": -1},
    {"templateID": "base", "timeout": "x"},
    {"templateID": "base", "timeout": 10**12}, {"templateID": "base", "metadata": {"a": 1}},
    {"templateID": "base", "envVars": {"A=B": "x"}}, {"templateID": "base", "envVars": ["x"]},
    {"templateID": "base", "metadata": {"a": "x" * 70_000}}, {"templateID": "base", "autoResume": True}])
def test_a_wrong_wish_makes_nothing(api, body):
    assert error_of(e2b.rest(api, "POST", "/sandboxes", body), 400)
    assert e2b.rest(api, "GET", "/v2/sandboxes").ok() == [] and api.get("/v1/agents").ok()["agents"] == []


@pytest.mark.parametrize("more", [
    {"network": {"denyOut": ["0.0.0.0/0"]}}, {"allow_internet_access": False}, {"mcp": {"x": {}}},
    {"volumeMounts": [{"name": "v", "path": "/v"}]}, {"iam": {"tokens": {"a": {}}}}])
def test_what_hutch_does_not_do_is_refused(api, more):
    assert error_of(e2b.rest(api, "POST", "/v2/sandboxes", {"templateID": "base", **more}), 501)


def test_calls_that_hutch_has_no_part_of(api, sandbox):
    own = f"/sandboxes/{sandbox.id}"
    for method, path in (("GET", "/templates"), ("POST", "/v3/templates"), ("POST", f"{own}/snapshots"),
                         ("POST", f"{own}/fork"), ("GET", "/volumes"), ("GET", "/secrets"), ("PUT", f"{own}/network"),
                         ("GET", "/snapshots")):
        assert len(error_of(e2b.rest(api, method, path, {} if method != "GET" else None), 501)) > 20


@pytest.mark.parametrize("message,code", [
    ({}, "invalid_argument"), ({"process": {}}, "invalid_argument"), ({"process": {"cmd": 7}}, "invalid_argument"),
    ({"process": {"cmd": "/nothing/there"}}, "invalid_argument"),
    ({"process": {"cmd": "true", "args": "x"}}, "invalid_argument"),
    ({"process": {"cmd": "true", "envs": {"": "x"}}}, "invalid_argument"),
    ({"process": {"cmd": "true", "cwd": "/nothing"}}, "invalid_argument"),
    ({"process": {"cmd": "a\0b"}}, "invalid_argument"),
    ({"process": {"cmd": "true"}, "pty": {"size": {"rows": 0, "cols": 80}}}, "invalid_argument"),
    ({"process": {"cmd": "true"}, "stdin": "x"}, "invalid_argument"),
    ([], "invalid_argument")])
def test_a_wrong_start_starts_nothing(sandbox, message, code):
    stream = sandbox.stream("process.Process/Start", message)
    assert list(stream) == [] and stream.error["code"] == code and stream.error["message"]
    assert sandbox.pids() == []


@pytest.mark.parametrize("body", [
    b"", b"{}", b"\0\0\0", struct.pack(">BI", 0, 10) + b"{}", struct.pack(">BI", 0, 2**31) + b"{}",
    struct.pack(">BI", 8, 2) + b"{}", e2b.envelope({"process": {"cmd": "true"}}) + b"x", e2b.envelope(b"nonsense"),
    e2b.envelope(b"[" * 100_000)])
def test_a_body_that_is_no_envelope(sandbox, body):
    stream = sandbox.stream("process.Process/Start", None, body=body)
    assert list(stream) == [] and stream.error["code"] == "invalid_argument"


def test_other_encodings_are_told_so(api, sandbox):
    packed = struct.pack(">BI", 1, 2) + b"{}"
    stream = sandbox.stream("process.Process/Start", None, body=packed)
    assert list(stream) == [] and stream.error["code"] == "unimplemented"
    start = "process.Process/Start"
    for path, kind in ((start, "application/connect+proto"), ("process.Process/List", "application/proto"),
                       ("files?path=x", "text/plain"), ("process.Process/StreamInput", "application/json")):
        reply = api.request("POST", f"/{path}", body=b"x", headers=sandbox.headers({"Content-Type": kind}))
        assert reply.status in (400, 415), (path, reply.body)


def test_calls_about_processes_that_are_not_there(sandbox):
    for method, more in (("SendInput", {"input": {"stdin": "eA=="}}), ("SendSignal", {"signal": "SIGNAL_SIGKILL"}),
                         ("CloseStdin", {}), ("Update", {"pty": {"size": {"rows": 1, "cols": 1}}})):
        for process, code in (({"pid": 99999}, "not_found"), ({"tag": "x"}, "not_found"), ({}, "invalid_argument"),
                              ({"pid": -1}, "invalid_argument"), ({"pid": "x"}, "invalid_argument")):
            reply = sandbox.call(f"process.Process/{method}", {"process": process, **more})
            assert reply.json()["code"] == code, (method, process, reply.body)
    stream = sandbox.stream("process.Process/Connect", {"process": {"pid": 99999}})
    assert list(stream) == [] and stream.error["code"] == "not_found"


# --- processes ---


def test_a_command_is_as_it_asks(sandbox):
    line = "echo $0 $A; echo e >&2; pwd; exit 7"
    pid, out, err, end = sandbox.run(line, process={"cwd": "/tmp", "envs": {"A": "b c"}})
    assert (out, err) == (b"/bin/bash b c\n/tmp\n", b"e\n") and pid > 1
    assert end == {"exitCode": 7, "exited": True, "status": "exit status 7"}
    _, out, _, end = sandbox.run("kill -TERM $$")
    assert (end["exited"], end["exitCode"], end["error"]) == (False, 143, "signal: 15")
    assert sandbox.run("cat")[1] == b""  # without an input there is none


def test_a_login_shell_is_worked_out_once_and_again_when_its_files_change(sandbox):
    counted = "echo x >> ~/logins; export FROM_PROFILE=yes PATH=$PATH:/opt/of-profile"
    sandbox.run(f"echo '{counted}' > ~/.bash_profile")
    for _ in range(3):
        assert sandbox.run("echo $FROM_PROFILE; echo $PATH | grep -o /opt/of-profile")[1] == b"yes\n/opt/of-profile\n"
    assert sandbox.run("wc -l < ~/logins")[1].strip() == b"1"
    sandbox.run("echo 'export ADDED=later' >> ~/.bash_profile")
    assert sandbox.run("echo $ADDED")[1] == b"later\n"


def test_input_by_calls_and_by_a_stream(api, sandbox):
    stream = sandbox.start("cat; echo over", stdin=True, tag="typed")
    pid = next(stream)["event"]["start"]["pid"]
    assert sandbox.call("process.Process/List", {}).ok()["processes"][0]["tag"] == "typed"
    chosen = {"process": {"tag": "typed"}}
    sandbox.call("process.Process/SendInput", {**chosen, "input": {"stdin": "b25lCg=="}}).ok()
    many = b"".join(e2b.envelope(message) for message in (
        {"start": {"process": {"pid": pid}}}, {"keepalive": {}}, {"data": {"input": {"stdin": "dHdv"}}},
        {"data": {"input": {"stdin": "Cg"}}}))
    answer = sandbox.stream("process.Process/StreamInput", None, body=many + e2b.envelope({}, 2))
    assert list(answer) == [{}] and answer.error is None
    for wrong in (e2b.envelope({"data": {"input": {"stdin": ""}}}), b"\0\0", e2b.envelope(b"no")):
        answer = sandbox.stream("process.Process/StreamInput", None, body=wrong)
        assert list(answer) == [] and answer.error["code"] == "invalid_argument"
    sandbox.call("process.Process/CloseStdin", {"process": {"pid": pid}}).ok()
    assert stream.run()[1] == b"one\ntwo\nover\n"
    assert sandbox.call("process.Process/SendInput", {**chosen, "input": {"stdin": "eA=="}}).status >= 400


def test_a_client_that_vanishes_finds_its_process_again(sandbox):
    stream = sandbox.start("echo one; read x; for i in 1 2 3; do echo $i; done; read x; echo last; exit 5", stdin=True)
    pid = next(stream)["event"]["start"]["pid"]
    assert base64.b64decode(next(stream)["event"]["data"]["stdout"]) == b"one\n"
    stream.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    stream.close()  # a reset in the middle of the stream
    # What it writes while nobody is there is told to the next.
    chosen = {"process": {"pid": pid}}
    sandbox.call("process.Process/SendInput", {**chosen, "input": {"stdin": "Cg=="}}).ok()
    time.sleep(0.5)
    again = sandbox.stream("process.Process/Connect", chosen)
    assert next(again)["event"] == {"start": {"pid": pid}}
    assert base64.b64decode(next(again)["event"]["data"]["stdout"]) == b"1\n2\n3\n"
    again.close()
    time.sleep(0.3)
    # Its end too.
    sandbox.call("process.Process/SendInput", {**chosen, "input": {"stdin": "Cg=="}}).ok()
    harness.wait_until(lambda: sandbox.pids() == [], "it has ended")
    _, out, _, end = sandbox.stream("process.Process/Connect", chosen).run()
    assert (out, end["exitCode"]) == (b"last\n", 5)


def test_a_reader_that_stalls_delays_nobody_for_long(sandbox):
    # More than both ends of a connection and the ring hold.
    line = "read x; head -c 12000000 /dev/zero | tr '\\0' y; echo done"
    stalled = sandbox.start(line, stdin=True)
    pid = next(stalled)["event"]["start"]["pid"]
    chosen = {"process": {"pid": pid}}
    reading = sandbox.stream("process.Process/Connect", chosen)
    next(reading)
    sandbox.call("process.Process/SendInput", {**chosen, "input": {"stdin": "Cg=="}}).ok()
    _, out, _, end = reading.run()
    assert end and end["exitCode"] == 0, (len(out), reading.error)
    assert out == b"y" * 12_000_000 + b"done\n"
    # The stalled one holds up no other command either.
    assert sandbox.run("echo free")[1] == b"free\n"
    # It is still served, which one that was waited for (30 s) would not be: it hears that it has missed something.
    told = sum(len(base64.b64decode(event.get("data", {}).get("stdout", ""))) for event in stalled.events())
    assert told < 12_000_000 and stalled.error["code"] == "failed_precondition" and "lost" in stalled.error["message"]


def test_a_reader_that_the_machine_lets_wait_misses_nothing(sandbox):
    # The other one is ahead by all that both ends of its connection hold.
    ahead = sandbox.start("read x; head -c 6000000 /dev/zero | tr '\\0' y; echo done", stdin=True)
    pid = next(ahead)["event"]["start"]["pid"]
    chosen = {"process": {"pid": pid}}
    waiting = sandbox.stream("process.Process/Connect", chosen)
    next(waiting)
    draining = threading.Thread(target=lambda: ends.append(ahead.run()))
    ends = []
    draining.start()
    sandbox.call("process.Process/SendInput", {**chosen, "input": {"stdin": "Cg=="}}).ok()
    time.sleep(0.7)
    _, out, _, end = waiting.run()
    assert end and end["exitCode"] == 0, (len(out), waiting.error)
    assert out == b"y" * 6_000_000 + b"done\n"
    draining.join()
    assert ends[0][1] == out


def test_a_lone_slow_reader_slows_the_process_and_misses_nothing(sandbox):
    stream = sandbox.start("head -c 8000000 /dev/zero | tr '\\0' y; touch /tmp/written")
    next(stream)
    time.sleep(1.5)
    assert sandbox.run("test -e /tmp/written; echo $?")[1] == b"1\n"
    assert stream.run()[1] == b"y" * 8_000_000


def test_a_time_limit_ends_the_whole_tree(sandbox):
    stream = sandbox.start("(setsid sleep 4321 &) ; sleep 4321", headers={"Connect-Timeout-Ms": "700"})
    messages = list(stream)
    assert messages[0]["event"]["start"]["pid"] and stream.error["code"] == "deadline_exceeded"
    assert sandbox.run("pgrep -fc '^sleep 4321'")[1].strip() == b"0"


def test_a_kill_leaves_no_orphans(api, sandbox):
    stream = sandbox.start("(setsid sleep 5432 &) ; sleep 5432 & wait")
    pid = next(stream)["event"]["start"]["pid"]
    harness.wait_until(lambda: sandbox.run("pgrep -fc '^sleep 5432'")[1].strip() == b"2", "both run")
    sandbox.call("process.Process/SendSignal", {"process": {"pid": pid}, "signal": "SIGNAL_SIGKILL"}).ok()
    assert stream.run()[3]["exited"] is False
    assert sandbox.run("pgrep -fc '^sleep 5432'")[1].strip() == b"0"
    for signal in ("SIGNAL_SIGHUP", 0, 1, "x"):
        reply = sandbox.call("process.Process/SendSignal", {"process": {"pid": pid}, "signal": signal})
        assert reply.json()["code"] == "invalid_argument"
    left = sandbox.start("sleep 6543")
    next(left)
    sandbox.kill()
    assert harness.processes_with("sleep\0006543") == []
    assert api.get(f"/v1/agents/{sandbox.agent}").error(404)
    _, _, _, end = left.run()
    assert end["exited"] is False


def test_what_nothing_happens_on_says_so(sandbox):
    stream = sandbox.start("sleep 3", headers={"Keepalive-Ping-Interval": "1"})
    events = [next(iter(event)) for event in stream.events()]
    assert events[0] == "start" and events[-1] == "end" and events.count("keepalive") >= 1


def test_many_at_once(sandbox):
    outs = {}

    def one(number):
        outs[number] = sandbox.run(f"echo {number}")[1]

    threads = [threading.Thread(target=one, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outs == {number: f"{number}\n".encode() for number in range(40)}


# --- files ---


def form(parts, boundary="B"):
    body = b""
    for name, filename, content in parts:
        shown = f'; filename="{filename}"' if filename is not None else ""
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{shown}\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def upload(sandbox, body, headers, path=""):
    return sandbox.api.request("POST", f"/files?path={path}", body=body, headers=sandbox.headers(headers))


def test_forms(api, sandbox):
    large = b"\r\n--Bx\r\n" * 1_000_000
    body, headers = form([("file", "/tmp/one", b"1"), ("other", None, b"x"), ("file", "two%22", large)], "frontier7")
    written = upload(sandbox, body, headers).ok()
    home = sandbox.run("echo ~")[1].decode().strip()
    assert [one["path"] for one in written] == ["/tmp/one", f"{home}/two\""]
    assert api.get("/files?path=two%22", headers=sandbox.headers()).body == large
    assert error_of(upload(sandbox, *form([("file", None, b"x")])), 400)
    assert error_of(upload(sandbox, *form([("other", "x", b"x")])), 400)
    assert error_of(upload(sandbox, *form([("file", "a", b"x"), ("file", "b", b"x")]), path="c"), 400)
    # One that breaks off leaves what was there.
    assert error_of(upload(sandbox, body[:4_000_000], headers), 400)
    assert api.get("/files?path=two%22", headers=sandbox.headers()).body == large
    assert error_of(upload(sandbox, b"x", {"Content-Type": "multipart/form-data"}), 400)
    gzip = {"Content-Type": "application/octet-stream", "Content-Encoding": "gzip"}
    assert error_of(upload(sandbox, b"x", gzip, "a"), 415)


def test_files_are_those_of_the_sandbox(api, sandbox):
    get = lambda path: api.get(f"/files?path={path}", headers=sandbox.headers())
    assert error_of(get("/nothing"), 404) and error_of(get("/tmp"), 400)
    raw = {"Content-Type": "application/octet-stream"}
    assert error_of(upload(sandbox, b"x", raw, "/usr/bin/of-e2b"), 403)
    assert error_of(upload(sandbox, b"x", raw), 400)
    sandbox.run("ln -s /etc/hostname link; ln -s loop loop; mkfifo pipe; echo hidden > /tmp/secret")
    # A link is followed as the sandbox sees it; nothing is followed on the host.
    assert get("link").status in (200, 404)
    assert error_of(get("loop"), 400) and error_of(get("pipe"), 400)
    assert get("/tmp/secret").body == b"hidden\n"
    call = lambda method, **message: sandbox.call(f"filesystem.Filesystem/{method}", message)
    assert call("Stat", path="link").ok()["entry"]["symlinkTarget"] == "/etc/hostname"
    assert call("Stat", path="").ok()["entry"]["type"] == "FILE_TYPE_DIRECTORY"
    assert call("Stat", path="a" * 5000).json()["code"] == "invalid_argument"
    assert call("MakeDir", path="pipe").json()["code"] == "invalid_argument"
    assert call("MakeDir", path="/usr/x").json()["code"] == "permission_denied"
    assert call("Move", source="nothing", destination="x").json()["code"] == "not_found"
    assert call("ListDir", path="/", depth=100).json()["code"] == "invalid_argument"
    assert call("Remove", path="nothing").ok() == {}
    stat = call("Stat", path="/tmp/secret").ok()["entry"]
    assert (stat["size"], stat["permissions"][:4], stat["mode"] & 0o600) == ("7", "-rw-", 0o600)


def test_watchers_that_are_asked(sandbox):
    call = lambda method, **message: sandbox.call(f"filesystem.Filesystem/{method}", message)
    sandbox.run("mkdir -p d/e; echo x > d/old")
    watcher = call("CreateWatcher", path="d", recursive=True).ok()["watcherId"]
    assert call("GetWatcherEvents", watcher_id=watcher).ok() == {"events": []}
    sandbox.run("echo x > d/e/new; mv d/old d/moved; chmod 700 d/e")
    events = {(one["name"], one["type"]) for one in call("GetWatcherEvents", watcherId=watcher).ok()["events"]}
    assert events >= {("e/new", "EVENT_TYPE_CREATE"), ("e/new", "EVENT_TYPE_WRITE"), ("old", "EVENT_TYPE_RENAME"),
                      ("moved", "EVENT_TYPE_CREATE"), ("e", "EVENT_TYPE_CHMOD")}, events
    assert call("RemoveWatcher", watcherId=watcher).ok() == {}
    assert call("GetWatcherEvents", watcherId=watcher).json()["code"] == "not_found"
    assert call("CreateWatcher", path="d/moved").json()["code"] == "invalid_argument"
    assert call("CreateWatcher", path="d/nothing").json()["code"] == "not_found"
    codes = [call("CreateWatcher", path="d").json().get("code") for _ in range(65)]
    assert codes == [None] * 64 + ["resource_exhausted"]


# --- its time ---


def test_a_timeout_ends_it(api):
    short = e2b.Sandbox(api, timeout=1)
    stream = short.start("sleep 7654")
    next(stream)
    harness.wait_until(lambda: short.rest("GET").status == 404, "it is gone")
    harness.wait_until(lambda: api.get(f"/v1/agents/{short.agent}").status == 404, "so is its agent")
    assert harness.processes_with("sleep\0007654") == []


def test_a_timeout_may_pause_it(api):
    short = e2b.Sandbox(api, timeout=1, autoPause=True, autoResume={"enabled": True})
    pid = next(short.start("sleep 8765"))["event"]["start"]["pid"]
    harness.wait_until(lambda: short.rest("GET").ok()["state"] == "paused", "it is paused")
    # It goes on by itself when somebody comes.
    assert pid in short.pids()
    assert short.rest("GET").ok()["state"] == "running"
    assert short.rest("POST", "/pause", {"memory": False}).status == 204
    assert short.pids() == []  # memory is gone, its files are not
    assert short.rest("POST", "/resume", {"timeout": 60}).status == 409
    short.kill()


def test_what_is_paused_while_others_give_it_time_stays_paused_for_the_next_daemon(api, sandbox):
    """The record that is written last is the one that holds: a stale one would have the sandbox ended at the start."""
    database = next(api.state.rglob("hutch.db"))

    def kept():
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as file:
            return file.execute("SELECT paused FROM e2b_sandboxes WHERE id = ?", (sandbox.id,)).fetchone()[0]

    for _ in range(60):
        calls = [("/timeout", {"timeout": 600})] * 4
        calls.insert(2, ("/pause", {}))
        threads = [threading.Thread(target=sandbox.rest, args=("POST", *call)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        state = sandbox.rest("GET").ok()["state"]
        assert (state, kept()) == ("paused", 1)
        sandbox.rest("POST", "/connect", {"timeout": 600}).ok()
        assert (sandbox.rest("GET").ok()["state"], kept()) == ("running", 0)


def test_a_start_beside_a_pause_stands_still_with_the_others(sandbox):
    def begin(streams):
        with contextlib.suppress(AssertionError):  # it is paused already
            streams.append(sandbox.start("exec sleep 87123"))

    def goes_on():
        rows = harness.subprocess.run(["ps", "axo", "stat=,args="], capture_output=True, check=True).stdout.decode()
        return [row for row in rows.splitlines() if row.endswith("sleep 87123") and not row.startswith("T")]

    for _ in range(25):
        streams = []
        threads = [threading.Thread(target=begin, args=(streams,)) for _ in range(4)]
        threads.insert(2, threading.Thread(target=sandbox.rest, args=("POST", "/pause", {})))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        client.wait_until(lambda: not goes_on())
        sandbox.rest("POST", "/connect", {"timeout": 600}).ok()
        for pid in sandbox.pids():
            sandbox.call("process.Process/SendSignal", {"process": {"pid": pid}, "signal": "SIGNAL_SIGKILL"})
        for stream in streams:
            stream.close()


def test_what_is_made_for_a_client_that_has_gone_goes_too(api, sandbox):
    body = json.dumps({"templateID": "base"}).encode()
    head = api.head("POST /v2/sandboxes HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}")
    for _ in range(3):
        with api.raw() as plain:
            plain.sendall(head + body)
    client.wait_until(lambda: api.get("/v1/health").ok()["connections"] == 1)
    assert [one["sandboxID"] for one in e2b.rest(api, "GET", "/v2/sandboxes").ok()] == [sandbox.id]


def test_more_time(api, sandbox):
    end = lambda: sandbox.rest("GET").ok()["endAt"]
    first = end()
    assert sandbox.rest("POST", "/timeout", {"timeout": 3600}).status == 204
    second = end()
    assert second > first
    assert sandbox.rest("POST", "/refreshes", {"duration": 60}).status == 204 and end() == second
    assert sandbox.rest("POST", "/connect", {"timeout": 60}).status == 200 and end() == second
    for path, data in (("/timeout", {}), ("/timeout", {"timeout": -1}), ("/timeout", {"timeout": 1e300}),
                       ("/refreshes", {"duration": 7200}), ("/connect", {"timeout": "soon"})):
        assert error_of(sandbox.rest("POST", path, data), 400)
    assert any("the sandbox runs" in one["line"] for one in sandbox.rest("GET", "/logs").ok()["logs"])
    sandbox.run("echo of-the-log")
    logs = e2b.rest(api, "GET", f"/v2/sandboxes/{sandbox.id}/logs?search=of-the-log&direction=backward").ok()["logs"]
    assert len(logs) == 1 and logs[0]["level"] == "info"


def test_templates(api):
    templates = api.state / "config" / "templates.json"
    api.person.write(templates, json.dumps({"small": {"limits": {"memory": "256M"}, "backend": "bwrap"},
                                            "wrong": {"nonsense": 1}, "null": None}))
    try:
        small = e2b.Sandbox(api, "small")
        assert small.rest("GET").ok()["memoryMB"] == 256 and small.run("echo x")[1] == b"x\n"
        assert api.get(f"/v1/agents/{small.agent}").ok()["backend"] == "bwrap"
        small.kill()
        assert e2b.rest(api, "POST", "/sandboxes", {"templateID": "wrong"}).status == 400
        assert e2b.rest(api, "POST", "/sandboxes", {"templateID": "null"}).status == 400
        assert error_of(e2b.rest(api, "POST", "/sandboxes", {"templateID": "other"}), 404)
        of_backend = e2b.Sandbox(api, "namespace")
        of_backend.kill()
    finally:
        templates.unlink()


def test_a_new_daemon_has_them_again(base, api):
    own = client.Api(base, api.person)
    try:
        kept = e2b.Sandbox(own, metadata={"a": "b"})
        removed = e2b.Sandbox(own)
        kept.run("echo kept > file")
        own("agent", "remove", removed.agent).ok()
        assert removed.rest("GET").status == 404
        harness.os.kill(own.process.pid, 9)
        own.process.wait()
        own.process = harness.start_in(own.person, [own.program, "serve", "--listen", f"127.0.0.1:{own.port}",
                                                    "--token-file", own.token_file],
                                       env=own.environment(), stderr=own.log, stdout=own.log)
        harness.wait_until(lambda: _listens(own.port), "it serves again")
        assert [one["metadata"] for one in e2b.rest(own, "GET", "/v2/sandboxes").ok()] == [{"a": "b"}]
        assert kept.run("cat file")[1] == b"kept\n" and kept.pids() == []
        assert kept.kill().status == 204
    finally:
        own.stop()


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("template", ["other", "../other", "x" * 100])
@pytest.mark.parametrize("content", [None, "{}", "no JSON", "[]", '{"other": 7}', '{"other": {"nonsense": 1}}',
                                     "a directory"])
def test_errors_about_templates_name_no_path_of_the_host(api, template, content):
    templates = api.state / "config" / "templates.json"
    if content == "a directory":
        api.person.mkdir(templates)
    elif content is not None:
        api.person.write(templates, content)
    try:
        refused = e2b.rest(api, "POST", "/sandboxes", {"templateID": template})
        assert 400 <= refused.status < 600 and refused.status != 401
        text = refused.body.decode()
        assert str(api.state) not in text and str(api.person.home) not in text, text
    finally:
        if content == "a directory":
            templates.rmdir()
        elif content is not None:
            templates.unlink()


@pytest.mark.parametrize("name", ["E2b-Sandbox-Id", "X-Access-Token", "X-API-KEY", "Authorization", "e2b-sandbox-id"])
def test_who_asks_and_about_what_is_said_once(api, name):
    head = f"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{name}: a\r\n"
    answer = api.say(f"{head}{name}: b\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 400 ") and b"more than once" in answer, answer
    once = api.say(f"{head}\r\n".encode())
    assert b"more than once" not in once, once
