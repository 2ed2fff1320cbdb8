# hutch-helper where there is no systemd: by sudo's rule for one person.
import os
import re
import shutil

import pytest

import harness
import people

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
