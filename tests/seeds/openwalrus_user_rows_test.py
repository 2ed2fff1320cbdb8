# OpenWalrus: the defects D5, D7, D8 and D13, of agents that are OS users; on a machine whose root has let them.
import json
import shutil

import pytest

import daemons
import harness


@pytest.fixture
def carol(machine):
    return machine.hutch("carol")


@pytest.fixture(scope="module")
def daemon(machine):
    class Daemon(daemons.Daemon):
        def options(self, given):
            return super().options({"outer": machine.enter(), **given})

    made = Daemon(machine.base, machine.person("carol"))
    yield made
    made.stop()


@pytest.mark.parametrize("state", ["never started", "stopped", "running"])
def test_row_d7_a_removal_says_what_it_did(daemon, state):
    daemon("agent", "create", "bob", "backend=user").ok()
    if state != "never started":
        daemon.exec("bob", "true").ok()
    if state == "stopped":
        daemon("agent", "stop", "bob").ok()
    assert daemon("agent", "remove", "bob").ok().text == "removed agent bob; the files of its OS user stay\n"
    assert daemon.json("agent", "list") == []
    assert daemon("agent", "remove", "bob").ok().text == "there was no agent bob\n"


def test_row_d5_doctor_passes_for_who_is_let(daemon):
    """Its agent's user is one that stays: there would be another one each time."""
    before = daemon.json("agent", "list")
    for _ in range(2):
        told = json.loads(daemon("doctor", "--backend", "user", "--json").ok().text)
        assert told["passed"] and all(one["passed"] for one in told["checks"]), told
    assert daemon.json("agent", "list") == before


def test_row_d13_one_file_is_one_file(machine, carol):
    file = machine.person("carol").write(machine.person("carol").home / "shared-file", "x")
    assert ": 1 file\n" in carol("share", "--traverse", file).ok().text
    carol("unshare", file).ok()


def test_row_d8_and_25_a_private_key_is_told_with_the_way_that_keeps_ssh_working(machine, carol):
    if not shutil.which("ssh-keygen"):
        pytest.skip("ssh-keygen is not installed")
    person = machine.person("carol")
    person.mkdir(person.home / ".ssh", 0o700)
    key = person.home / ".ssh/id_ed25519"
    keygen = lambda *words: harness.run_in(person, ["ssh-keygen", *words], outer=machine.enter())
    keygen("-q", "-t", "ed25519", "-N", "", "-f", key).ok()
    told = carol("share", "--traverse", "--read-only", key).ok()
    assert f"{key} is a private key" in told.errors and "--copy --into keys/id_ed25519" in told.errors, str(told)
    assert ": 1 file\n" in told.text, "row D13"
    assert "UNPROTECTED" in keygen("-y", "-f", key).errors, "what the warning is about"
    carol("unshare", key).ok()
    keygen("-y", "-f", key).ok()
    carol("share", "--copy", "--into", "keys/id_ed25519", key).ok()
    keygen("-y", "-f", key).ok()
    assert carol.sh("ssh-keygen -y -f ~/keys/id_ed25519").ok().text.startswith("ssh-ed25519 ")
    carol("unshare", "--yes", key).ok()
