# A command over a WebSocket: its streams, its terminal, its end, and what a client may not do.
import contextlib
import socket
import time

import pytest

import websocket
from api import wait_until
from websocket import BINARY, FIELDS, PING, TEXT, Closed, WebSocket, frame


@pytest.fixture
def connect(api, agent):
    """connect(**command) is a WebSocket on which that was said."""
    made = contextlib.ExitStack()

    def build(**command):
        plain = made.enter_context(api.raw())
        opened = WebSocket.connect(plain, api.head(f"GET /v1/agents/{agent}/exec HTTP/1.1", *FIELDS))
        if command:
            opened.say(**command)
        return opened

    with made:
        yield build


def running(api, agent):
    return [one for one in api.get(f"/v1/agents/{agent}/processes").ok()["processes"] if one["running"]]


def test_the_handshake(connect):
    # The example key's own proof is held by a unit test; this one by the same rule.
    assert b"\r\nSec-WebSocket-Accept: " in connect().answer


def test_a_command_to_its_end(connect):
    done = connect(command="echo out; echo err >&2; pwd; echo $A; exit 3", cwd="/tmp", env={"A": "b"})
    said, out, err, code = done.to_the_end()
    assert said["started"]["id"] and said["exit"]["exitCode"] == 3
    assert out == b"out\n/tmp\nb\n" and err == b"err\n" and code == 1000


def test_input_in_pieces(connect):
    talk = connect(arguments=["cat"])
    talk.write(b"one\n")
    assert talk.until(b"\n") == b"one\n"
    # In fragments, with a ping between them.
    talk.send(BINARY, b"\0t", first=BINARY)
    talk.send(PING, b"p")
    talk.send(BINARY, b"wo\n", first=0x80)
    assert talk.until(b"\n") == b"two\n"
    talk.say(type="closeInput")
    said, _, _, code = talk.to_the_end()
    assert said["exit"]["exitCode"] == 0 and code == 1000


def test_every_byte_both_ways(connect):
    talk = connect(arguments=["cat"])
    data = bytes(range(256)) * 20000
    import threading

    def feed():
        for at in range(0, len(data), 100_000):
            talk.write(data[at : at + 100_000])
        talk.say(type="closeInput")

    writer = threading.Thread(target=feed)
    writer.start()
    said, out, _, _ = talk.to_the_end()
    writer.join()
    assert out == data and said["exit"]["exitCode"] == 0


def test_signals(connect):
    # By dash: bash 5.2 sends itself SIGINT for ever when one arrives just as it begins to wait for a child.
    script = "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done"
    talk = connect(arguments=["sh", "-c", script])
    talk.until(b"ready\n")
    talk.say(type="signal", signal=2)
    said, out, _, _ = talk.to_the_end()
    assert out == b"caught\n" and said["exit"]["exitCode"] == 9


def test_a_terminal(connect):
    talk = connect(command="tty >/dev/null && stty size; read a; stty size; echo got $a $TERM",
                   terminal={"rows": 31, "columns": 97})
    talk.until(b"31 97\r\n")
    talk.say(type="resize", rows=50, columns=132)
    talk.write(b"word\r")
    said, out, _, _ = talk.to_the_end()
    assert b"50 132\r\n" in out and b"got word xterm-256color\r\n" in out and said["exit"]["exitCode"] == 0


def test_the_end_of_input_on_a_terminal(connect):
    talk = connect(arguments=["cat"], terminal={"rows": 24, "columns": 80})
    talk.write(b"line\n")
    talk.until(b"line\r\nline\r\n")
    talk.say(type="closeInput")
    assert talk.to_the_end()[0]["exit"]["exitCode"] == 0
    interrupted = connect(arguments=["sleep", "1000"], terminal={"rows": 24, "columns": 80})
    assert interrupted.hear()[0] == "started"
    interrupted.write(b"\x03")
    assert interrupted.to_the_end()[0]["exit"]["signal"] == 2


def test_timeouts_and_what_is_not_found(connect):
    said, out, _, _ = connect(command="echo begun; sleep 600", timeoutMs=500).to_the_end()
    assert said["exit"]["timedOut"] is True and said["exit"]["exitCode"] == 124 and out == b"begun\n"
    said, _, _, _ = connect(arguments=["/no/such"]).to_the_end()
    assert said["exit"]["exitCode"] == 127


@pytest.mark.parametrize("how", ["close", "gone", "reset"])
def test_a_client_that_goes_takes_its_command_along(api, agent, connect, how):
    talk = connect(command="sleep 4321 & sleep 4322")
    assert talk.hear()[0] == "started"
    wait_until(lambda: running(api, agent))
    if how == "close":
        talk.send(websocket.CLOSE, b"\x03\xe8")
        assert talk.to_the_end()[3] == 1000
    elif how == "gone":
        talk.plain.close()
    else:
        talk.plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        talk.plain.close()
    wait_until(lambda: not running(api, agent))


def test_a_client_that_does_not_read_slows_its_command(api, agent, connect):
    talk = connect(command="head -c 50000000 /dev/zero; echo done > $HOME/done")
    assert talk.hear()[0] == "started"
    time.sleep(1)
    assert api.get(api.files(agent, "done")).status == 404, "it waits"
    got = sum(len(value) for kind, value in iter(lambda: hear_or_end(talk), None) if kind == 1)
    assert got == 50_000_000
    api.get(api.files(agent, "done"))


def hear_or_end(talk):
    try:
        return talk.hear()
    except Closed:
        return None


