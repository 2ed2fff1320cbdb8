# A directory whose repository lies outside of it: what hutch says when git finds none, and that it helps.
import os

import harness
import pytest

GIT = "git -c user.name=A -c user.email=a@b.example"
MADE = f"""
{GIT} init -q -b main m; {GIT} -C m commit -q --allow-empty -m module
{GIT} init -q -b main r; cd r; mkdir -p packages/a; echo a > packages/a/a; git add .; {GIT} commit -q -m first
git worktree add -q ../w -b side; {GIT} -c protocol.file.allow=always submodule --quiet add ../m s; {GIT} commit -q -m s
"""


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def places(as_user, project):
    """The repository r with a part, a submodule and a linked worktree, in a home that is hidden from the others."""
    harness.run_in(as_user, ["/bin/sh", "-ec", MADE], cwd=project).ok()
    return project


@pytest.mark.parametrize("place, git", [("w", "r/.git"), ("r/s", "r/.git/modules/s")])
def test_what_it_says_makes_git_work(hutch, backend, places, place, git):
    ran = hutch.run("git", "status", cwd=places / place)
    line = f"git finds no repository here: it is {places / git}, outside of the sandbox; --allow-write {places / git}"
    assert ran.code == 128 and line in ran.errors, ran
    assert line in hutch("why").ok().text
    script = f"git status --porcelain; {GIT} commit -q --allow-empty -m more; git log --format=%s -1; exit 3"
    helped = hutch.run("/bin/sh", "-ec", script, options=["--allow-write", places / git], cwd=places / place)
    assert helped.code == 3 and helped.text == "more\n" and "git finds" not in helped.errors, helped
    # What the user's git obeys there stays theirs.
    for write in (f"git config core.fsmonitor {places}/evil", f"echo x > {places / git}/hooks/pre-commit"):
        assert hutch.run("/bin/sh", "-c", write, options=["--allow-write", places / git], cwd=places / place).code != 0
    assert "fsmonitor" not in (places / git / "config").read_text()
    assert not (places / git / "hooks/pre-commit").exists()


def test_a_part_of_a_repository(hutch, backend, places):
    ran = hutch.run("git", "log", cwd=places / "r/packages/a")
    line = f"is a part of {places / 'r'}, outside of the sandbox; start hutch there, with --cwd packages/a"
    assert ran.code == 128 and line in ran.errors, ran
    helped = hutch.run("git", "log", "--format=%s", "--", ".", options=["--cwd", "packages/a"], cwd=places / "r")
    assert helped.ok().text == "first\n"


def test_who_does_not_fail_hears_nothing(hutch, backend, places):
    assert hutch.run("true", cwd=places / "w").ok().errors == ""
    assert "git finds" not in hutch.run("false", cwd=places / "r").errors


@pytest.mark.parametrize("text", ["gitdir: /root/.ssh\n", "gitdir: .git\n", "gitdir: ../r/.git\n", "x" * 100_000, ""])
def test_a_file_that_the_repository_does_not_know(hutch, backend, places, as_user, text):
    as_user.write(places / "odd/.git", text)
    ran = hutch.run("false", cwd=places / "odd")
    assert ran.code == 1 and "allow-write" not in ran.errors, ran


def test_a_pipe(hutch, backend, places, as_user):
    as_user.mkdir(places / "odd")
    os.mkfifo(places / "odd/.git")
    assert hutch.run("false", cwd=places / "odd").code == 1
