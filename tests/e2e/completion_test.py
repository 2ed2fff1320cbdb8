# Completion: the program's own scripts know its verbs and options.
import re
import shutil
import subprocess

import pytest

VERBS = ["run", "explain", "check", "doctor", "log", "why", "audit", "completion", "help"]


@pytest.fixture
def complete(hutch, project):
    """complete("hutch", "run", "--ba"): what bash offers for the last word."""
    script = project / "completion.bash"
    script.write_bytes(hutch("completion", "bash").ok().out)

    def offered(*words):
        # As bash calls it: the function that `complete` registered, with the command, the word and the one before it.
        line = f"source {script}; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; " \
            "COMP_LINE=${COMP_WORDS[*]}; COMP_POINT=${#COMP_LINE}; " \
            "spec=$(complete -p hutch); spec=${spec##*-F }; ${spec%% *} hutch " \
            '"${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf "%s\\n" "${COMPREPLY[@]}"'
        ran = subprocess.run(["/bin/bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                             cwd=project, check=False)
        assert ran.returncode == 0, ran.stderr.decode()
        return set(ran.stdout.decode().split())

    return offered


def options_of(text):
    """Long options; examples hold those of other programs."""
    text = text.split("\nExamples:")[0]
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]\b", text))


@pytest.mark.parametrize("verb", ["run", "explain", "check", "doctor", "log", "why", "audit"])
def test_bash_knows_the_options_of_the_help(hutch, complete, verb):
    assert complete("hutch", verb, "--") | {"--help"} == options_of(hutch(verb, "--help").ok().text) | {"--help"}


def test_bash_knows_the_verbs(complete):
    assert set(VERBS) <= complete("hutch", "")
    assert complete("hutch", "expl") == {"explain"}


def test_bash_knows_values(complete):
    assert complete("hutch", "run", "--backend", "na") == {"namespace"}
    assert {"read", "write"} <= complete("hutch", "check", "")
    assert {"bash", "zsh", "fish"} <= complete("hutch", "completion", "")


def test_bash_leaves_the_command_alone(complete):
    assert "--json" not in complete("hutch", "run", "ls", "--j")
    assert "--json" not in complete("hutch", "run", "--", "ls", "--j")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_parse(hutch, project, shell):
    script = project / "script"
    script.write_bytes(hutch("completion", shell).ok().out)
    for verb in VERBS:
        assert verb in script.read_text()
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n", script], timeout=60, check=True)