def test_input_that_is_not_read_is_bounded(api, agent, connect):
    """The client is not read any more: it is what waits, and the daemon holds a bounded part."""
    talk = connect(arguments=["sleep", "1000"])
    assert talk.hear()[0] == "started"
    talk.plain.settimeout(1)
    sent = 0
    piece = frame(BINARY, b"\0" + b"x" * 1_000_000)
    with pytest.raises(TimeoutError):
        while sent < 200_000_000:
            talk.plain.sendall(piece)
            sent += len(piece)
    assert sent < 40_000_000
    talk.plain.close()
    wait_until(lambda: not running(api, agent))


@pytest.mark.parametrize("sent,code", [
    (frame(TEXT, b"{"), 1008),
    (frame(TEXT, b"[]"), 1008),
    (frame(TEXT, b"{}"), 1008),
    (frame(TEXT, b'{"command": "a", "stdin": "b"}'), 1008),
    (frame(TEXT, b'{"command": "a", "terminal": true}'), 1008),
    (frame(TEXT, b'{"command": "a", "terminal": {"rows": 0, "columns": 1}}'), 1008),
    (frame(TEXT, b"\xff"), 1007),
    (frame(BINARY, b"\0a"), 1008),
    (b"\x81\x02hi", 1002),
    (frame(TEXT, b"", first=0xC1), 1002),
    (frame(3, b""), 1002),
    (b"\x81\xff\x00\x00\x00\x01\x00\x00\x00\x00mask", 1009),
], ids=["no JSON", "a list", "no command", "an unknown member", "no size", "no rows", "no text", "bytes", "not masked",
        "a reserved bit", "an unknown kind", "too big"])
def test_beginnings_that_are_none(api, agent, connect, sent, code):
    talk = connect()
    talk.plain.sendall(sent)
    assert talk.to_the_end()[3] == code
    assert running(api, agent) == []


@pytest.mark.parametrize("message", [{"type": "signal", "signal": 0}, {"type": "signal", "signal": 1000},
                                     {"type": "resize", "rows": 1, "columns": 1}, {"type": "more"}, {"kind": "signal"}])
def test_messages_that_are_none(api, agent, connect, message):
    talk = connect(arguments=["sleep", "1000"])
    assert talk.hear()[0] == "started"
    talk.say(**message)
    said, _, _, code = talk.to_the_end()
    assert code == 1008 and said["error"]["code"] == "invalid_argument"
    wait_until(lambda: not running(api, agent))


def test_bytes_of_another_stream(connect):
    talk = connect(arguments=["sleep", "1000"])
    assert talk.hear()[0] == "started"
    talk.send(BINARY, b"\1x")
    assert talk.to_the_end()[3] == 1008


@pytest.mark.parametrize("fields,token,status", [
    (FIELDS, False, 401),
    ((*FIELDS, "Origin: https://evil.example"), True, 403),
    ((*FIELDS, "Origin: null"), True, 403),
    (FIELDS[1:], True, 426),
    ((*FIELDS[:2], "Sec-WebSocket-Version: 8", FIELDS[3]), True, 426),
    (FIELDS[:3], True, 400),
    ((*FIELDS[:3], "Sec-WebSocket-Key: short"), True, 400),
])
def test_who_may(api, agent, fields, token, status):
    answer = api.say(api.head(f"GET /v1/agents/{agent}/exec HTTP/1.1", *fields, "Connection: close", token=token)
                     if status == 401 else api.head(f"GET /v1/agents/{agent}/exec HTTP/1.1", *fields, token=token),
                     half_close=True)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer


def test_another_host_is_refused(api, agent):
    head = api.head(f"GET /v1/agents/{agent}/exec HTTP/1.1", *FIELDS).replace(b"Host: 127.0.0.1", b"Host: evil.example")
    assert api.say(head, half_close=True).startswith(b"HTTP/1.1 421 ")


def test_an_agent_that_is_not_there(api):
    head = api.head("GET /v1/agents/nobody/exec HTTP/1.1", *FIELDS)
    assert api.say(head, half_close=True).startswith(b"HTTP/1.1 404 ")


def test_on_the_unix_socket(api, agent):
    with socket.socket(socket.AF_UNIX) as plain:
        plain.settimeout(45)
        plain.connect(str(api.socket_path))
        talk = WebSocket.connect(plain, api.head(f"GET /v1/agents/{agent}/exec HTTP/1.1", *FIELDS, token=False))
        talk.say(command="echo hi")
        assert talk.to_the_end()[1] == b"hi\n"


def test_head_is_answered_where_get_is(api, agent):
    whole = api.get("/v1/agents")
    head = api.request("HEAD", "/v1/agents")
    assert head.status == 200 and head.body == b"" and head.headers["content-length"] == str(len(whole.body))
    api.request("PUT", api.files(agent, "f"), body=b"x" * 5000).ok()
    head = api.request("HEAD", api.files(agent, "f"))
    assert head.status == 200 and head.headers["content-length"] == "5000"
    # A stream has a head, and no end that anybody would wait for; the connection goes on.
    connection = api.connection()
    for _ in range(2):
        events = api.request("HEAD", "/v1/events", connection=connection)
        assert events.status == 200 and events.headers["content-type"] == "text/event-stream" and events.body == b""
    assert api.request("HEAD", "/v1/health", connection=connection).status == 200
    connection.close()
    assert api.request("HEAD", f"/v1/agents/{agent}/start").status == 405
    assert api.request("HEAD", "/v1/nothing").status == 404
    assert api.request("HEAD", f"/v1/agents/{agent}/exec").status == 426
    api.post(f"/v1/agents/{agent}/stop")
