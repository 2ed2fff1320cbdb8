# Scripts: Python compiles, shell scripts pass shellcheck, what is meant to be run can be.
import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys

import pytest

import sources

EXECUTABLE = ["dev", ".ci/run"]


def test_python_compiles():
    found = []
    for name in sources.matching(".py"):
        try:
            compile(sources.text(name), name, "exec", dont_inherit=True)
        except SyntaxError as error:
            found.append(f"{name}:{error.lineno}: {error.msg}")
    assert not found, "\n" + "\n".join(found)


@pytest.mark.skipif(not importlib.util.find_spec("pyflakes"), reason="no pyflakes: ./dev test installs it")
def test_python_knows_its_names():
    """A name that nothing defines fails where it is used alone, which may be after a wait."""
    checked = subprocess.run([sys.executable, "-m", "pyflakes", *sources.matching(".py")], cwd=sources.ROOT,
                             stdout=subprocess.PIPE, check=False)
    assert checked.returncode == 0, "\n" + checked.stdout.decode()


def test_fixtures_of_many_tests_name_no_fixed_path():
    """pytest sets one up again where the tests of two engines take turns, and its directory is there then."""
    found = [f"{name}:{node.lineno}: base.unused(NAME) is a path that nobody took"
             for name in sources.matching(".py") for node in ast.walk(ast.parse(sources.text(name)))
             if is_fixture_of_many(node) and joins_to_base_path(node)]
    assert not found, "\n" + "\n".join(found)


def is_fixture_of_many(node):
    decorators = [ast.unparse(decorator) for decorator in getattr(node, "decorator_list", [])]
    return any("fixture(" in text and "scope=" in text for text in decorators)


def joins_to_base_path(function):
    return any(isinstance(node, ast.BinOp) and ast.unparse(node.left) == "base.path" for node in ast.walk(function))


def test_json_parses():
    for name in sources.matching(".json"):
        if not name.startswith("tests/fuzz/"):
            json.loads(sources.text(name))


def shell_scripts():
    return [name for name in sources.every()
            if name.endswith((".sh", ".bash")) or sources.text(name).startswith(("#!/bin/sh", "#!/bin/bash"))]


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed: ./dev lint installs it")
def test_shellcheck():
    checked = subprocess.run(["shellcheck", *shell_scripts()], cwd=sources.ROOT, stdout=subprocess.PIPE, check=False)
    assert checked.returncode == 0, "\n" + checked.stdout.decode()


@pytest.mark.parametrize("name", EXECUTABLE)
def test_executable(name):
    assert os.access(sources.ROOT / name, os.X_OK)


def test_ci_runs_the_test_command():
    """One command, the README's."""
    lines = [line for line in sources.text(".ci/run").split("\n") if line and not line.startswith("#")]
    assert len(lines) == 1 and lines[0].endswith('dev" test'), lines


def test_dependencies_say_why():
    for line in sources.text("packaging/dependencies").split("\n"):
        if line and not line.startswith("#"):
            assert len(line.split(None, 2)) == 3, f"GROUP PACKAGE REASON: {line!r}"


def test_new_verb_still_finds_its_places(tmp_path):
    """In a copy: every file that knows the verbs is edited, and what comes out compiles."""
    for name in sources.every():
        if name.startswith(("src/", "tools/", "docs/")) or name in ("dev", ".clang-format"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(sources.ROOT / name, tmp_path / name)
    (tmp_path / "tests/e2e").mkdir(parents=True)
    made = subprocess.run([tmp_path / "dev", "new-verb", "try-this"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    assert made.returncode == 0, made.stdout.decode()
    names = ("cli/machine/try_this.cc", "service/run/try_this.cc", "cli/options/verbs.cc", "cli/main.cc")
    new = [tmp_path / "src" / name for name in names]
    for source in new:
        compiled = subprocess.run(["g++", "-std=c++23", "-fsyntax-only", "-D_GNU_SOURCE", '-DHUTCH_VERSION="0"', "-I",
                                   tmp_path / "src", source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  check=False)
        assert compiled.returncode == 0, compiled.stdout.decode()[-4000:]
