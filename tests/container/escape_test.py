# The attacks on every backend, on containers; and those that are about containers alone.
import importlib.util
import itertools
import os
import pathlib
import shutil
import socket
import sys

import pytest

import harness

HERE = pathlib.Path(__file__).parent
ESCAPE = HERE.parent / "escape"
sys.path.insert(0, str(ESCAPE))
spec = importlib.util.spec_from_file_location("escape_of_all", ESCAPE / "escape_test.py")
of_all = importlib.util.module_from_spec(spec)
spec.loader.exec_module(of_all)

arena, attack = of_all.arena, of_all.attack
# What these change is the container's own, its /etc and its devices, which go with it.
OF_ITS_OWN = ("climb_from_tmp", "device_nodes")
NAMES = sorted(path.stem for path in (HERE / "attacks").glob("*.c"))
numbers = itertools.count(1)


@pytest.mark.parametrize("name", [name for name in of_all.NAMES if name not in OF_ITS_OWN])
def test_attack(attack, arena, as_user, backend, name, compile_c):
    of_all.test_attack(attack, arena, as_user, backend, name, compile_c)


@pytest.mark.parametrize("name", OF_ITS_OWN)
def test_what_it_changes_of_its_own_is_not_the_hosts(attack, arena, backend, name):
    before = os.stat("/dev/null"), os.listdir("/etc")
    attack(name)
    after = os.stat("/dev/null"), os.listdir("/etc")
    assert (before[0].st_mode, before[0].st_uid, before[1]) == (after[0].st_mode, after[0].st_uid, after[1])
    assert not arena.changes()


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
    program = compile_c(source, name="attack", flags=(f"-I{ESCAPE / 'attacks'}",))
    copy = project.parent / f"guest-{project.name}"
    shutil.copy(hutch.guest, copy)
    as_user.own(copy)
    found = {"ENGINE": engine.socket, "GUEST": copy, "STREAM": listening}
    options = [word for name, value in found.items() for word in ("--env", f"{name}={value}")]
    held = hutch.run(program, options=options)
    assert held.code == of_all.HELD and b"succeeded" not in held.out, str(held)
    # Known to be an attack: outside it succeeds.
    environment = {name: str(value) for name, value in found.items()}
    outside = harness.run_in(as_user, [program], cwd=project, env=environment)
    assert outside.code == of_all.SUCCEEDED and b"succeeded" in outside.out, str(outside)


@pytest.mark.parametrize("which", ["itself", "its directory"])
def test_the_engines_socket_is_never_shown(hutch, backend, engine, which):
    path = engine.socket if which == "itself" else engine.place
    refused = hutch.run("/bin/true", options=["--allow-read", path])
    assert refused.code == 125 and b"socket of an engine" in refused.err, str(refused)
