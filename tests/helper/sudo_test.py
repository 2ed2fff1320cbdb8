# hutch-helper where there is no systemd: by sudo's rule for one person.
import os
import pathlib
import re
import resource
import shutil
import sys

import pytest

import harness
import people

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from made_test import made, wish  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("sudo") is None, reason="sudo is not installed")


@pytest.fixture(scope="module")
def machine(base):
    why = people.missing()
    if why:
        pytest.skip(why)
    made = people.Machine(base, base.unused("machine-with-sudo"), starter="/etc/sudoers.d")
    try:
        made.init("--for", "carol")
        yield made
    finally:
        made.stop()


def test_the_rule_is_one_that_sudo_reads(machine):
    file = "/etc/sudoers.d/hutch-helper-61401"
    machine.root("visudo", "-c", "-f", file)
    assert not machine.file("/etc/systemd/system/hutch-helper.socket").exists()
    rights = machine.root("sudo", "-l", "-U", "carol")
    assert re.findall(r"\(root\) (.*)", rights) == [f'NOPASSWD: {machine.base.bin}/hutch-helper ""'], rights


def test_commands_run_by_it(machine):
    carol = machine.hutch("carol")
    assert carol.run("id", "-un").ok().text == "hutch-carol\n"
    assert carol.run("cat", stdin=b"through").ok().out == b"through"
    marker = f"by-sudo-{os.getpid()}"
    with carol.popen("/usr/bin/python3", "-c", f"import time\ntime.sleep(600)  # {marker}") as run:
        harness.wait_until(lambda: len(harness.processes_with(marker)) > 1, "it runs")
        run.kill()
        run.wait(30)
    harness.wait_until(lambda: not harness.processes_with(marker), "nothing is left")


def test_an_agent_gets_its_user_by_it(machine):
    carol = machine.hutch("carol")
    try:
        carol("agent", "create", "bob", "backend=user").ok()
        assert carol("exec", "bob", "--", "id", "-un").ok().text.startswith("hutch-carol-bob-")
    finally:
        carol("agent", "remove", "bob")
        carol("daemon", "stop")
        machine.root(machine.base.bin / "hutch", "deinit", "--for", "carol", "--agent", "bob", "--remove-homes")


PROBE = """#!/bin/sh
{ awk '{ print $19, $41 }' /proc/self/stat; ionice; cat /proc/self/oom_score_adj
awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status; } > /etc/probed
"""
# All of it is a person's to do.
LOWERED = """
import os, subprocess
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.nice(19)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
subprocess.run(["ionice", "-c", "idle", "-p", str(os.getpid())], check=True)
open("/proc/self/oom_score_adj", "w").write("900")
"""


def test_what_runs_as_root_has_no_priority_of_the_persons(machine):
    """It would hold the lock of passwd(5), and the turn of everybody's users, while it gets no processor."""
    grant, probe = machine.file("/etc/hutch-helper/agents/61401"), machine.file("/etc/probe")
    granted, helper = grant.read_text(), machine.base.bin / "hutch-helper"
    probe.write_text(PROBE)
    probe.chmod(0o755)
    grant.write_text("carol\n/etc/probe\n")
    code = LOWERED + ASK_BY_SUDO
    every = pathlib.Path("/proc/self/status").read_text().split("Cpus_allowed_list:")[1].split()[0]
    try:
        words = ["/usr/bin/python3", "-c", code, helper, "RLIMIT_NOFILE", "1024", "1024", wish("idle").hex()]
        harness.run_in(machine.person("carol"), words, outer=machine.enter()).ok()
        assert machine.file("/etc/probed").read_text() == f"0 0\nnone: prio 0\n0\n{every}\n"
    finally:
        grant.write_text(granted)
        probe.unlink()


ASK_BY_SUDO = """
import resource, socket, subprocess, sys
mine, its = socket.socketpair()
limit = getattr(resource, sys.argv[2])
subprocess.Popen(["sudo", "-n", "--", sys.argv[1]], stdin=its, start_new_session=True,
                 preexec_fn=lambda: resource.setrlimit(limit, (int(sys.argv[3]), int(sys.argv[4]))))
its.close()
mine.sendall(bytes.fromhex(sys.argv[5]))
print(mine.recv(65536).hex())
"""


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize(("limit", "value"), [("RLIMIT_FSIZE", 1000), ("RLIMIT_NOFILE", 10), ("RLIMIT_AS", 8 << 20)])
def test_the_persons_limits_are_not_roots(machine, limit, value, hard):
    """sudo hands them on. useradd(8) would end with its locks held, or with a user that nothing counts."""
    agent, helper = limit.removeprefix("RLIMIT_").lower(), machine.base.bin / "hutch-helper"
    limits = [str(value), str(value if hard else resource.getrlimit(getattr(resource, limit))[1])]
    locks = {f"{name}.lock" for name in ("passwd", "shadow", "group", "gshadow")}
    words = ["/usr/bin/python3", "-c", ASK_BY_SUDO, helper, limit, *limits, wish(agent).hex()]
    heard = bytes.fromhex(harness.run_in(machine.person("carol"), words, outer=machine.enter()).ok().text)
    try:
        assert not locks & set(os.listdir(machine.file("/etc"))), heard
        entries = list(machine.file("/etc/hutch-helper/people/61401").glob(f"hutch-carol-{agent}-*"))
        # Root of a container may not lift a hard limit.
        if hard and heard[4] == 2:
            assert not entries and f"hutch-carol-{agent}-" not in machine.file("/etc/passwd").read_text()
        else:
            made(heard)
            assert [entry.read_text() for entry in entries] == ["carol\n"]
    finally:
        machine.root(machine.base.bin / "hutch", "deinit", "--for", "carol", "--agent", agent, "--remove-homes")


def test_nobody_else_and_nothing_else(machine):
    dave = machine.hutch("dave")
    refused = dave.run("true")
    assert refused.code == 125 and "sudo hutch init --for dave" in refused.errors, str(refused)
    carol = machine.person("carol")
    for words in ([f"{machine.base.bin}/hutch-helper", "--help"], [f"{machine.base.bin}/hutch-guest"], ["id"],
                  ["-u", "hutch-carol", "id"]):
        tried = harness.run_in(carol, ["sudo", "-n", *words], outer=machine.enter())
        assert tried.code != 0 and b"password is required" in tried.err, str(tried)


def test_deinit_takes_the_rule_back(machine):
    machine.root(machine.base.bin / "hutch", "deinit", "--for", "carol")
    assert not machine.file("/etc/sudoers.d/hutch-helper-61401").exists()
    assert machine.hutch("carol").run("true").code == 125
