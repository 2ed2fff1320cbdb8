# A sandbox whose guest breaks every rule: the daemon goes on, other agents wait for nothing, nothing leaks.
import ast
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest

import daemons
import harness

MIB = 1 << 20
GUEST = pathlib.Path(__file__).with_name("hostile_guest.py")
SLOW = {"never ready", "answers nothing", "files: nothing", "reads nothing"}  # such a limit is waited for once

OUTLIVES = "outlives its stream"  # is waited for at each end


def modes():
    """The keys of MODES, which is not imported: it is a program."""
    for node in ast.parse(GUEST.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "MODES":
            return [key.value for key in node.value.keys]
    raise AssertionError("no MODES")


class Evil(daemons.Daemon):
    """A daemon whose agents without isolation get the hostile guest."""

    def __init__(self, base, person):
        programs = base.path / "evil"
        if not programs.exists():
            programs.mkdir()
            programs.chmod(0o755)
            for name in ("hutch", "hutch-inspect"):
                shutil.copy(base.bin / name, programs / name)
            shutil.copy(base.bin / "hutch-guest", programs / "honest-guest")
            shutil.copy(GUEST, programs / "hutch-guest")
            (programs / "hutch-guest").chmod(0o755)
        super().__init__(base, person, programs / "hutch")
        self.victim = None

    def set_mode(self, mode):
        (self.program.parent / "mode").write_text(mode)

    def expect_well(self):
        began = time.monotonic()
        assert self.sh(self.victim, "echo well").ok().text == "well\n"
        assert time.monotonic() - began < 20


@pytest.fixture(scope="module")
def daemon(base):
    made = Evil(base, base.person("root" if os.geteuid() == 0 else "user"))
    made.victim = made.create("autonomousExec.enabled=true")
    made.expect_well()
    yield made
    made.stop()


def run_everything(daemon, agent):
    """What clients may want of it, at once, each with the file that gets what it says: one that ends leaves pipes open.

    The daemon has them as long as it waits for the guest."""
    wishes = [
        ["exec", agent, "--", "true"],
        ["exec", "-d", agent, "--", "true"],
        ["agent", "start", agent],
        ["ps", agent],
        ["tool", "call", agent, "sandbox_read_file", '{"path": "x"}'],
        ["tool", "call", agent, "sandbox_exec", '{"command": "true", "timeout": 2}'],
    ]
    clients = []
    for wish in wishes:
        said = tempfile.TemporaryFile()
        clients.append((daemon.popen(*wish, stdout=said, stderr=said), said))
    return clients


def expect_plain(client, said, patience):
    """It ends by itself in time, or is killed. What a sandbox says is never a terminal's business."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        client.wait(patience)
    client.kill()
    client.wait()
    client.stdin.close()
    said.seek(0)
    text = said.read()
    said.close()
    assert b"\x1b" not in text, text


@pytest.mark.parametrize("mode", modes())
def test_a_guest_that_breaks_the_rules(daemon, mode):
    daemon.expect_well()
    pid = daemon.pid()
    before, memory, threads = daemons.descriptors(pid), daemons.memory(pid), daemons.threads(pid)
    daemon.set_mode(mode)
    agent = daemon.create("backend=none", "autonomousExec.enabled=true")
    patience = 200 if mode in SLOW and os.environ.get("HUTCH_TEST_ALL") == "1" else 0.1
    for _ in range(1 if mode == OUTLIVES else 2):
        clients = run_everything(daemon, agent)
        daemon.expect_well()
        for client, said in clients:
            expect_plain(client, said, patience)
        daemon.expect_well()
        daemon("agent", "stop", agent).ok()
    assert daemon.status(agent) in ("stopped", "starting", "running", "error")
    daemon("agent", "remove", agent).ok()
    assert daemon.pid() == pid
    harness.wait_until(
        lambda: daemons.descriptors(pid) <= before and daemons.threads(pid) <= threads,
        f"{before} descriptors, {threads} threads; now {daemons.descriptors(pid)}, {daemons.threads(pid)}",
    )
    assert daemons.memory(pid) - memory < 64 * MIB
    assert "\x1b" not in daemon.log() and len(daemon.log()) < MIB


def test_stop_does_not_wait_for_a_guest_that_is_never_ready(daemon):
    daemon.set_mode("never ready")
    agent = daemon.create("backend=none")
    client = daemon.popen("exec", agent, "--", "true")
    harness.wait_until(lambda: daemon.status(agent) == "starting", "it starts")
    began = time.monotonic()
    daemon("agent", "stop", agent).ok()
    assert time.monotonic() - began < 40
    _, err = client.communicate(timeout=harness.PATIENCE)
    assert client.returncode == 125 and err, err
    assert daemon.status(agent) == "stopped"
    daemon("agent", "remove", agent).ok()


def test_many_hostile_guests_at_once(daemon):
    pid = daemon.pid()
    before = daemons.descriptors(pid)
    agents, clients = [], []
    for mode in modes():
        if mode == OUTLIVES:
            continue
        daemon.set_mode(mode)
        agent = daemon.create("backend=none")
        said = tempfile.TemporaryFile()
        clients.append((daemon.popen("exec", agent, "--", "true", stdout=said, stderr=said), said))
        harness.wait_until(lambda a=agent: daemon.status(a) != "pending", "it starts")
        agents.append(agent)
        daemon.expect_well()
    for client, said in clients:
        expect_plain(client, said, 0)
    removals = [daemon.popen("agent", "remove", agent) for agent in agents]
    for removal in removals:
        removal.communicate(timeout=harness.PATIENCE)
        assert removal.returncode == 0
    assert daemon.pid() == pid
    harness.wait_until(lambda: daemons.descriptors(pid) <= before, f"{before} descriptors")
    assert daemon.tool(daemon.victim, "sandbox_exec", command="echo x")["ok"] is True
