# The attacks on every backend, on containers; and those that are about containers alone.
import itertools
import json
import os
import pathlib
import shutil
import socket
import sys

import pytest

import harness

HERE = pathlib.Path(__file__).parent
ESCAPE = HERE.parent / "escape"
sys.path[:0] = [str(ESCAPE / "suite"), str(ESCAPE), str(HERE.parent / "access")]
import cases  # noqa: E402
import catalogue  # noqa: E402
import programs  # noqa: E402

CASES = catalogue.every()
ATTACKS = sorted({case.attack for case in CASES} - {"network"})
# What these change is the container's own, its /etc and its devices, which go with it.
OF_ITS_OWN = ("climb_from_tmp", "device_nodes")
NAMES = sorted(path.stem for path in (HERE / "attacks").glob("*.c"))
PATIENCE = 900
numbers = itertools.count(1)


def chosen(attack):
    """Its cases. Each starts a container, which takes seconds: without --all, two of each attack."""
    keys = sorted(case.key for case in CASES if case.attack == attack)
    return keys if os.environ.get("HUTCH_TEST_ALL") == "1" else sorted({keys[0], keys[-1]})


@pytest.fixture
def selftest(hutch, backend, base):
    """selftest(attack) -> {name: outcome} of its cases on containers, by `hutch selftest --attacks`."""
    base.path.chmod(0o1777)

    def run(attack):
        argv = [hutch.program, "selftest", "--attacks", "--json", "--backend", "container", *chosen(attack)]
        result = harness.run_in(hutch.person, argv, cwd=hutch.cwd, timeout=PATIENCE,
                                env={**hutch.variables(), "HUTCH_TEST_BASE": str(base.path)})
        assert result.out, str(result)
        return {case["name"]: case["backends"]["container"] for case in json.loads(result.out)["cases"]}

    return run


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name not in OF_ITS_OWN])
def test_attack(selftest, attack):
    outcomes = selftest(attack)
    wrong = [f"{name}: {outcome}" for name, outcome in outcomes.items()
             if outcome["verdict"] in (cases.FELL, cases.ERROR)]
    assert not wrong, "\n".join(wrong)
    assert set(chosen(attack)) <= set(outcomes)


@pytest.mark.parametrize("attack", OF_ITS_OWN)
def test_what_it_changes_of_its_own_is_not_the_hosts(selftest, attack):
    before = os.stat("/dev/null"), os.listdir("/etc")
    outcomes = selftest(attack)
    after = os.stat("/dev/null"), os.listdir("/etc")
    assert (before[0].st_mode, before[0].st_uid, before[1]) == (after[0].st_mode, after[0].st_uid, after[1])
    assert not [outcome for outcome in outcomes.values() if outcome["how"].startswith("changed")], outcomes


@pytest.fixture
def listening():
    """A stream's name that is left there."""
    path = pathlib.Path(f"/tmp/hutch-stream-{os.getpid()}-{next(numbers)}")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o777)
        listener.listen()
        yield path
    path.unlink()


@pytest.mark.parametrize("name", NAMES)
def test_attack_on_containers(hutch, backend, engine, compile_c, project, as_user, listening, name):
    source = (HERE / "attacks" / f"{name}.c").read_text(encoding="utf-8")
    program = compile_c(source, name="attack", flags=(f"-I{ESCAPE / 'attacks'}", f"-I{HERE / 'attacks'}"))
    copy = project.parent / f"guest-{project.name}"
    shutil.copy(hutch.guest, copy)
    as_user.own(copy)
    found = {"ENGINE": engine.socket, "GUEST": copy, "STREAM": listening}
    options = [word for name, value in found.items() for word in ("--env", f"{name}={value}")]
    held = hutch.run(program, options=options)
    assert held.code == programs.WAS_HELD and b"succeeded" not in held.out, str(held)
    # Known to be an attack: outside it succeeds.
    environment = {name: str(value) for name, value in found.items()}
    outside = harness.run_in(as_user, [program], cwd=project, env=environment)
    assert outside.code == programs.SUCCEEDED and b"succeeded" in outside.out, str(outside)


@pytest.mark.parametrize("which", ["itself", "its directory"])
def test_the_engines_socket_is_never_shown(hutch, backend, engine, which):
    path = engine.socket if which == "itself" else engine.place
    refused = hutch.run("/bin/true", options=["--allow-read", path])
    assert refused.code == 125 and b"socket of an engine" in refused.err, str(refused)
