# hutch init, hutch deinit and hutch-helper change who is whom one at a time.
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from attack_test import ask, is_of, start  # noqa: E402
from made_test import deinit, made, users, wish  # noqa: E402

WAITS = "hutch: waiting: another hutch init or deinit runs, or hutch-helper makes users\n"
# In the place of usermod(8): what comes after useradd(8) waits until somebody says so.
SLOW = "#!/bin/sh\n: > {begun}\nwhile [ ! -e {go} ]; do sleep 0.05; done\n"


@pytest.fixture(autouse=True, scope="module")
def frank_is_let(machine):
    machine.init("--for", "frank")


def root(machine, *words):
    return subprocess.Popen([*machine.enter(), machine.base.bin / "hutch", *words], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Slow:
    """hutch init of that host stops after the user was made."""

    def __init__(self, machine):
        self.machine, self.place = machine, machine.base.unused("slow")
        self.place.mkdir()
        self.begun, self.go = self.place / "begun", self.place / "go"
        program = self.place / "usermod"
        program.write_text(SLOW.format(begun=self.begun, go=self.go))
        program.chmod(0o755)

    def __enter__(self):
        self.machine.root("mount", "--bind", self.place / "usermod", "/usr/sbin/usermod")
        return self

    def __exit__(self, *_):
        self.go.touch()
        self.machine.root("umount", "--lazy", "/usr/sbin/usermod")


def test_deinit_waits_for_init(machine):
    with Slow(machine) as slow:
        first = root(machine, "init", "--for", "frank", "--agent", "turn")
        harness.wait_until(slow.begun.exists, "the user is made")
        second = root(machine, "deinit", "--for", "frank", "--agent", "turn", "--remove-homes")
        assert second.stderr.readline() == WAITS
        assert [name for name in users(machine, "frank") if "-turn-" in name], "it has removed nothing yet"
        slow.go.touch()
        out, err = first.communicate(timeout=60)
        assert first.returncode == 0, (out, err)
    out, err = second.communicate(timeout=60)
    assert second.returncode == 0 and "is removed" in out, (out, err)
    assert not [name for name in users(machine, "frank") if "-turn-" in name]


def test_deinit_waits_for_what_the_helper_has_made(machine):
    """And the helper's own hutch init has the helper's turn."""
    with Slow(machine) as slow:
        pool = concurrent.futures.ThreadPoolExecutor(1)
        asked = pool.submit(ask, machine, "frank", wish("turn"), "wait")
        harness.wait_until(slow.begun.exists, "the user is made")
        second = root(machine, "deinit", "--for", "frank")
        assert second.stderr.readline() == WAITS
        slow.go.touch()
        made(asked.result()[0])
    out, err = second.communicate(timeout=60)
    assert second.returncode == 0 and "1 user of agents" in out, (out, err)
    try:
        heard, _ = ask(machine, "frank", wish("more"), then="wait")
        assert b"may have no users made" in heard, heard
    finally:
        machine.init("--for", "frank")
        deinit(machine, "frank", "turn")


DEINIT_FIRST = """#!/bin/sh
{bin}/hutch deinit --for frank --agent late < /dev/null > {place}/said 2>&1
exec {place}/hutch-guest "$@"
"""


def test_what_starts_while_root_takes_its_user_back_ends(machine):
    """Root looks for what runs as the user before the guest is that user, and after the helper has read root's word."""
    place = machine.base.unused("late")
    place.mkdir()
    shutil.copy2(machine.base.bin / "hutch-guest", place)
    program = place / "first"
    program.write_text(DEINIT_FIRST.format(bin=machine.base.bin, place=place))
    program.chmod(0o755)
    number = made(ask(machine, "frank", wish("late"), then="wait")[0])
    machine.root("mount", "--bind", program, machine.base.bin / "hutch-guest")
    try:
        heard, descriptors = ask(machine, "frank", start(number), then="wait")
        assert "is removed" in (place / "said").read_text()
        assert b"may run nothing as user" in heard and descriptors == 0, heard
        assert not [pid for pid in os.listdir("/proc") if is_of(number, pid)]
    finally:
        machine.root("umount", machine.base.bin / "hutch-guest")
        machine.init("--for", "frank", "--agent", "late")
        deinit(machine, "frank", "late")
