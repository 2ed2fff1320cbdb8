# Attacks of a sandbox that is an OS user: on another person of the machine, and on what else that very user runs.
"""The attacks are those of attacks/ that are about the machine, not about rules for files, which that backend has none
of."""

import json
import os
import pathlib
import shutil
import sys

import pytest

import harness
import os_user
import people

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import arena as arenas  # noqa: E402
import programs  # noqa: E402

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root alone starts a sandbox as another user")

HELD, ABSENT = 1, 2
# About files, which are closed to that user by their permissions alone.
ABOUT_THE_MACHINE = ("read_home", "climb_from_tmp", "shared_memory", "type_into_terminal")
# Of processes and what they share: held from those of the same user, too.
OF_PROCESSES = ["proc_of_others", "signal_host", "trace_host", "shared_memory", "sysv_ipc", "starve_init"]
OF_PERSONS = OF_PROCESSES + [
    "cgroup_escape", "climb_from_tmp", "descriptors", "device_nodes", "high_halves", "io_uring", "join_namespace",
    "kernel_calls", "kernel_settings", "kill_init", "make_device", "mount_calls", "nested_namespace", "odd_sockets",
    "other_abi", "read_home", "root_breakout", "setuid_program", "trace_init", "type_into_terminal", "unix_socket"]
# Above and beside where it starts is that user's own home.
OWN_HOME = ("beside_the_project", "two_above_the_project", "by_a_link_out_of_the_project")
PERSON, ITSELF = "another person", "the same user"
CASES = [(PERSON, name) for name in OF_PERSONS] + [(ITSELF, name) for name in OF_PROCESSES]


@pytest.fixture
def keeper(base):
    return os_user.keeper(base)


@pytest.fixture(params=["root", "by-helper"])
def attacker(base, request):
    """Whose sandbox it is: root's, and that of a person who is not root."""
    if request.param == "root":
        return os_user.keeper(base)
    return people.keeper(request.getfixturevalue("machine"), "frank")


@pytest.fixture
def target(base, attacker, request):
    """Whom the attack is aimed at. Its home is closed to others, as useradd makes them."""
    of_person = request.node.callspec.params["whom"] == PERSON
    uid, name = (harness.USER_ID, "target") if of_person else (attacker.uid, f"target-itself-{attacker.uid}")
    person = harness.Person(name, uid, base.path / name)
    if not person.home.exists():
        person.mkdir(person.home, 0o700)
    return person


@pytest.fixture
def arena(target, request):
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    made = arenas.Arena(target, target.mkdir(target.home / "projects" / name))
    yield made
    made.close()


@pytest.mark.parametrize("whom, name", CASES)
def test_attack(base, attacker, target, arena, whom, name):
    """Each attempt of the attack, of those that are not about rules for files. What they are on the backend none is a
    case of the suite, which has the same arena."""
    own = attacker.home / arena.project.name
    attacker.mkdir(own)
    program = own / "attack"
    shutil.copy(base.bin / "attacks/escape/attempts", program)
    attacker.own(program)
    hutch = harness.Hutch(base, attacker, own, "user")
    attempts = [case for case in programs.cases() if case.attack == name and not case.of_files]
    attempts += [case for case in programs.cases() if case.attack == name and name in ABOUT_THE_MACHINE]
    attempts = [case for case in attempts if case.name not in OWN_HOME]
    assert attempts
    for case in attempts:
        result = hutch.run(program, name, case.name, options=arena.variables())
        assert result.code in (HELD, ABSENT) or result.code > 128, f"{case.key}: {result}"
        assert b"succeeded" not in result.out, str(result)
        assert not arena.changes(), arena.changes()


LEFT = "import os, sys, time\nfor _ in range(2):\n  if os.fork(): os._exit(0)\n  os.setsid()\ntime.sleep(600)  # {}"


def test_what_forked_twice_and_left_its_session_ends_with_the_command(base, keeper):
    marker = f"left-{os.getpid()}"
    hutch = harness.Hutch(base, keeper, keeper.home, "user")
    hutch.run("/usr/bin/python3", "-c", LEFT.format(marker), timeout=60).ok()
    assert not harness.processes_with(marker)


