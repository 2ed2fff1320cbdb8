# git that stops in the middle because it may not write a protected file: the line names the setting that makes it work.
import harness
import pytest

MAKE = """
git init -q -b main .; git config user.name A; git config user.email a@b.example
mkdir .vscode; for f in .vscode/settings.json first z; do echo 1 > $f; done; git add .; git commit -q -m 1
git switch -q -c side; for f in .vscode/settings.json first z; do echo 2 > $f; done; git commit -q -a -m 2
git switch -q main
"""
SETTING = "`hutch settings set security.gitBringsCommitted true` lets git bring in what your commits have"


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def made(as_user, project):
    harness.run_in(as_user, ["/bin/sh", "-ec", MAKE], cwd=project).ok()
    return project


@pytest.mark.parametrize("command", ["merge -q side", "pull -q . side", "rebase -q side", "reset -q --hard side"])
def test_the_line_names_the_setting(hutch, backend, made, command, run_outside):
    before = run_outside("git", "rev-parse", "HEAD").text
    ran = hutch.run("git", *command.split())
    assert ran.code != 0 and SETTING in ran.errors, ran
    # As docs/policy.md says.
    assert run_outside("git", "rev-parse", "HEAD").text == before and (made / "z").read_text() == "2\n"
    run_outside("git", "reset", "-q", "--hard").ok()
    run_outside("git", *command.split()).ok()


@pytest.mark.parametrize("script", ["echo x > .vscode/settings.json", "echo x > .envrc", "rm .vscode/settings.json"])
def test_other_programs_hear_nothing_of_it(hutch, backend, made, script):
    ran = hutch.sh(script)
    assert ran.code != 0 and "was refused" in ran.errors and SETTING not in ran.errors, ran
