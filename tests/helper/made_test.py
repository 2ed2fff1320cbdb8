# One hutch init for all agents of a person: hutch-helper has a user made for each, and for nobody else.
import concurrent.futures
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys

import pytest

import api
import daemons
import e2b
import harness
import people

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from attack_test import VERSION, ask, frame, number_of, start  # noqa: E402


def wish(agent, version=VERSION, tail=b""):
    name = agent if isinstance(agent, bytes) else agent.encode()
    return frame(2, struct.pack("<II", version, len(name)) + name + tail)


def users(machine, person):
    return sorted(line.split(":")[0] for line in machine.file("/etc/passwd").read_text().splitlines()
                  if line.startswith(f"hutch-{person}-"))


def made(heard):
    """The number in the answer."""
    size, kind, _ = struct.unpack("<IHH", heard[:8])
    assert (size, kind) == (4, 3), heard
    return struct.unpack("<I", heard[8:12])[0]


def deinit(machine, person, agent):
    machine.root(machine.base.bin / "hutch", "deinit", "--for", person, "--agent", agent, "--remove-homes")


@pytest.fixture(autouse=True, scope="module")
def frank_is_let(machine):
    """Another suite of this machine takes it from him."""
    machine.init("--for", "frank")


@pytest.fixture
def grant(machine):
    return lambda person: machine.file(f"/etc/hutch-helper/agents/{people.PEOPLE[person]}")


def test_me_is_who_runs_sudo(machine, grant):
    hutch = machine.base.bin / "hutch"
    by_sudo = ["env", f"SUDO_UID={people.PEOPLE['frank']}", hutch, "init", "--for", "me"]
    assert "The user hutch-frank is ready." in machine.root(*by_sudo)
    assert grant("frank").read_text() == f"frank\n{hutch}\n" and grant("frank").stat().st_uid == 0
    with pytest.raises(AssertionError, match="name the person"):
        machine.root(hutch, "init", "--for", "me")
    with pytest.raises(AssertionError, match="name the person"):
        machine.root("env", "SUDO_UID=0", hutch, "init", "--for", "me")
    frank = machine.hutch("frank")
    assert frank("init", "--for", "me").errors == "hutch: this takes root: sudo hutch init --for me\n"
    assert "hutch-frank" in frank("init", "--for", "me", "--dry-run").ok().text


def test_each_agent_gets_a_user_of_its_own(machine):
    """Nobody types sudo again."""
    carol = machine.hutch("carol")
    try:
        found = []
        for name in ("one", "two"):
            carol("agent", "create", name, "backend=user").ok()
            found += carol("exec", name, "--", "sh", "-c", "id -un; pwd; echo own > private").ok().text.splitlines()
        assert found[0].startswith("hutch-carol-one-") and found[2].startswith("hutch-carol-two-")
        assert found[1] == f"/var/lib/hutch-people/{found[0]}"
        assert b"denied" in carol("exec", "two", "--", "cat", f"{found[1]}/private").err, "each has its own files"
        assert found[0] in machine.file("/etc/cron.deny").read_text(), "as hutch init makes it"
        before = users(machine, "carol")
        carol("agent", "remove", "one").ok()
        carol("agent", "create", "one", "backend=user").ok()
        assert users(machine, "carol") == before, "an agent of that name has its user again"
        assert carol("exec", "one", "--", "cat", "private").ok().text == "own\n"
    finally:
        for name in ("one", "two"):
            carol("agent", "remove", name)
        carol("daemon", "stop")
        for name in ("one", "two"):
            deinit(machine, "carol", name)


def test_several_at_once(machine):
    """By one daemon, and by the helpers of another person's meanwhile."""
    names = [f"at-once-{number}" for number in range(3)]
    dave = machine.hutch("dave")
    try:
        dave("agent", "list").ok()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            other = pool.submit(ask, machine, "frank", wish("meanwhile"), "wait")
            for result in pool.map(lambda name: dave("agent", "create", name, "backend=user"), names):
                result.ok()
        assert made(other.result()[0]) == number_of(machine, users(machine, "frank")[0])
        own = [name for name in users(machine, "dave") if "at-once" in name]
        assert len({number_of(machine, name) for name in own}) == 3
    finally:
        for name in names:
            dave("agent", "remove", name)
        dave("daemon", "stop")
        for name in names:
            deinit(machine, "dave", name)
        deinit(machine, "frank", "meanwhile")


def test_a_wish_by_hand_is_understood(machine):
    heard, descriptors = ask(machine, "carol", wish("by-hand"), then="wait")
    [name] = [one for one in users(machine, "carol") if "by-hand" in one]
    assert made(heard) == number_of(machine, name) and descriptors == 0
    again, _ = ask(machine, "carol", wish("by-hand"), then="wait")
    assert again == heard, "it is there"
    deinit(machine, "carol", "by-hand")


