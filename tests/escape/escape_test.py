# Every attack, on every backend: none succeeds where there are walls, and each is known to be an attack.
"""An attack is a file of attacks/, a C program: its first line says what it does, `// none:` whether it succeeds where
nothing protects. Adding a file is all that it takes to add an attack."""

import concurrent.futures
import os
import pathlib
import sys
import time

import pytest

import harness

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import arena as arenas  # noqa: E402

NAMES = sorted(path.stem for path in arenas.ATTACKS.glob("*.c"))
SUCCEEDED, HELD = 0, 1


@pytest.fixture
def arena(as_user, project):
    made = arenas.Arena(as_user, project)
    yield made
    made.close()


@pytest.fixture
def attack(compile_c, hutch, arena):
    """attack(name) runs it in the arena, with the streams that its head asks for."""

    def run(name):
        source = (arenas.ATTACKS / f"{name}.c").read_text(encoding="utf-8")
        program = compile_c(source, name="attack", flags=(f"-I{arenas.ATTACKS}",))
        wanted, streams = arenas.header(name), {}
        if "stdin" in wanted:
            streams["stdin"] = open(arena.stream, "rb")
        if "stdout" in wanted:
            streams["stdout"] = open(arena.stream, "ab")
        try:
            return hutch.run(program, options=arena.options(), **streams)
        finally:
            for opened in streams.values():
                opened.close()

    return run


# What some machines do not have at all: a program that ends with 0 where it is there.
MACHINE = {"32-bit gate": 'int main(void) { __asm__ volatile("int $0x80" : : "a"(1L), "b"(0L)); return 1; }'}


@pytest.mark.parametrize("name", NAMES)
def test_attack(attack, arena, as_user, backend, name, compile_c):
    needed = arenas.header(name).get("machine")
    if backend == "none" and needed:
        there = harness.run_in(as_user, [compile_c(MACHINE[needed], name="machine")], cwd=arena.project)
        if there.code != 0:
            pytest.skip(f"this machine has no {needed}")
    result = attack(name)
    changed = [path for path in arena.changes() if path != str(arena.stream) or name != "stdout_file"]
    if backend == "none":
        if arenas.works_unprotected(name, as_user):
            assert result.code == SUCCEEDED, f"no attack: it fails where nothing protects\n{result}"
        return
    assert result.code == HELD or result.code > 128, str(result)
    assert b"succeeded" not in result.out, str(result)
    assert not changed, changed


def test_what_is_appended_to_a_file_is_all_that_happens_to_it(attack, arena, backend):
    result = attack("stdout_file")
    assert arena.stream.read_bytes().startswith(arenas.SECRET.encode()), str(result)
    assert arena.stream.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("aside", [False, True], ids=["over it", "the old one aside"])
@pytest.mark.parametrize("name", ["denied-file", ".git/config"])
def test_a_protected_file_that_is_replaced_outside_ends_the_run(attack, as_user, project, backend, arena, name, aside):
    as_user.write(project / "outside")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(attack, "replaced_outside")
        deadline = time.monotonic() + 45
        while not (project / "waiting").exists() and not running.done() and time.monotonic() < deadline:
            time.sleep(0.02)
        if aside:
            os.rename(project / name, project / "aside")
        os.rename(as_user.write(project / "fresh", arenas.SECRET), project / name)
        as_user.write(project / "replaced")
        result = running.result()
    if backend == "none":
        assert result.code == SUCCEEDED, str(result)
        return
    assert (project / "waiting").exists(), str(result)
    assert result.code == 125 and b"replaced outside" in result.err, str(result)
    assert b"succeeded" not in result.out and (project / name).read_text(encoding="utf-8") == arenas.SECRET, str(result)


def test_what_one_sandbox_closes_the_next_protects_all_the_same(attack, as_user, project, backend, arena):
    for path in ("bare/HEAD", "bare/objects/x", "bare/refs/x", "bare/hooks/pre-commit", "bare/config",
                 ".git/modules/m/HEAD", ".git/modules/m/hooks/pre-commit", ".git/modules/m/config",
                 ".git/worktrees/w/commondir"):
        as_user.write(project / path)
    for result in (attack("blind_the_next"), attack("blind_the_next")):
        assert result.code == (SUCCEEDED if backend == "none" else HELD), str(result)


def test_a_new_file_that_sends_git_elsewhere(hutch, arena, backend, project):
    quiet = hutch.run("sh", "-c", "echo x > .git/index", options=arena.options())
    assert b"commondir" not in quiet.err, str(quiet)
    made = hutch.run("sh", "-c", "echo ../evil > .git/commondir", options=arena.options())
    if backend == "none":
        assert b".git/commondir was made" in made.err, str(made)
    else:
        assert made.code == 2 and b".git/commondir was refused" in made.err, str(made)
        assert not (project / ".git/commondir").exists()


def test_every_attack_says_what_it_does():
    for name in NAMES:
        lines = (arenas.ATTACKS / f"{name}.c").read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("// ") and lines[0].endswith("."), name
        assert "none" in arenas.header(name), name
