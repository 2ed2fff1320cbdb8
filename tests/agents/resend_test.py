# A call whose connection breaks: sent again where no daemon can have begun it, and nowhere else.
import contextlib
import errno
import json
import os
import socket
import struct
import threading

import pytest

import frames
import harness

RESULT = frames.frame(frames.RESULT, frames.text("[]"))


class FakeDaemon:
    """Listens where the daemon would. Each act gets one connection; `calls` are the whole calls that were read."""

    def __init__(self, path, acts):
        self.calls, self.acts, self.accepted = [], acts, 0
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        self.path, self.listener = path, socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):  # it was closed
            while True:
                end, _ = self.listener.accept()
                self.accepted += 1
                self.acts[min(self.accepted, len(self.acts)) - 1](self, end)

    def read(self, end):
        wire = frames.Wire(end)
        self.calls.append(wire.receive())
        # A command's streams: whoever reads them waits for their end.
        for descriptor in wire.descriptors:
            os.close(descriptor)
        return wire

    def close(self):
        self.listener.close()
        self.path.unlink()


def reset(fake, end):
    """Closed with all of the call unread."""
    assert end.recv(1, socket.MSG_PEEK)
    end.close()


def reset_after_a_part(fake, end):
    assert end.recv(5)
    end.close()


def answer(fake, end):
    fake.read(end).send(RESULT)
    end.close()


def answer_without_reading_on(fake, end):
    """An answer, and then the end."""
    fake.read(end)
    end.sendall(RESULT)
    end.close()


def lose(fake, end):
    fake.read(end)
    end.close()


def lose_in_the_answer(fake, end):
    fake.read(end)
    end.sendall(RESULT[:-1])
    end.close()


def fail_as(number):
    def act(fake, end):
        body = struct.pack("<BI", 6, number) + frames.text("a stream inside broke")
        fake.read(end).send(frames.frame(frames.FAILED, body))
        end.close()

    return act


@pytest.mark.parametrize(
    "acts, code, calls",
    [
        ([answer], 0, 1),
        ([answer_without_reading_on], 0, 1),
        ([reset, answer], 0, 1),
        ([reset_after_a_part, answer], 0, 1),
        ([reset, reset, answer], 0, 1),
        ([reset], 125, 0),
        ([lose, answer], 125, 1),
        ([lose_in_the_answer, answer], 125, 1),
        ([fail_as(errno.ECONNRESET), answer], 125, 1),
        ([fail_as(errno.EPIPE), answer], 125, 1),
    ],
    ids=[
        "answered",
        "answered and closed",
        "reset",
        "reset within",
        "reset twice",
        "always reset",
        "lost",
        "lost within its answer",
        "failed by ECONNRESET",
        "failed by EPIPE",
    ],
)
def test_a_call_is_begun_once(own_daemon, acts, code, calls):
    fake = FakeDaemon(own_daemon.socket, acts)
    try:
        result = own_daemon("agent", "list", "--json")
        assert result.code == code, str(result)
        assert len(fake.calls) == calls
        assert all(json.loads(frames.Reader(body).text())["verb"] == "agent.list" for _, body in fake.calls)
        if code and not acts[0].__name__ == "act":
            assert "the daemon ended while the command was under way" in result.errors, result.errors
        if calls and code:
            assert fake.accepted == 1
        else:
            harness.wait_until(lambda: fake.accepted <= max(3, len(acts)), "it tries thrice at most")
    finally:
        fake.close()


EXEC = frames.frame(frames.EVENT, frames.text('{"started":"1"}')) + frames.frame(
    frames.RESULT, frames.text('{"exit_code":7}')
)


def run(fake, end):
    fake.read(end).send(EXEC)
    end.close()


def lose_a_started_one(fake, end):
    fake.read(end)
    end.sendall(EXEC[: EXEC.index(b"exit_code") - 20])
    # What it was told is not read.
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()


@pytest.mark.parametrize(
    "acts, code, calls",
    [
        ([run], 7, 1),
        ([reset, run], 7, 1),
        ([reset], 125, 0),
        ([lose, run], 125, 1),
        ([lose_a_started_one, run], 125, 1),
    ],
    ids=["run", "reset", "always reset", "lost", "lost when started"],
)
def test_a_command_is_begun_once(own_daemon, acts, code, calls):
    fake = FakeDaemon(own_daemon.socket, acts)
    try:
        result = own_daemon("exec", "a", "--", "true", stdin=b"input")
        assert result.code == code and len(fake.calls) == calls, (str(result), fake.calls)
        if code == 125:
            assert "the daemon ended while the command was under way" in result.errors, result.errors
            assert "reset" not in result.errors, result.errors
    finally:
        fake.close()


def test_mcp_says_that_the_daemon_ended(own_daemon):
    agent = own_daemon.create()
    client = own_daemon.popen("mcp", "--agent", agent)
    client.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    client.stdin.flush()
    assert json.loads(client.stdout.readline())["id"] == 1
    own_daemon.kill()
    assert client.wait(harness.PATIENCE) == 125
    assert b"the daemon ended while" in client.stderr.read()
    for stream in (client.stdin, client.stdout, client.stderr):
        stream.close()
    # The next command has a new one, which clears up.
    assert [one["name"] for one in own_daemon.json("agent", "list")] == [agent]
