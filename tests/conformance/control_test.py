# --control-fd: a program that supervises a run is told what happens, line by line, and is answered.
import json
import socket

import pytest

UNIX = "import socket\ntry: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\nexcept OSError: raise SystemExit(5)"


class Supervisor:
    """The caller's end of a run's control descriptor."""

    def __init__(self, hutch, backend, *command):
        self.mine, its = socket.socketpair()
        self.mine.settimeout(60)
        with its:
            options = ["--control-fd", str(its.fileno())]
            self.process = hutch.popen(*command, options=options, backend=backend, pass_fds=[its.fileno()])
        self.lines = self.mine.makefile("rb")

    def tell(self, line):
        self.mine.sendall(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")

    def hear(self):
        line = self.lines.readline()
        assert line, "the control descriptor was closed without a word"
        return json.loads(line)

    def end(self):
        self.process.communicate(timeout=60)
        self.mine.close()
        return self.process.returncode


@pytest.fixture
def supervised(hutch, backend):
    return lambda *command: Supervisor(hutch, backend, *command)


def test_the_end_is_told(supervised, backend):
    run = supervised("/bin/sh", "-c", "exit 6")
    done = run.hear()
    assert done["v"] == 1 and done["type"] == "done"
    assert done["outcome"]["exit_code"] == 6 and done["outcome"]["backend"] == backend
    assert run.end() == 6


def test_a_violation_is_told(supervised, backend):
    run = supervised("/usr/bin/python3", "-c", UNIX)
    if backend == "none":
        assert run.hear()["type"] == "done"
        assert run.end() == 0
        return
    said = run.hear()
    assert said["type"] == "violation" and "Unix socket" in said["what"] and said["rule"] == "built in"
    assert run.hear()["outcome"]["exit_code"] == 5
    assert run.end() == 5


@pytest.mark.parametrize(
    "line, answer",
    [
        ({"v": 1, "type": "answer", "id": "q7", "choice": "once"}, "no question q7 is open"),
        ({"v": 1, "type": "update", "policy": {"filesystem": {"denyRead": []}}}, "filesystem cannot be changed"),
        ({"v": 1, "type": "update", "policy": {"netwrk": {}}}, "netwrk cannot be changed"),
        ({"v": 1, "type": "update", "policy": {}}, "has no network"),
        ({"v": 1, "type": "ask"}, "unknown type ask"),
        ({"v": 9, "type": "answer"}, "v must be 1"),
        (b"nonsense\n", "one JSON object"),
        (b"[" * 1000 + b"\n", "nested deeper"),
        (b"\x1b[2J\xff\n", "one JSON object"),
    ],
)
def test_what_cannot_be_done_is_answered(supervised, line, answer):
    run = supervised("/bin/sh", "-c", "read word; exit 0")
    run.tell(line)
    said = run.hear()
    assert said["type"] == "error" and answer in said["message"], said
    run.process.stdin.write(b"go\n")
    run.process.stdin.flush()
    assert run.hear()["type"] == "done"
    assert run.end() == 0


def test_a_line_without_an_end_is_bounded(supervised):
    run = supervised("/bin/sh", "-c", "read word; exit 0")
    run.tell(b"x" * (1 << 20) + b"xxxx")
    assert "more than 1 MiB" in run.hear()["message"]
    run.process.stdin.write(b"go\n")
    run.process.stdin.flush()
    assert run.hear()["type"] == "done"
    assert run.end() == 0


def test_the_descriptor_does_not_reach_the_command(supervised, project):
    run = supervised("/bin/sh", "-c", "ls /proc/self/fd > fds")
    assert run.hear()["type"] == "done"
    assert run.end() == 0
    assert (project / "fds").read_text().split() == ["0", "1", "2", "3"]  # 3 is the directory that ls reads


def test_a_supervisor_that_goes_does_not_end_the_run(supervised):
    run = supervised("/bin/sh", "-c", "read word; exit 3")
    run.mine.shutdown(socket.SHUT_RDWR)
    run.process.stdin.write(b"go\n")
    run.process.stdin.flush()
    assert run.end() == 3