@pytest.mark.parametrize("agent", ["", "-a", "--for", "--remove-homes", "A", "1a", "a b", "a/b", "../a", "a\nb", "a\0b",
                                   "a:b", "a;id", "$(id)", "ä", "a" * 25, "x" * 60000])
def test_a_name_is_a_plain_word(machine, agent):
    before = machine.file("/etc/passwd").read_text()
    heard, _ = ask(machine, "carol", wish(agent), then="wait")
    assert b"a name that no agent has" in heard, heard
    assert machine.file("/etc/passwd").read_text() == before


@pytest.mark.parametrize("message", [wish("late", version=VERSION + 1), wish("late", tail=b"x"),
                                     frame(2, b""), frame(2, struct.pack("<II", VERSION, 0xFFFFFFFF))])
def test_what_is_no_wish_makes_nobody(machine, message):
    before = machine.file("/etc/passwd").read_text()
    ask(machine, "carol", message, then="wait")
    assert machine.file("/etc/passwd").read_text() == before


def test_who_was_let_have_one_agent_has_no_others(machine):
    """And somebody whom root let be nobody has none."""
    lone = harness.Person("gina", 61404, machine.directory)
    machine.root("useradd", "--uid", "61404", "--user-group", "--no-create-home", "--home-dir", "/", "gina")
    try:
        heard, _ = ask(machine, lone, wish("bob"), then="wait")
        assert b"person 61404 may run nothing" in heard, heard
        machine.init("--for", "gina", "--agent", "only")
        heard, _ = ask(machine, lone, wish("bob"), then="wait")
        assert b"may have no users made for agents" in heard and b"sudo hutch init --for" in heard, heard
        assert users(machine, "gina") == [one for one in users(machine, "gina") if "only" in one]
    finally:
        deinit(machine, "gina", "only")
        machine.root("userdel", "gina")


