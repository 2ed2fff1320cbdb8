# What ./dev says of a build, which tests a change reaches, and when a benchmark's ratio has moved.
import io
import json
import os
import sys

import pytest

import lines_read
import sources

sys.path.insert(0, str(sources.ROOT / "tools"))

import bench_compare  # noqa: E402
import changed  # noqa: E402
import cmake_build  # noqa: E402
import edited  # noqa: E402
import packages  # noqa: E402
import progress  # noqa: E402
import shell  # noqa: E402

# More than this for one source, and everybody who compiles it pays; what is above is listed, and may only shrink.
LINES_READ = 175_000
TEST_LINES_READ = 210_000
# Debian's own headers grow by a few lines with an update.
TOLERANCE = 0.02


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def shown(stream, lines):
    """What a build that prints `lines`, each with the second at which it does, shows."""
    clock = Clock()
    seen = progress.Progress("release", verbose=False, stream=stream, now=clock)
    for second, line in lines:
        clock.seconds = second
        cmake_build.read_line(line, seen)
    return seen


COMPILING = [(0, b"@1/40@ Building CXX object a.cc.o\n"), (30, b"@10/40@ Building CXX object b.cc.o\n"),
             (31, b"@11/40@ Building CXX object c.cc.o\n")]


def test_without_a_terminal_a_line_now_and_then():
    stream = io.StringIO()
    shown(stream, COMPILING).end()
    assert stream.getvalue().splitlines() == ["dev: build/release: compiling 1/40",
                                              "dev: build/release: compiling 10/40, about 2 min left"]


def test_on_a_terminal_one_line_that_is_gone_at_the_end():
    stream = Terminal()
    shown(stream, COMPILING).end()
    assert "\n" not in stream.getvalue() and "compiling 11/40, about 1 min left" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_nothing_where_nothing_is_built():
    stream = io.StringIO()
    shown(stream, [(0, b"ninja: Entering directory\n"), (0, b"ninja: no work to do.\n")]).end()
    assert stream.getvalue() == ""


def test_a_failure_shows_what_the_compiler_said_and_nothing_of_the_others():
    stream = io.StringIO()
    seen = shown(stream, [(0, b"@1/3@ Building CXX object a.cc.o\n"), (1, b"a.cc:1: warning: quiet\n"),
                          (2, b"@2/3@ Building CXX object b.cc.o\n"), (3, b"FAILED: b.cc.o \n"),
                          (3, b"g++ " + b"-x " * 400 + b"\n"), (3, b"b.cc:7:1: error: no such thing\n"),
                          (4, b"@3/3@ Building CXX object c.cc.o\n")])
    stream.truncate(0)
    stream.seek(0)
    seen.show_failure()
    assert stream.getvalue() == "FAILED: b.cc.o \nb.cc:7:1: error: no such thing\n"


@pytest.mark.parametrize("seconds, done, total, words", [
    (1, 1, 600, ""), (60, 0, 600, ""), (60, 300, 600, ", about 1 min left"),
    (60, 590, 600, ", less than a minute left"),
])
def test_an_estimate_needs_some_seconds(seconds, done, total, words):
    assert progress.estimate(seconds, done, total) == words


def test_what_cannot_be_installed_is_named_with_one_command(monkeypatch, tmp_path):
    """As on a machine without a network: apt-get runs and fails."""
    apt = tmp_path / "apt-get"
    apt.write_text("#!/bin/sh\necho 'E: Unable to locate package ninja-build' >&2\nexit 100\n")
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(packages, "path", lambda *parts: str(tmp_path.joinpath(*parts)))
    monkeypatch.setattr(packages.os, "geteuid", lambda: 0)
    with pytest.raises(shell.Failed) as failure:
        packages.install(["ninja-build", "g++"])
    said = str(failure.value)
    assert "could not install: ninja-build g++" in said and "is there a network?" in said
    assert "E: Unable to locate package ninja-build" in said
    assert "as root: apt-get install ninja-build g++" in said


@pytest.fixture(scope="module")
def tree():
    return changed.Tree()


