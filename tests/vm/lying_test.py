# A machine whose root speaks as hutch-guest does, and lies: what hutch has of it, and for how long.
import os
import pathlib
import sys
import time

import daemons
import harness
import machines
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from hostile_test import command_line, ours, programs, resident  # noqa: E402

SOURCE = (pathlib.Path(__file__).parent / "lying_guest.c").read_text(encoding="utf-8")
# What hutch says of each; after that it is over.
TOLD = {
    "remarks": "a refusal about a file",
    "network": "a socket that nobody asked for",
    "supervisor": "a supervisor that nobody asked for",
}
TERMINALS = pathlib.Path("/proc/sys/kernel/pty/nr")
# The relay's, and those of other tests that run meanwhile.
TERMINALS_MAX = 700
DESCRIPTORS_MAX = 400
ROOM = 64 << 20


@pytest.fixture(scope="module")
def person(base):
    return base.person("user")


@pytest.fixture(scope="module")
def state(base, person, root_archive, shared):
    made = daemons.Daemon(base, person)
    machines.provision(made, person, made.data, root_archive, shared)
    yield made.state
    made.stop()


@pytest.fixture(scope="module")
def hutch(base, compiler, person):
    return programs(base, compiler, person, "lying", source=SOURCE) / "hutch"


class Peaks:
    """Of a hutch that runs, and its relay."""

    def __init__(self, process):
        self.process = process
        self.memory = self.descriptors = self.terminals = 0
        self.states = set()

    def look(self):
        for pid in ours(self.process.pid):
            self.memory = max(self.memory, resident(pid))
            if b"--relay" in command_line(pid):
                self.descriptors = max(self.descriptors, daemons.descriptors(pid) or 0)
        self.terminals = max(self.terminals, int(TERMINALS.read_text(encoding="ascii")))
        try:
            stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
            self.states.add(stat.rpartition(")")[2].split()[0])
        except (OSError, IndexError):
            pass


def attacked(hutch, person, state, attack, *options, words=(), seconds=120):
    """hutch, ended by itself, with what it had at most; its output is not read."""
    command = [hutch, "run", "--backend", "vm", *options, "--", "true", f"attack:{attack}", *words]
    reader, writer = os.pipe()
    with harness.start_in(person, command, env={"HUTCH_STATE": str(state)}, stdout=writer) as process:
        os.close(writer)
        peaks, until = Peaks(process), time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < until:
            peaks.look()
            time.sleep(0.02)
        if process.poll() is None:
            harness.kill_group(process)
            pytest.fail(f"{attack}: it goes on for ever: {peaks.states}")
        os.close(reader)
        return process.returncode, process.stderr.read().decode(), peaks


@pytest.mark.parametrize("attack", TOLD)
def test_what_a_guest_has_no_business_to_say_ends_it(hutch, person, state, attack):
    code, error, peaks = attacked(hutch, person, state, attack, "--timeout", "60s")
    assert code == 125 and TOLD[attack] in error, error
    assert peaks.memory < ROOM, peaks.memory


def test_a_machine_does_not_stop_hutch(hutch, person, state):
    """Stopped as by a key, without a terminal: nobody would let it go on, and no time limit would be kept."""
    code, error, peaks = attacked(hutch, person, state, "stopped", "--timeout", "5s")
    assert code == 125 and "without a terminal" in error, error
    assert "T" not in peaks.states, peaks.states


@pytest.mark.parametrize("attack", ["terminals", "sockets"])
def test_what_nobody_takes_does_not_pile_up(hutch, person, state, attack):
    """Terminals are those of the whole host; behind output that nobody reads they wait in the relay."""
    code, error, peaks = attacked(hutch, person, state, attack, "--timeout", "15s")
    assert code == 124, error
    assert peaks.descriptors < DESCRIPTORS_MAX, peaks.descriptors
    assert peaks.terminals < TERMINALS_MAX, peaks.terminals


def test_a_machine_says_once_that_a_program_is_absent(hutch, person, state):
    code, error, peaks = attacked(hutch, person, state, "absent", "--timeout", "30s")
    assert code == 127 or code == 124, error
    assert error.count("not found") <= 1 and peaks.memory < ROOM, (peaks.memory, error[:1000])


def test_what_is_for_other_backends_is_passed_over(hutch, person, state):
    code, error, peaks = attacked(hutch, person, state, "alien", "--timeout", "60s")
    assert code == 3 and error == "", error


def test_a_full_console_holds_nothing_up(hutch, person, state):
    code, error, _ = attacked(hutch, person, state, "console", "--timeout", "60s")
    assert code == 3 and error == "", error


def test_a_machine_that_takes_nothing_holds_nobody_up(hutch, person, state):
    """The command's own words are more than the relay and a socket hold."""
    words = ["x" * 100_000] * 10
    code, error, peaks = attacked(hutch, person, state, "silent", "--timeout", "5s", words=words, seconds=90)
    assert code in (124, 125), error
