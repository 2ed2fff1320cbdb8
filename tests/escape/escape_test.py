# The suite of attacks that hutch ships: on every backend none succeeds, and each is known to be an attack.
"""The cases are those of suite/, attacks/, network/ and tests/access/descriptors.py; `hutch selftest --attacks` runs
them, here as for anybody. Adding a file to attacks/, or an entry to a table, is all that it takes to add an attack."""

import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

import harness
import sources

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "suite"))
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "access"))
import arena as arenas  # noqa: E402
import catalogue  # noqa: E402
import cases  # noqa: E402
import programs  # noqa: E402

CASES = catalogue.every()
# Those of the network between hosts are made by both people in network_test.py.
ATTACKS = sorted({case.attack for case in CASES} - {"network"})
# Several attacks by one call: starting the runner costs as much as some cases.
BATCHES = [ATTACKS[start::8] for start in range(8)]
PATIENCE = 900
AN_ATTACK = "read_denied.directly"


@pytest.fixture
def selftest(hutch, base):
    """selftest(*words) -> (result, what it printed as JSON)."""

    def run(*words, program=None, **options):
        options.setdefault("env", {"HUTCH_TEST_BASE": str(base.path)})
        argv = [program or hutch.program, "selftest", "--attacks", "--json", *words]
        result = harness.run_in(hutch.person, argv, cwd=hutch.cwd, timeout=PATIENCE, **options)
        return result, json.loads(result.out) if result.out else None

    return run


@pytest.fixture(autouse=True)
def scratch_for_everybody(base):
    base.path.chmod(0o1777)


@pytest.mark.parametrize("attacks", BATCHES, ids=lambda attacks: f"{attacks[0]} and {len(attacks) - 1} more")
def test_attack(selftest, attacks):
    chosen = [f"{attack}." for attack in attacks]
    result, said = selftest("--backend", "namespace", "--backend", "bwrap", *chosen)
    wrong = []
    for case in said["cases"]:
        if case["control"]["verdict"] in (cases.ERROR, "no bite"):
            wrong.append(f"{case['name']}: no attack: {case['control']}")
        for name, outcome in case["backends"].items():
            if outcome["verdict"] in (cases.FELL, cases.ERROR):
                wrong.append(f"{case['name']} on {name}: {outcome}")
    assert not wrong, "\n".join(wrong)
    assert result.code == 0, str(result)
    assert {case["name"] for case in said["cases"]} == {case.key for case in CASES if case.attack in attacks}


def test_there_are_enough_attacks():
    assert len(CASES) >= 300
    assert sum(case.bites != cases.NOBODY for case in CASES) >= 300, "those that succeed where nothing protects"
    assert sum(case.bites == cases.EVERYBODY for case in CASES) >= 200
    kinds = collections.Counter(case.kind for case in CASES)
    assert {"files", "names", "git", "network", "processes", "kernel", "namespaces", "privileges", "sockets", "streams",
            "descriptors"} == set(kinds), kinds


def test_every_attack_says_what_it_does():
    for case in CASES:
        assert re.fullmatch(r"[A-Z`].*\.", case.what), case.key
        assert re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_]+", case.key), case.key
        assert bool(case.unless) == (case.bites == cases.NOBODY), case.key


def test_the_program_has_the_attempts_that_its_sources_have(base):
    listed = subprocess.run([base.bin / "attacks/escape/attempts"], stdout=subprocess.PIPE, check=True)
    there = {line.replace(" ", ".") for line in listed.stdout.decode().splitlines()}
    assert there == {case.key for case in programs.cases()}


def test_the_list(hutch, selftest):
    listed = hutch("selftest", "--attacks", "--list").ok().text
    assert listed.endswith(f"{len(CASES)} attacks\n")
    _, said = selftest("--list", "git")
    assert {case["name"] for case in said} == {case.key for case in CASES if case.kind == "git" or "git" in case.key}


def test_the_table(hutch, base):
    result = hutch("selftest", "--attacks", "--backend", "namespace", AN_ATTACK, timeout=PATIENCE,
                   env={"HUTCH_TEST_BASE": str(base.path)}).ok()
    lines = result.text.splitlines()
    assert lines[0].split() == ["attack", "control", "namespace"]
    assert lines[1].split() == [AN_ATTACK, "bites", "held"]
    assert "namespace: 1 held, 0 fell, 0 not run" in lines, result.text
    assert result.err == b"", "nobody looks on"


# What stands where hutch stands, and starts it without walls.
NO_WALLS = """#!/bin/sh
if [ "$1" = run ]; then shift 3; exec {hutch} run --backend none "$@"; fi
exec {hutch} "$@"
"""
FAILS = """#!/bin/sh
if [ "$1" = run ] && [ "$3" = namespace ]; then echo "hutch: it went wrong" >&2; exit 125; fi
exec {hutch} "$@"
"""


def by_wrapper(selftest, hutch, as_user, project, text, *words):
    """The runner is told of another program than that which started it."""
    wrapper = as_user.write(project / "wrapper", text.format(hutch=hutch.program), 0o755)
    runner = hutch.program.parent / "attacks/escape/suite/run.py"
    argv = ["/usr/bin/python3", "-I", "-B", runner, "--hutch", wrapper, "--json", *words]
    result = harness.run_in(as_user, argv, cwd=project, timeout=PATIENCE,
                            env={"HUTCH_TEST_BASE": str(hutch.program.parents[1])})
    return result, json.loads(result.out)


@pytest.mark.parametrize("attack", [AN_ATTACK, "git.core_hookspath", "names.a_second_name", "loopback.dotted",
                                    "descriptor.fchmod_descriptor", "left_for_the_next.a_policy_in_the_project",
                                    "unix_socket.docker", "write_locked.append"])