@pytest.mark.parametrize("file, reached", [
    ("src/plan/paths/names_test.cc", {"unit.plan", "style"}),
    ("tests/vm/run_test.py", {"vm", "style"}),
    ("tests/fuzz/message_fuzz.cc", {"fuzz"}),
    ("docs/policy.md", {"style", "e2e"}),
    ("CMakeLists.txt", {"all"}),
    ("tests/lib/harness.py", {"all"}),
    ("tests/lib/tmux.py", {"e2e", "style"}),
    ("src/unpack/main.cc", {"unit.unpack", "image", "container", "plugins", "vm", "clients", "style", "fuzz"}),
])
def test_what_a_change_reaches(tree, file, reached):
    assert (sources.ROOT / file).exists()
    found = changed.groups_of(file, tree)
    assert found >= reached if "all" not in reached and "e2e" in reached else found == reached


def test_a_header_below_reaches_the_tests_of_all_above(tree):
    found = changed.groups_of("src/base/result.h", tree)
    assert {"unit.plan", "unit.service", "unit.guest", "conformance", "e2e"} <= found


def test_every_suite_of_the_table_exists(tree):
    assert {name for names in changed.SUITES_OF.values() for name in names} <= set(tree.suites)


@pytest.mark.parametrize("kept, now, moved", [
    ((1.0, 0.05), (1.06, 0.02), False), ((1.0, 0.05), (1.2, 0.05), True), ((1.0, 0.0), (1.02, 0.0), False),
    ((2.0, 0.01), (1.6, 0.01), True),
])
def test_a_ratio_moves_beyond_its_noise(kept, now, moved):
    entry = [{"ratio": ratio, "noise": noise} for ratio, noise in (kept, now)]
    assert (bench_compare.moved(*entry) is not None) == moved


def test_sources_read_few_lines():
    """The time to compile a source follows the lines that its headers bring along."""
    listed = json.loads(sources.text("tests/style/exceptions.json"))["lines_read"]
    read, found = lines_read.of_sources(), []
    for name, lines in read.items():
        limit = TEST_LINES_READ if name.endswith(("_test.cc", "_testing.cc")) else LINES_READ
        most = listed.get(name, limit)
        if lines > most * (1 + TOLERANCE):
            found.append(f"{name}: the compiler reads {lines} lines, at most {most}: include less, or hide it in a .cc")
        elif name in listed and lines <= limit:
            found.append(f"{name}: now {lines} lines: take it out of tests/style/exceptions.json (lines_read)")
    assert not found, "\n" + "\n".join(found)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A tree with ten sources and a build that is newer than all of them."""
    for number in range(10):
        source = tmp_path / "src" / "base" / f"source{number}.cc"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.touch()
        os.utime(source, (1000, 1000))
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / ".ninja_log").touch()
    os.utime(tmp_path / "build" / ".ninja_log", (2000, 2000))
    monkeypatch.setattr(edited, "path", lambda *parts: str(tmp_path.joinpath(*parts)))
    return tmp_path


def edit(checkout, *numbers):
    for number in numbers:
        os.utime(checkout / "src" / "base" / f"source{number}.cc", (3000, 3000))
    edited.mark(checkout / "build")
    return edited.listed(checkout / "build")


def test_an_edited_source_is_compiled_by_itself(checkout):
    assert edit(checkout) == []
    assert edit(checkout, 3) == ["src/base/source3.cc"]


def test_the_list_keeps_what_was_edited_before(checkout):
    edit(checkout, 3)
    os.utime(checkout / "build" / ".ninja_log", (4000, 4000))
    os.utime(checkout / "src" / "base" / "source5.cc", (5000, 5000))
    edited.mark(checkout / "build")
    assert edited.listed(checkout / "build") == ["src/base/source5.cc", "src/base/source3.cc"]


def test_a_pull_is_no_edit(checkout):
    assert edit(checkout, *range(10)) == []


def test_a_clean_build_knows_no_edits(checkout):
    (checkout / "build" / ".ninja_log").unlink()
    assert edit(checkout, 1) == []
