# Terminals that nobody reads: hutch keeps its time limits there, ends when it is told to, and serves others.
import contextlib
import itertools
import pathlib

import pytest

from harness import wait_until
from terminal import Terminal


@pytest.fixture
def window(hutch, as_user, project):
    """window("run", "--", ...): hutch on a terminal that nobody reads, without room where `room` says "none"."""
    # A short name: the path of a socket has 107 bytes at most (unix(7)).
    env = {"HUTCH_STATE": str(as_user.mkdir(project.parent / f"unread-{project.name.split('-')[0]}"))}

    def start(*words, room="none"):
        return Terminal(as_user, [hutch.program, *words], cwd=project, env=env, room=room)

    start.hutch = lambda *words: hutch(*words, env=env)
    return start


def prints(words):
    """Whether a process has exactly these arguments."""
    wanted = "".join(f"{word}\0" for word in words).encode()
    for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if line.read_bytes() == wanted:
                return True
    return False


def test_a_signal_ends_a_command_that_prints(window):
    with window("run", "--", "yes", "nobody reads a run", room="fills up") as full:
        wait_until(lambda: prints(["yes", "nobody reads a run"]), "it prints")
        full.end_unread("hutch")


def test_its_time_limit_holds(window):
    words = ["yes", "nobody reads a limit"]
    with window("run", "--timeout", "2s", "--", *words, room="fills up") as full:
        wait_until(lambda: prints(words), "it prints")
        wait_until(lambda: not prints(words), "it has ended")
        # Somebody comes back to the terminal.
        assert full.wait() == 124 and b"ended by the timeout" in full.seen


def test_what_is_told_at_the_end_waits_for_a_reader(window):
    with window("run", "-c", "touch .git/hooks/pre-commit || exit 7") as full:
        assert full.wait() == 7


def test_a_signal_ends_what_is_told(window, as_user, project):
    as_user.mkdir(project / ".git/hooks")
    with window("run", "-c", "touch .git/hooks/pre-commit; touch ran; yes") as full:
        wait_until((project / "ran").exists, "it runs")
        full.end_unread("hutch")


def test_a_signal_ends_exec(window):
    window.hutch("agent", "create", "one").ok()
    try:
        with window("exec", "one", "--", "yes", "nobody reads exec", room="fills up") as full:
            wait_until(lambda: prints(["yes", "nobody reads exec"]), "it prints")
            full.end_unread("hutch")
    finally:
        window.hutch("daemon", "stop")


def test_a_signal_ends_the_wizard(window):
    """Which draws by a library that waits for a reader."""
    with window("config") as full:
        wait_until(lambda: full.running("hutch"), "it runs")
        wait_until(lambda: full.attributes() != full.found, "it draws")
        found = full.found
        full.end_unread("hutch")
        assert full.attributes() == found, "the terminal is as it was"


def test_a_signal_ends_the_wizard_in_the_middle_of_drawing(window):
    """Nobody reads any more, and it draws again with each change of the window's size."""
    with window("config", room="fills up") as full:
        wait_until(lambda: full.attributes() != full.found, "it draws")
        wait = pathlib.Path(f"/proc/{full.running('hutch')}/wchan")
        sizes = itertools.cycle((30, 31))

        def is_stuck():
            full.resize(next(sizes), 100)
            return wait.read_text() == "wait_woken"  # n_tty_write()

        wait_until(is_stuck, "it waits for a reader")
        full.end_unread("hutch")


def test_a_daemon_serves_without_a_reader(window):
    with window("serve") as full:
        wait_until(lambda: "pid" in window.hutch("daemon", "status").text, "it serves")
        window.hutch("agent", "create", "one").ok()
        assert window.hutch("exec", "one", "--", "echo", "hello").ok().text == "hello\n"
        full.end_unread("hutch")
