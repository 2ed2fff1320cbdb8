# The C++ API: what an installed hutch gives to a program, as root and as an ordinary user.
import os
import shutil
import subprocess

import pytest

import harness

CHECKS = """lifecycle results streaming timeouts abort processes files threads churn killed_outside mistakes
 failed_start resources walls policy questions""".split()
WALLS = ["walls", "policy", "questions"]


@pytest.fixture
def check(surface, as_user, project):
    """check(NAME, BACKEND): one check of surface.cc, in `project`."""

    def run(name, backend, **options):
        return harness.run_in(as_user, [surface, name, backend], cwd=project, **options)

    return run


# An ordinary user on each backend; root where hutch itself makes the namespaces.
PLACES = [("user", "none"), ("user", "bwrap"), ("user", "namespace")]
if os.geteuid() == 0:
    PLACES.append(("root", "namespace"))


@pytest.mark.parametrize("as_user, backend", PLACES, indirect=True)
@pytest.mark.parametrize("name", CHECKS)
def test_surface(check, backend, name):
    if name in WALLS and backend == "none":
        pytest.skip("none has no walls")
    check(name, backend).ok()


def test_arguments_for_bwrap(check):
    check("bwrap_arguments", "bwrap").ok()


@pytest.mark.parametrize("hard", [None, "1"])
def test_nothing_is_left(check, backend, hard, tmp_path):
    """Neither where the program ends, nor where it is killed."""
    mark = f"30{abs(hash(str(tmp_path))) % 10**9}"
    ended = check("leave", backend, env={"MARK": mark, "HARD": hard})
    assert ended.text == "started\n" and ended.code == (137 if hard else 0), str(ended)
    harness.wait_until(lambda: not harness.processes_with(mark), "no process of the sandbox is left")


def test_example(example, as_user, project):
    out = harness.run_in(as_user, [example], cwd=project).ok().text
    assert "sorted: 1\n2\n3\n" in out and "came: line 1\n" in out and "a write outside: exit code 1" in out
    assert "Working directory: " + str(project / ".sandbox") in out
    assert not (project / "outside").exists()
    assert sorted(path.name for path in (project / ".sandbox").iterdir()) == ["count.sh", "src"]


def test_the_library_shows_its_api_alone(prefix):
    library = next(prefix.glob("lib*/**/libhutch.so"))
    names = subprocess.run(
        ["nm", "-DC", "--defined-only", library], stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    shown = [line.split(maxsplit=2)[2] for line in names.splitlines()]
    ours = ("hutch::Sandbox", "hutch::Container", "hutch::ensure_image(", "hutch::to_string")
    others = [name for name in shown if not name.startswith(ours)]
    assert shown and not others, others


@pytest.mark.parametrize("header", ["container.h", "sandbox.h", "types.h"])
def test_a_header_stands_alone(prefix, tmp_path, header):
    source = tmp_path / "alone.cc"
    source.write_text(f"#include <hutch/{header}>\nint main() {{}}\n")
    subprocess.run(
        [
            "g++",
            "-std=c++23",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-fsyntax-only",
            f"-I{prefix}/include",
            source,
        ],
        check=True,
    )


def test_where_the_guest_is_found(prefix, surface, as_user, project, base):
    """Without it, an error that says so; with HUTCH_GUEST it may lie anywhere."""
    moved = base.path / f"moved-{as_user.name}"
    (moved / "lib").mkdir(parents=True)
    for library in prefix.glob("lib*/**/libhutch.so*"):
        shutil.copy(library, moved / "lib", follow_symlinks=False)
    options = {"cwd": project, "env": {"LD_LIBRARY_PATH": str(moved / "lib")}}
    lost = harness.run_in(as_user, [surface, "lifecycle", "namespace"], **options)
    assert lost.code == 1 and "hutch-guest is not found" in lost.errors, str(lost)
    options["env"]["HUTCH_GUEST"] = str(prefix / "lib/hutch/hutch-guest")
    harness.run_in(as_user, [surface, "lifecycle", "namespace"], **options).ok()
