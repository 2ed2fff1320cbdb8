# Help texts, --version, and the documents: they know the same commands and options.
import re

import pytest

import sources

VERBS = ["run", "explain", "check", "doctor", "log", "why", "audit", "completion"]
RUN_OPTIONS = ["--backend", "--policy", "--allow-read", "--deny-read", "--allow-write", "--deny-write", "--cwd",
               "--env", "--timeout", "--idle-timeout", "--memory", "--cpus", "--pids", "--tmp-size", "--json",
               "--control-fd", "-c"]


def options_of(text):
    """Long options; examples hold those of other programs."""
    text = text.split("\nExamples:")[0]
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]\b", text)) - {"--help"}


def test_version(hutch):
    declared = re.search(r"project\(hutch VERSION (\S+)", sources.text("CMakeLists.txt")).group(1)
    assert hutch("--version").ok().text.strip() in (declared, f"hutch {declared}")


@pytest.mark.parametrize("arguments", [["help"], ["--help"], ["-h"]])
def test_help_lists_every_verb(hutch, arguments):
    result = hutch(*arguments).ok()
    assert result.err == b""
    for verb in VERBS:
        assert re.search(rf"^\s+{verb}\b", result.text, re.MULTILINE), f"{verb} is not in the help:\n{result.text}"


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(hutch, verb):
    first, second = hutch(verb, "--help").ok(), hutch("help", verb).ok()
    assert first.out == second.out
    assert f"hutch {verb}" in first.text
    assert all(len(line) <= 120 for line in first.text.split("\n"))


def test_help_of_run_has_every_option(hutch):
    text = hutch("run", "--help").ok().text
    assert not [option for option in RUN_OPTIONS if option not in text]


def test_no_verb_shows_the_usage(hutch):
    result = hutch()
    assert result.code == 125 and b"usage" in result.err.lower() + result.out.lower()


@pytest.mark.parametrize("verb", VERBS)
def test_documents_know_the_same_options(hutch, verb):
    """docs/commands.md has a section for each verb; its options are those of the help, or said to be those of run."""
    sections = re.split(r"^## hutch ", sources.text("docs/commands.md"), flags=re.MULTILINE)[1:]
    section = next((text for text in sections if re.match(rf"{verb}\b", text)), None)
    assert section, f"docs/commands.md has no section '## hutch {verb}'"
    of_run = options_of(next(text for text in sections if text.startswith("run")))
    shared = of_run if "options of run" in section.replace("\n", " ") else set()
    assert options_of(hutch(verb, "--help").ok().text) <= options_of(section) | shared
    assert options_of(section) <= options_of(hutch(verb, "--help").text) | shared


def test_readme_uses_options_that_exist(hutch):
    known = options_of(hutch("run", "--help").ok().text)
    for line in re.findall(r"^    hutch run (.*)$", sources.text("README.md"), re.MULTILINE):
        assert options_of(line.split(" -- ")[0]) <= known, line
