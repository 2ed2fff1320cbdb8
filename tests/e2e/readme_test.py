# The two commands of the README do what it says.
import os
import re
import shlex
import subprocess

import pytest

import sources


def commands():
    return re.findall(r"^    (\./dev .*)$", sources.text("README.md"), re.MULTILINE)[:2]


def test_the_first_command_says_hello():
    command = commands()[0]
    ran = subprocess.run(shlex.split(command), cwd=sources.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=600, check=False)
    assert (ran.returncode, ran.stdout) == (0, b"hello from inside\n"), ran.stderr.decode()
    assert b"ninja" not in ran.stderr, "quiet when there is nothing to build"


def test_the_second_command_is_what_ci_runs():
    assert commands()[1] == "./dev test"
    assert sources.text(".ci/run").rstrip().endswith('dev" test')


@pytest.mark.parametrize("code", [0, 3, 125])
def test_dev_run_gives_the_exit_code_of_the_command(code):
    ran = subprocess.run([sources.ROOT / "dev", "run", "--", "/bin/sh", "-c", f"exit {code}"], cwd=sources.ROOT,
                         stdin=subprocess.DEVNULL, timeout=600, check=False)
    assert ran.returncode == code


def test_dev_run_passes_the_streams():
    data = bytes(range(256)) * 100
    ran = subprocess.run([sources.ROOT / "dev", "run", "--", "/bin/cat"], cwd=sources.ROOT, input=data,
                         stdout=subprocess.PIPE, timeout=600, check=True)
    assert ran.stdout == data


def test_dev_run_stays_where_it_was_called(base):
    directory = base.path / "elsewhere"
    directory.mkdir(exist_ok=True)
    ran = subprocess.run([sources.ROOT / "dev", "run", "--", "/bin/pwd"], cwd=directory, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, timeout=600, check=True)
    assert ran.stdout.decode().strip() == os.fspath(directory)


@pytest.mark.parametrize("verb", ["run", "build", "test", "bench", "lint", "fuzz"])
def test_packages_are_printed_and_not_installed(verb):
    ran = subprocess.run([sources.ROOT / "dev", verb, "--print-packages"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, timeout=60, check=True)
    assert "g++" in ran.stdout.decode().split()


def test_dev_help_has_a_line_for_each_verb():
    ran = subprocess.run([sources.ROOT / "dev", "help"], stdout=subprocess.PIPE, timeout=60, check=True)
    for verb in ("run", "build", "test", "bench", "lint", "fuzz", "fmt", "new-verb", "package", "help"):
        assert re.search(rf"^  {verb}\s+\S", ran.stdout.decode(), re.MULTILINE), verb


def test_dev_refuses_an_unknown_verb():
    ran = subprocess.run([sources.ROOT / "dev", "biuld"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                         check=False)
    assert ran.returncode == 2 and b"biuld" in ran.stderr
