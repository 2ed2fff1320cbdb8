# The directory of one sandbox gets a name that git knows, by another sandbox or by the person.
"""A sandbox sees its directory where it was at the start. What it makes there has to be judged by where it is."""

import contextlib

import harness
import pytest

PARTS = "mkdir objects refs; echo 'ref: refs/heads/main' > HEAD"
HOOK = "printf '#!/bin/sh\\n' > pre-commit; chmod +x pre-commit"

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@contextlib.contextmanager
def working_in(hutch, directory, script, before="mkdir up; rmdir up"):
    """A sandbox in that directory, which runs `script` once it is told to; finish() tells it, and waits for its end.
    The supervisor has made a call by then, so that it has found the directory."""
    with hutch.popen("sh", "-c", f"{before}; echo ready; read go; {script}", cwd=directory) as run:
        assert run.stdout.readline() == b"ready\n"

        def finish():
            out, err = run.communicate(b"go\n", timeout=harness.PATIENCE)
            return out, err
        yield finish


# What the other sandbox does in the directory above: the first one is in "h", or in "y/h".
MOVES = {
    "then a repository": ("h", f"mkdir x; mv h x/hooks; cd x; {PARTS}"),
    "the last part then": ("h", f"mkdir x; cd x; {PARTS}; mv refs r; mv ../h hooks; mv r refs"),
    "by the directory above": ("y/h", f"mv y x; cd x; mv h hooks; {PARTS}"),
    "and moved on": ("h", f"mkdir x; mv h x/hooks; cd x; {PARTS}; cd ..; mv x z"),
    "a planned one": ("x/hooks", f"cd x; {PARTS}"),
}
HOOKS = {"then a repository": "x/hooks", "the last part then": "x/hooks", "by the directory above": "x/hooks",
         "and moved on": "z/hooks", "a planned one": "x/hooks"}
WAYS = {
    "create": HOOK,
    "rename": "touch a.sample; chmod +x a.sample; mv a.sample pre-commit",
    "link": "touch a.sample; chmod +x a.sample; ln a.sample pre-commit",
    "symlink": "ln -s /bin/sh pre-commit",
    "directory": "mkdir d.sample; mv d.sample pre-commit",
}


@pytest.mark.parametrize("move", MOVES)
def test_another_sandbox_makes_it_the_hooks_of_a_repository(hutch, as_user, project, move):
    directory, script = MOVES[move]
    place = as_user.mkdir(project / directory)
    with working_in(hutch, place, f"{HOOK}; echo text > other.sample; exit 1") as finish:
        hutch.sh(script).ok()
        hooks = project / HOOKS[move]
        assert (hooks.parent / "HEAD").exists()
        _, err = finish()
    assert [path.name for path in hooks.iterdir()] == ["other.sample"], err
    assert b"hooks/pre-commit was refused" in err, err


@pytest.mark.parametrize("move", MOVES)
def test_before_the_first_change(hutch, as_user, project, move):
    """There is no supervisor yet."""
    directory, script = MOVES[move]
    place = as_user.mkdir(project / directory)
    with working_in(hutch, place, f"{HOOK}; echo text > other.sample; exit 1", before="true") as finish:
        hutch.sh(script).ok()
        hooks = project / HOOKS[move]
        assert (hooks.parent / "HEAD").exists()
        _, err = finish()
    assert [path.name for path in hooks.iterdir()] == ["other.sample"], err
    assert b"hooks/pre-commit was refused" in err, err


EXCHANGE = "import ctypes; ctypes.CDLL(None).renameat2(-100, b'a.sample', -100, b'pre-commit', 2)"
# Each as the first call since the directory was moved.
REPLACES = {
    "rename": "mv -f a.sample pre-commit",
    "exchange": f'python3 -c "{EXCHANGE}"',
    "write": "echo x > pre-commit",
}


@pytest.mark.parametrize("way", REPLACES)
def test_what_has_the_name_stays(hutch, as_user, project, run_outside, way):
    place = as_user.mkdir(project / "h")
    as_user.write(place / "pre-commit", "of the person\n")
    run_outside("git", "init", "-q", "--template=").ok()
    with working_in(hutch, place, f"{REPLACES[way]}; exit 1", before="echo of the sandbox > a.sample") as finish:
        run_outside("mv", "h", ".git/hooks").ok()
        _, err = finish()
    assert b"pre-commit was refused" in err, err
    assert (project / ".git/hooks/pre-commit").read_text() == "of the person\n"
    assert (project / ".git/hooks/a.sample").read_text() == "of the sandbox\n"


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_a_hook(hutch, as_user, project, way):
    place = as_user.mkdir(project / "h")
    with working_in(hutch, place, WAYS[way]) as finish:
        hutch.sh(MOVES["then a repository"][1]).ok()
        _, err = finish()
    assert not (project / "x/hooks/pre-commit").is_symlink() and not (project / "x/hooks/pre-commit").exists(), err


@pytest.mark.parametrize("place, made", [(".git/hooks", "pre-commit"), (".vscode", "tasks.json")])
def test_the_person_moves_it(hutch, as_user, project, run_outside, place, made):
    inside = as_user.mkdir(project / "h/d").parent
    run_outside("git", "init", "-q", "--template=").ok()
    with working_in(hutch, inside, f"echo x > {made}; touch d/plain") as finish:
        run_outside("mv", "h", place).ok()
        _, err = finish()
    assert not (project / place / made).exists(), err
    assert (project / place / "d/plain").exists(), err


def test_a_directory_that_is_moved_is_still_written(hutch, as_user, project, run_outside):
    """Under a name that means nothing, and in a directory "hooks" that is none of a repository."""
    inside = as_user.mkdir(project / "h")
    with working_in(hutch, inside, "echo one > a && mkdir d && echo two > d/b && mv a c && git init -q r") as finish:
        as_user.mkdir(project / "src")
        run_outside("mv", "h", "src/hooks").ok()
        _, err = finish()
    assert (project / "src/hooks/c").read_text() == "one\n", err
    assert (project / "src/hooks/d/b").read_text() == "two\n", err
    assert (project / "src/hooks/r/.git/HEAD").exists(), err
