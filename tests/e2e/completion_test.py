# Completion for bash: it knows the program's own verbs and options.
import re
import subprocess

import pytest

import sources

SCRIPT = sources.ROOT / "packaging/completion/hutch.bash"


def complete(*words):
    """What bash offers for the last word."""
    line = f"source {SCRIPT}; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; " \
        '_hutch_complete; printf "%s\\n" "${COMPREPLY[@]}"'
    ran = subprocess.run(["/bin/bash", "-c", line], stdout=subprocess.PIPE, timeout=60, check=True)
    return set(ran.stdout.decode().split())


def options_of(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]\b", text))


@pytest.mark.parametrize("verb", ["run", "explain", "check", "doctor", "log", "why", "audit", "completion"])
def test_options_are_those_of_the_help(hutch, verb):
    assert complete("hutch", verb, "--") == options_of(hutch(verb, "--help").ok().text) | {"--help"}


def test_verbs(hutch):
    offered = complete("hutch", "")
    assert {"run", "explain", "check", "doctor", "log", "why", "audit", "completion", "help"} <= offered
    for verb in offered - {"help", "--help", "--version"}:
        hutch(verb, "--help").ok()


def test_values():
    assert complete("hutch", "run", "--backend", "na") == {"namespace"}
    assert complete("hutch", "run", "--pids", "") == set()
    assert "ls" in complete("hutch", "run", "--pids", "7", "--", "l")
    assert "ls" in complete("hutch", "run", "l")
    assert complete("hutch", "run", "ls", "--j") == set() or "--json" not in complete("hutch", "run", "ls", "--j")


def test_the_program_prints_the_same_script(hutch):
    assert hutch("completion", "bash").ok().text == SCRIPT.read_text()
