# What comes over the daemon's socket and is no call: it harms nobody but whoever sent it.
import json
import os
import socket
import struct

import pytest

import daemons
import frames
import harness

MIB = 1 << 20
VERBS = [
    "agent.create",
    "agent.list",
    "agent.show",
    "agent.set",
    "agent.start",
    "agent.stop",
    "agent.reset",
    "agent.remove",
    "agent.of_directory",
    "daemon.status",
    "exec",
    "process.spawn",
    "process.list",
    "process.logs",
    "process.wait",
    "process.kill",
    "process.write",
    "process.show",
    "process.resize",
    "tool.list",
    "tool.call",
]
ARGUMENTS = [
    "agent",
    "settings",
    "directory",
    "pid",
    "arguments",
    "environment",
    "cwd",
    "timeout_ms",
    "streams",
    "terminal",
    "rows",
    "columns",
    "modes",
    "input",
    "follow",
    "signal",
    "bytes",
    "close",
    "from_now",
    "redraw",
    "tool",
    "turn",
]
WRONG = [None, True, 0, -1, 1 << 62, 1.5, "", "x", "\0", "x" * 70_000, [], ["x"], [1], [None], [[]], {}, {"x": 1}]


@pytest.fixture
def daemon(own_daemon):
    own_daemon.names_before = own_daemon.create()
    return own_daemon


def expect_well(daemon, descriptors=None):
    """It answers, and holds nothing of those who have gone."""
    pid = daemon.pid()
    assert pid is not None
    if descriptors is not None:
        harness.wait_until(
            lambda: daemons.descriptors(pid) <= descriptors,
            f"at most {descriptors} descriptors: {daemons.descriptors(pid)}",
        )
    assert daemon.sh(daemon.names_before, "echo well").ok().text == "well\n"


def running(daemon):
    return [one for one in daemon.processes(daemon.names_before).values() if one["running"]]


def settled(daemon):
    daemon.exec(daemon.names_before, "true").ok()
    pid = daemon.pid()
    return pid, daemons.descriptors(pid)