def test_what_fell_is_told(selftest, hutch, as_user, project, attack):
    """A hutch without walls: each kind of case sees that."""
    result, said = by_wrapper(selftest, hutch, as_user, project, NO_WALLS, "--backend", "namespace", attack)
    assert result.code == 1, str(result)
    fell = [case for case in said["cases"] if case["backends"]["namespace"]["verdict"] == cases.FELL]
    assert attack in [case["name"] for case in fell], said
    assert said["counts"]["namespace"]["fell"] == len(fell)


def test_a_sandbox_that_does_not_start_holds_nothing(selftest, hutch, as_user, project):
    result, said = by_wrapper(selftest, hutch, as_user, project, FAILS, "--backend", "namespace", AN_ATTACK)
    assert result.code == 125, str(result)
    [case] = said["cases"]
    assert case["backends"]["namespace"]["verdict"] == cases.ERROR
    assert "it went wrong" in case["backends"]["namespace"]["how"]


def test_what_cannot_be_run_is_said(selftest, as_user, project, base):
    """Without git its attacks are not run, and nothing else changes."""
    programs_of_path = as_user.mkdir(project / "path")
    for name in ("unshare", "mount", "sh", "env"):
        (programs_of_path / name).symlink_to(shutil.which(name))
    result, said = selftest("--backend", "namespace", "git.core_hookspath", AN_ATTACK,
                            env={"PATH": str(programs_of_path), "HUTCH_TEST_BASE": str(base.path)})
    assert result.code == 0, str(result)
    outcomes = {case["name"]: case["backends"]["namespace"] for case in said["cases"]}
    assert outcomes["git.core_hookspath"]["verdict"] == cases.NOT_RUN
    assert outcomes["git.core_hookspath"]["how"] == "no git"
    assert outcomes[AN_ATTACK]["verdict"] == cases.HELD


@pytest.mark.skipif(os.geteuid() != 0, reason="hides python3 in a mount namespace")
def test_without_python_it_says_what_to_install(hutch):
    hide = f"mount --bind /dev/null {os.path.realpath('/usr/bin/python3')} && exec \"$@\""
    result = hutch("selftest", "--attacks", outer=["unshare", "--mount", "sh", "-c", hide, "sh"])
    assert result.code == 125 and b"python3 is not installed; apt-get install python3" in result.err, str(result)


def test_without_the_attacks_it_says_what_is_missing(hutch, as_user, project):
    for name in ("hutch", "hutch-guest"):
        as_user.own(shutil.copy(hutch.program.parent / name, project / name))
    result = harness.run_in(as_user, [project / "hutch", "selftest", "--attacks"], cwd=project)
    assert result.code == 125 and b"attacks/escape/suite/run.py is missing" in result.err, str(result)


@pytest.mark.parametrize("words, said", [
    (["--attacks", "no_such_attack"], b"no attack is named no_such_attack"),
    (["--attacks", "--backend", "none"], b"no attacks are made on none"),
    (["--attacks", "--backend", "vm"], b"no attacks are made on vm"),
    ([], b"--attacks"),
])
def test_what_is_wrong_is_said(hutch, words, said):
    result = hutch("selftest", *words)
    assert result.code == 125 and said in result.err, str(result)




def outside(directory):
    return [path for top in ("/tmp", "/dev/shm") for path in pathlib.Path(top).glob(f"hutch-arena-{directory}-*")]


@pytest.mark.parametrize("end", [None, signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays(hutch, as_user, project, end):
    place = as_user.mkdir(project / "scratch")
    place.chmod(0o777)
    argv = [hutch.program, "selftest", "--attacks", "--backend", "namespace", "unix_socket", "signal_host"]
    process = harness.start_in(as_user, argv, cwd=project, env={"HUTCH_TEST_BASE": str(place)})
    with process:
        made = harness.wait_until(lambda: list(place.glob("hutch-selftest-*/*-*/home/projects/p/.git")),
                                  "an attack is made")
        if end:
            os.kill(process.pid, end)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == (-end if end == signal.SIGKILL else 128 + end if end else 0), (out, err)
    harness.wait_until(lambda: not harness.processes_with(str(place)), "its processes have ended")
    if end != signal.SIGKILL:
        assert not list(place.iterdir())
    directory = made[0].relative_to(place).parts[0]
    harness.wait_until(lambda: not outside(directory), "what was made outside of its directory is gone", 10)


def test_a_new_file_that_sends_git_elsewhere(hutch, as_user, backend, project):
    arena = arenas.Arena(as_user, project)
    try:
        quiet = hutch.run("sh", "-c", "echo x > .git/index", options=arena.options())
        assert b"commondir" not in quiet.err, str(quiet)
        made = hutch.run("sh", "-c", "echo ../evil > .git/commondir", options=arena.options())
    finally:
        arena.close()
    if backend == "none":
        assert b".git/commondir was made" in made.err, str(made)
    else:
        assert made.code == 2 and b".git/commondir was refused" in made.err, str(made)
        assert not (project / ".git/commondir").exists()


def test_the_page_lists_the_cases_that_exist():
    text = sources.text("docs/attacks.md")
    listed = {f"{attack}.{name}" for attack, names in re.findall(r"^\| `([a-z0-9_]+)` \| (.+?) \|", text, re.MULTILINE)
              for name in re.findall(r"`([a-z0-9_]+)`", names)}
    missing, gone = {case.key for case in CASES} - listed, listed - {case.key for case in CASES}
    assert not missing and not gone, f"./dev attacks writes the page anew: missing {missing}, gone {gone}"