SPOILT = {
    "another's file": lambda file: os.chown(file, people.PEOPLE["frank"], 0),
    "a file that others write": lambda file: file.chmod(0o666),
    "about somebody else": lambda file: file.write_text(file.read_text().replace("frank", "carol", 1)),
    "without a program": lambda file: file.write_text("frank\n"),
    "a program of others": lambda file: file.write_text("frank\n/var/lib/hutch-people/hutch-frank/hutch\n"),
    "a program that is not there": lambda file: file.write_text("frank\n/usr/no/such/hutch\n"),
    "a program by no path": lambda file: file.write_text("frank\nhutch\n"),
    "gone": lambda file: file.unlink(),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_word_that_is_not_roots_lets_nobody(machine, grant, how):
    machine.init("--for", "frank")
    evil = machine.file("/var/lib/hutch-people/hutch-frank/hutch")
    evil.write_text("#!/bin/sh\ntouch /etc/evil\n")
    evil.chmod(0o755)
    try:
        SPOILT[how](grant("frank"))
        heard, _ = ask(machine, "frank", wish("bob"), then="wait")
        assert struct.unpack("<IHH", heard[:8])[1] == 2, heard
        assert users(machine, "frank") == [] and not machine.file("/etc/evil").exists()
    finally:
        evil.unlink()
        machine.init("--for", "frank")


def test_there_are_so_many_and_no_more(machine):
    entries = [machine.file(f"/etc/hutch-helper/people/{people.PEOPLE['frank']}/hutch-frank-x{number}-00000000")
               for number in range(32)]
    try:
        for entry in entries:
            entry.write_text("frank\n")
        heard, _ = ask(machine, "frank", wish("more"), then="wait")
        assert b"the most there may be" in heard and b"hutch deinit --for frank --agent NAME" in heard, heard
        assert users(machine, "frank") == []
    finally:
        for entry in entries:
            entry.unlink()


# Of that machine another one, for a while: what comes after useradd(8) fails.
USERMOD = "/usr/sbin/usermod"


def test_one_that_is_made_halfway_counts(machine):
    """It has a number, which nobody else gets; the person has another try at it, and none beside it."""
    name = "hutch-frank-half-" + hashlib.sha256(b"frank/half").hexdigest()[:8]
    people_of = machine.file(f"/etc/hutch-helper/people/{people.PEOPLE['frank']}")
    entries = [people_of / f"hutch-frank-x{number}-00000000" for number in range(31)]
    machine.root("mount", "--bind", "/bin/false", USERMOD)
    try:
        heard, _ = ask(machine, "frank", wish("half"), then="wait")
        assert b"could not be made" in heard and users(machine, "frank") == [name], heard
        assert (people_of / name).read_text() == "leaving frank\n"
        heard, descriptors = ask(machine, "frank", start(number_of(machine, name)))
        assert b"may run nothing as user" in heard and descriptors == 0, heard
        for entry in entries:
            entry.write_text("frank\n")
        heard, _ = ask(machine, "frank", wish("more"), then="wait")
        assert b"the most there may be" in heard and users(machine, "frank") == [name], heard
        machine.root("umount", USERMOD)
        assert made(ask(machine, "frank", wish("half"), then="wait")[0]) == number_of(machine, name)
    finally:
        subprocess.run([*machine.enter(), "umount", "--quiet", USERMOD], check=False)
        for entry in entries:
            entry.unlink(missing_ok=True)
        deinit(machine, "frank", "half")
    assert users(machine, "frank") == [] and not (people_of / name).exists()


def test_files_that_root_kept_are_for_root_to_give(machine):
    """Eight digits are found by trying: a person "a" has an agent's name that makes the user of an agent of "a-b"."""
    hutch = machine.base.bin / "hutch"
    try:
        number = made(ask(machine, "carol", wish("taken"), then="wait")[0])
        machine.root(hutch, "deinit", "--for", "carol", "--agent", "taken")
        heard, _ = ask(machine, "carol", wish("taken"), then="wait")
        assert b"that root removed" in heard and b"sudo hutch init" in heard, heard
        assert not [name for name in users(machine, "carol") if "-taken-" in name]
        machine.init("--for", "carol", "--agent", "taken")
        assert made(ask(machine, "carol", wish("taken"), then="wait")[0]) == number
    finally:
        deinit(machine, "carol", "taken")


def test_a_user_made_again_after_its_home_was_removed_has_another_number(machine):
    """Of the first one there may be files elsewhere, in what people shared with it."""
    file = machine.directory / "of-the-first"
    try:
        first = made(ask(machine, "carol", wish("again"), then="wait")[0])
        file.write_text("its own\n")
        file.chmod(0o600)
        os.chown(file, first, first)
        deinit(machine, "carol", "again")
        second = made(ask(machine, "carol", wish("again"), then="wait")[0])
        name = next(name for name in users(machine, "carol") if "-again-" in name)
        assert second != first and second == number_of(machine, name)
        numbers = machine.file("/etc/hutch-helper/numbers").read_text().splitlines()
        assert {f"{first} {name}", f"{second} {name}"} <= set(numbers)
        seen = [*machine.enter(), "setpriv", "--reuid", str(second), "--clear-groups", "cat", file]
        assert b"denied" in subprocess.run(seen, capture_output=True, check=False).stderr
    finally:
        file.unlink(missing_ok=True)
        deinit(machine, "carol", "again")


@pytest.fixture
def carols_daemon(machine):
    class Daemon(daemons.Daemon):
        def options(self, given):
            return super().options({"outer": machine.enter(), **given})

    made_here = Daemon(machine.base, machine.person("carol"))
    made_here.person.write(made_here.state / "config/templates.json", json.dumps({"own": {"backend": "user"}}))
    made_here("agent", "list").ok()
    yield made_here
    made_here.stop()


def test_what_goes_with_its_client_has_no_user_made(machine, carols_daemon):
    """Its name is new each time, and the user would stay: after 32 there would be none for carol's own agents."""
    before, socket_api = users(machine, "carol"), api.OnSocket(carols_daemon.socket)
    refused = e2b.rest(socket_api, "POST", "/v2/sandboxes", {"templateID": "own"})
    assert refused.status >= 400 and b"an agent that stays" in refused.body, refused.body
    refused = socket_api.post("/v1/sessions", {"dir": "/", "backend": "user"})
    assert refused.status >= 400 and b"an agent that stays" in refused.body, refused.body
    carols_daemon("agent", "create", "there", "backend=namespace").ok()
    refused = carols_daemon("agent", "create", "there", "backend=user")
    assert refused.code != 0 and "agent there is there already" in refused.errors, str(refused)
    assert users(machine, "carol") == before


def test_what_stays_after_deinit_is_told(machine):
    hugo = harness.Person("hugo", 61406, machine.directory)
    machine.root("useradd", "--uid", "61406", "--user-group", "--no-create-home", "--home-dir", "/", "hugo")
    try:
        machine.init("--for", "hugo")
        made(ask(machine, hugo, wish("bob"), then="wait")[0])
        told = machine.root(machine.base.bin / "hutch", "deinit", "--for", "hugo")
        assert "Still there: 1 user of agents; sudo hutch deinit --for hugo --agent NAME removes one." in told
        heard, _ = ask(machine, hugo, wish("alice"), then="wait")
        assert b"may have no users made for agents" in heard, heard
    finally:
        deinit(machine, "hugo", "bob")
        machine.root("userdel", "hugo")


def test_deinit_takes_that_back_first(machine, grant):
    planned = machine.root(machine.base.bin / "hutch", "deinit", "--for", "frank", "--dry-run").splitlines()
    assert planned[1] == f"rm -f -- /etc/hutch-helper/agents/{people.PEOPLE['frank']}"
    assert grant("frank").exists()
