# On a terminal: the command gets one of its own, keys and sizes follow, and the caller's is given back as it was.
import os
import signal

import pytest
from harness import wait_until
from terminal import Terminal


@pytest.fixture
def typed(base, as_user, project, backend):
    """typed(command...) opens a terminal with `hutch run` in it."""

    def start(*command, options=()):
        argv = [base.bin / "hutch", "run", "--backend", backend, *options, "--", *command]
        return Terminal(as_user, argv, cwd=project)

    return start


def test_the_command_has_a_terminal_of_its_own(typed):
    with typed("/bin/sh", "-c", "tty; test -t 0 && test -t 1 && test -t 2 && echo all; exit 3") as terminal:
        terminal.read_until(b"all\r\n")
        assert b"/dev/pts/" in terminal.seen
        assert terminal.process.wait(60) == 3


def test_keys_reach_the_command(typed):
    with typed("/bin/sh", "-c", "echo ready; read word; echo got $word") as terminal:
        terminal.read_until(b"ready")
        terminal.send("hello\r")
        terminal.read_until(b"got hello")
        assert terminal.process.wait(60) == 0


def test_control_c_interrupts_the_command_alone(typed):
    # Not at once: with the signal the kernel drops what was printed and not yet read (stty(1), noflsh).
    script = "trap 'sleep 0.2; echo caught; exit 4' INT; echo ready; while :; do sleep 0.1; done"
    with typed("/bin/sh", "-c", script) as terminal:
        terminal.read_until(b"ready")
        terminal.send(b"\x03")
        terminal.read_until(b"caught")
        assert terminal.process.wait(60) == 4


def test_control_d_ends_the_input(typed):
    with typed("cat") as terminal:
        terminal.send("line\r")
        terminal.read_until(b"line\r\nline")
        terminal.send(b"\x04")
        assert terminal.process.wait(60) == 0


def test_the_size_follows(typed):
    script = "stty size; trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.1; done"
    with typed("/bin/sh", "-c", script) as terminal:
        terminal.read_until(b"24 80")
        terminal.read_until(b"ready")
        terminal.resize(40, 120)
        terminal.read_until(b"40 120")


def test_the_callers_modes_are_restored(typed):
    with typed("/bin/sh", "-c", "echo ready; read word; exit 0") as terminal:
        terminal.read_until(b"ready")
        terminal.send("x\r")
        assert terminal.process.wait(60) == 0
        after = terminal.attributes()
    with typed("true") as untouched:
        untouched.process.wait(60)
        before = untouched.attributes()
    assert after == before


def test_the_callers_modes_are_restored_after_a_kill(typed):
    with typed("/bin/sh", "-c", "echo ready; sleep 600") as terminal:
        terminal.read_until(b"ready")
        raw = terminal.attributes()
        hutch = hutch_of(terminal)

        os.kill(hutch, signal.SIGTERM)
        terminal.process.wait(60)
        assert terminal.attributes() != raw


def hutch_of(terminal):
    def found():
        try:
            with open(
                f"/proc/{terminal.process.pid}/task/{terminal.process.pid}/children", encoding="ascii"
            ) as children:
                return [int(pid) for pid in children.read().split()]
        except OSError:
            return []

    pids = wait_until(lambda: found() or [terminal.process.pid], "hutch has started")
    return pids[0]


def test_typing_into_the_callers_terminal_is_refused(typed, backend):
    code = (
        "import fcntl, termios\n"
        "try:\n  fcntl.ioctl(0, termios.TIOCSTI, b'x'); print('typed')\n"
        "except OSError as error: print('refused', error.errno)"
    )
    with typed("/usr/bin/python3", "-c", code) as terminal:
        terminal.process.wait(60)
        while terminal.read_some(1.0):
            pass
        if backend != "none":
            assert b"refused 1" in terminal.seen, terminal.seen


def test_an_interactive_shell_has_job_control(typed):
    # Its history would be a file of the home's that it asks to write.
    with typed("env", "HISTFILE=/dev/null", "bash", "--norc", "-i") as terminal:
        terminal.send("sleep 600 & jobs; PS1=; echo mark$((1+1))\r")
        terminal.read_until(b"mark2")
        assert b"no job control" not in terminal.seen and b"Running" in terminal.seen
        terminal.send("exit 5\r")
        assert terminal.process.wait(60) == 5


@pytest.mark.slow
def test_a_shell_can_stop_it_and_take_it_up_again(hutch, as_user, project, backend):
    how = " ".join(hutch.backend_option(backend))
    with Terminal(as_user, ["bash", "--norc", "-i"], cwd=project, env=hutch.variables()) as terminal:
        terminal.send(
            f"PS1='> '; {hutch.program} run {how} -- /bin/sh -c "
            '\'echo rea""dy; read word; echo g""ot $word\'\r'
        )
        terminal.read_until(b"ready")
        terminal.send(b"\x1a")
        terminal.read_until(b"Stopped")
        terminal.send("fg\r")
        terminal.send("word\r")
        terminal.read_until(b"got word")
