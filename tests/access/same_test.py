# What a supervised directory answers to some thousand calls is what an ordinary one of the same sandbox answers.
"""The sandbox's own /tmp is not supervised: what differs between the two is the supervisor's doing."""

import pathlib

import pytest

PROGRAM = pathlib.Path(__file__).parent / "same.py"


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_same(hutch, as_user, project, backend):
    as_user.write(project / "same.py", PROGRAM.read_text(encoding="utf-8"))
    script = "mkdir {0} && cd {0} && exec python3 -B $OLDPWD/same.py"
    plain = hutch.sh(script.format("/tmp/w"))
    supervised = hutch.sh(script.format("w"))
    assert plain.code == 0 and supervised.code == 0, f"{plain}\n{supervised}"
    expected, lines = plain.text.splitlines(), supervised.text.splitlines()
    different = [f"{a}\n    {b}" for a, b in zip(expected, lines, strict=False) if a != b]
    assert not different and len(expected) == len(lines), "\n".join(different[:40])
    assert len(lines) > 900, str(supervised)


def test_what_is_there_is_there_also_where_nothing_may_be_made(hutch, as_user, project):
    """The kernel says EEXIST before it asks who may write: programs that make what they need rely on it."""
    as_user.mkdir(project / ".vscode")
    as_user.mkdir(project / "closed")
    as_user.write(project / ".mcp.json", "{}")
    script = """
import os
for name in ('.vscode', '.mcp.json', 'closed', '.idea', 'closed/new'):
    for make in (os.mkdir, os.mknod, lambda name: os.symlink('x', name)):
        try: make(name)
        except OSError as error: print(name, error.strerror)
"""
    done = hutch.run("/usr/bin/python3", "-c", script, options=["--deny-write", "closed"], cwd=project).ok()
    answers = done.text.splitlines()
    assert [line.endswith(" File exists") for line in answers] == [True] * 9 + [False] * 6, str(done)
    for name in (".vscode", ".mcp.json", "closed was"):
        assert f"writing {project}/{name}" not in done.errors, str(done)
