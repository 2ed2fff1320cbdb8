# A call whose connection breaks: sent again where no daemon can have begun it, and nowhere else.
import contextlib
import errno
import json
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
        if calls and code:
            assert fake.accepted == 1
        else:
            harness.wait_until(lambda: fake.accepted <= max(3, len(acts)), "it tries thrice at most")
    finally:
        fake.close()