GARBAGE = {
    "zeros": b"\0" * 100_000,
    "ones": b"\xff" * 100_000,
    "random": os.urandom(200_000),
    "too large": frames.frame(frames.CALL, size=frames.BYTES_MAX + 1),
    "largest number": struct.pack("<IHH", 0xFFFFFFFF, 0, 0),
    "unknown type": frames.frame(7, b"x"),
    "unknown largest type": frames.frame(0xFFFF, b""),
    "empty body": frames.frame(frames.CALL),
    "text longer than the frame": frames.frame(frames.CALL, struct.pack("<I", 1000) + b"{}"),
    "more than the text": frames.frame(frames.CALL, frames.text("{}") + b"more"),
    "an input without a call": frames.frame(frames.INPUT, frames.text("{}")) * 1000,
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage(daemon, kind):
    pid, before = settled(daemon)
    for _ in range(20):
        wire = frames.connect(daemon.socket)
        try:
            wire.send(GARBAGE[kind])
        except (BrokenPipeError, ConnectionResetError):
            pass
        wire.close()
    expect_well(daemon, before)
    assert daemon.pid() == pid


NO_CALLS = [
    "",
    "{",
    "[]",
    "null",
    "1",
    '"agent.list"',
    "{}",
    '{"verb":1}',
    '{"verb":""}',
    '{"verb":"nothing"}',
    "[" * 100_000,
    '{"verb":' * 5000,
    '{"verb":"agent.list","verb":"x"}',
    "\ufeff{}",
    '{"verb":"\\u0000"}',
]


@pytest.mark.parametrize("number", range(len(NO_CALLS)))
def test_json_that_is_no_call(daemon, number):
    wire = frames.connect(daemon.socket)
    wire.send(frames.frame(frames.CALL, frames.text(NO_CALLS[number])))
    kind, _ = wire.receive()
    assert kind in (frames.FAILED, frames.RESULT)
    if "agent.list" not in NO_CALLS[number]:
        assert kind == frames.FAILED
    # The connection goes on.
    assert frames.call(wire, "daemon.status")[0] == "result"
    wire.send(frames.frame(frames.CALL, frames.text(b'{"verb":"\xff\xfe"}')))
    assert wire.receive()[0] == frames.FAILED


@pytest.mark.parametrize("verb", VERBS)
def test_arguments_of_every_wrong_type(daemon, verb):
    pid, before = settled(daemon)
    wire = frames.connect(daemon.socket)
    base = {"agent": daemon.names_before, "arguments": ["true"], "tool": "sandbox_exec", "pid": "nothing"}
    if verb == "agent.remove":
        base["agent"] = "nobody"
    if verb == "agent.create":
        base["agent"] = "Wrong"
    for argument in ARGUMENTS + ["unknown"]:
        for value in WRONG:
            given = {**base, argument: value}
            if verb == "agent.of_directory" and argument == "directory" and isinstance(value, str):
                continue
            kind, answer = frames.call(wire, verb, **given)
            assert kind in ("result", "failed"), (argument, value)
            if kind == "failed":
                assert answer and "\0" not in answer
    wire.close()
    assert daemon.pid() == pid
    expect_well(daemon, before)


def test_exec_with_descriptors_that_are_no_streams(daemon):
    pid, before = settled(daemon)
    for count in (0, 1, 2, 4, 30, 64):
        read, write = os.pipe()
        wire = frames.connect(daemon.socket)
        kind, _ = frames.call(
            wire, "exec", descriptors=[write] * count, agent=daemon.names_before, arguments=["true"], streams=7
        )
        assert kind in ("failed", "gone"), count
        os.close(read)
        os.close(write)
        wire.close()
    directory, both = os.open("/", os.O_RDONLY), socket.socketpair()
    wire = frames.connect(daemon.socket)
    kind, answer = frames.call(
        wire,
        "exec",
        descriptors=[directory, both[0].fileno(), both[1].fileno()],
        agent=daemon.names_before,
        arguments=["true"],
    )
    assert kind == "result" and answer["exit_code"] == 0, answer
    os.close(directory)
    for end in both:
        end.close()
    wire.close()
    assert daemon.pid() == pid
    expect_well(daemon, before)


def test_descriptors_nobody_asked_for(daemon):
    pid, before = settled(daemon)
    wire = frames.connect(daemon.socket)
    null = os.open("/dev/null", os.O_RDWR)
    for _ in range(200):
        try:
            wire.send(frames.call_frame("daemon.status"), [null] * 60)
            if wire.receive() is None:
                break
        except (BrokenPipeError, ConnectionResetError):
            break
    half = frames.connect(daemon.socket)
    for _ in range(5):
        try:
            half.send(b"\1", [null] * 60)
        except (BrokenPipeError, ConnectionResetError):
            break
    os.close(null)
    assert daemons.descriptors(pid) < before + 300
    wire.close()
    half.close()
    expect_well(daemon, before)


def test_half_frames_hold_up_nobody(daemon):
    pid, before = settled(daemon)
    whole = frames.call_frame("daemon.status")
    waiting = []
    for cut in range(len(whole)):
        wire = frames.connect(daemon.socket)
        if cut:
            wire.send(whole[:cut])
        waiting.append((cut, wire))
    expect_well(daemon)
    for cut, wire in waiting:
        wire.send(whole[cut:])
        kind, _ = wire.receive()
        assert kind == frames.RESULT
        wire.close()
    expect_well(daemon, before)


def test_two_hundred_clients_and_bounded_memory(daemon):
    pid, before = settled(daemon)
    start = daemons.memory(pid)
    crowd = [frames.connect(daemon.socket) for _ in range(200)]
    for number, wire in enumerate(crowd):
        # A large frame that never becomes whole.
        wire.send(frames.frame(frames.CALL, b"x" * (100_000 + number), size=frames.BYTES_MAX))
    expect_well(daemon)
    assert daemons.memory(pid) - start < 200 * MIB
    for wire in crowd:
        wire.close()
    expect_well(daemon, before)
    harness.wait_until(lambda: daemons.memory(pid) - start < 40 * MIB, "memory is given back")


def test_more_clients_than_it_takes(daemon):
    pid, before = settled(daemon)
    crowd = []
    for _ in range(1200):
        try:
            crowd.append(frames.connect(daemon.socket))
        except OSError:
            break
    for wire in crowd:
        wire.close()
    expect_well(daemon, before)
    assert daemon.pid() == pid


def test_a_client_that_never_reads(daemon):
    """Its calls' answers fill its socket; nobody else waits for it."""
    pid, before = settled(daemon)
    process = daemon.detach(daemon.names_before, "yes | head -c 3000000; exec sleep 1000")
    deaf = []
    for _ in range(10):
        wire = frames.connect(daemon.socket)
        wire.send(frames.call_frame("process.logs", agent=daemon.names_before, pid=process, follow=True))
        deaf.append(wire)
        wire = frames.connect(daemon.socket)
        wire.end.settimeout(0.2)
        try:
            for _ in range(3000):
                wire.send(frames.call_frame("agent.list"))
        except OSError:
            pass
        deaf.append(wire)
    for _ in range(5):
        expect_well(daemon)
    assert daemon.pid() == pid
    daemon("kill", daemon.names_before, process).ok()
    for wire in deaf:
        wire.close()
    expect_well(daemon, before)


def test_calls_one_after_another_and_at_once(daemon):
    wire = frames.connect(daemon.socket)
    wire.send(frames.call_frame("agent.list") * 500)
    for _ in range(500):
        kind, body = wire.receive()
        assert kind == frames.RESULT and json.loads(frames.Reader(body).text())[0]["name"] == daemon.names_before
    wire.close()


def test_inputs_that_no_command_wants(daemon):
    read, write = os.pipe()
    wire = frames.connect(daemon.socket)
    wire.send(frames.call_frame("exec", agent=daemon.names_before, arguments=["sleep", "1000"]), [read, write, write])
    assert wire.receive()[0] == frames.EVENT
    for text in ("{}", "1", '{"signal":"x"}', '{"signal":0}', '{"signal":65}', '{"signal":-9}'):
        wire.send(frames.frame(frames.INPUT, frames.text(text)))
    wire.send(frames.frame(frames.INPUT, frames.text('{"signal":9}')))
    kind, body = wire.receive()
    os.close(read)
    os.close(write)
    assert kind in (frames.RESULT, frames.FAILED)
    harness.wait_until(lambda: not running(daemon), "it has ended")
    expect_well(daemon)