def test_without_the_user_it_says_what_to_type(base, tmp_path):
    root = base.person("root")
    hutch = harness.Hutch(base, root, root.home, "user")
    if any(line.startswith("hutch:") for line in pathlib.Path("/etc/passwd").read_text().splitlines()):
        pytest.skip("this machine has the user")
    result = hutch.run("touch", str(tmp_path / "ran"))
    assert result.code == 125 and b"no user hutch" in result.err and b"sudo hutch init" in result.err, str(result)
    assert not (tmp_path / "ran").exists()


def test_a_user_that_is_root_is_refused(base, keeper):
    passwd = base.path / "passwd-of-root"
    text = "".join(line for line in keeper.passwd.read_text().splitlines(True) if not line.startswith("hutch:"))
    passwd.write_text(text + f"hutch:x:0:0::{keeper.home}:/bin/sh\n")
    state = base.path / "state-of-root-user/state-of-keeper"
    made = os_user.Keeper("hutch", 0, keeper.home, passwd)
    result = harness.Hutch(base, made, keeper.home, "user").run("id", env={"HUTCH_STATE": str(state)})
    assert result.code == 125 and b"is root" in result.err, str(result)


@pytest.mark.parametrize("policy, words", [
    ({"network": {"allowUnixSockets": ["/run/x"]}}, [b"allowUnixSockets", b"backend namespace"]),
    ({"network": "host", "filesystem": {"denyRead": ["/etc"]}}, [b"filesystem.denyRead", b"hutch share"]),
    ({"network": "host", "filesystem": {"allowWrite": ["."]}}, [b"filesystem.allowWrite"]),
    ({"network": "host", "limits": {"disk": "1G"}}, [b"limits.disk"]),
])
def test_what_it_cannot_hold_is_refused(base, keeper, policy, words):
    file = keeper.write(keeper.home / "policy.json", json.dumps(policy))
    hutch = harness.Hutch(base, keeper, keeper.home, "user")
    result = hutch.run("touch", "ran-anyway", options=["--policy", str(file)])
    assert result.code == 125 and all(word in result.err for word in words), str(result)
    assert not (keeper.home / "ran-anyway").exists()


def test_what_a_policy_begins_with_is_nobodys_rule(base, keeper):
    state = {"HUTCH_STATE": str(base.path / "state-of-root/begun")}
    hutch = harness.Hutch(base, keeper, keeper.home, "user")
    hutch("config", "add", "network.allowedDomains", "good.example", env=state).ok()
    result = hutch.run("true", env=state)
    assert result.code == 0 and b"is what a policy begins with" in result.err, str(result)
    hutch("config", "add", "filesystem.denyRead", "/etc", env=state).ok()
    assert hutch.run("true", env=state).code == 125


@pytest.mark.parametrize("option", ["--allow-read", "--deny-read", "--allow-write", "--deny-write"])
def test_options_that_it_cannot_hold_are_refused(base, keeper, option):
    hutch = harness.Hutch(base, keeper, keeper.home, "user")
    result = hutch.run("true", options=[option, "example.com"])
    assert result.code == 125 and b"hold" in result.err, str(result)


def test_the_hosts_network_has_no_rules(base, keeper):
    file = keeper.write(keeper.home / "policy.json", json.dumps({"network": "host"}))
    hutch = harness.Hutch(base, keeper, keeper.home, "user")
    result = hutch.run("true", options=["--policy", str(file), "--allow-domain", "example.com"])
    assert result.code == 125 and b"hold nothing" in result.err, str(result)


@pytest.mark.parametrize("network, own", [("host", False), ("none", True), (None, True)])
def test_the_network_is_its_own_unless_the_policy_gives_the_hosts(base, keeper, network, own):
    file = keeper.write(keeper.home / "policy.json", json.dumps({"network": network}))
    options = ["--policy", str(file)] if network else []
    hutch = harness.Hutch(base, keeper, keeper.home, "user")
    inside = hutch.run("readlink", "/proc/self/ns/net", options=options).ok().text.strip()
    assert (inside != os.readlink("/proc/self/ns/net")) == own


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_others_refuse_the_hosts_network(base, keeper, backend):
    file = keeper.write(keeper.home / "policy.json", json.dumps({"network": "host"}))
    result = harness.Hutch(base, keeper, keeper.home, backend).run("true", options=["--policy", str(file)])
    assert result.code == 125 and b"\"network\" is \"host\"" in result.err, str(result)
