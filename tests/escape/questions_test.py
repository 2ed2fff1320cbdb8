# The attack on questions: a command that tries to answer its own.
"""It is told where the socket is, and given the directory to read and write besides. What it asks for stays open."""

import json
import pathlib
import sys

import pytest

from harness import wait_until

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
from questions import ATTACK, following  # noqa: E402


@pytest.fixture(params=["bwrap", "namespace"])
def backend(request):
    """The backends where anything is asked."""
    return request.param


def test_a_command_cannot_answer_its_own_question(hutch, as_user, project):
    state = as_user.mkdir(as_user.home / f"state-{project.name.split('-')[0]}")
    env = {"HUTCH_STATE": str(state)}
    as_user.mkdir(state / "run", mode=0o700)
    runs = as_user.mkdir(state / "run/runs", mode=0o700)

    def listed():
        return [json.loads(line) for line in hutch("questions", "--json", env=env).ok().text.splitlines()]

    options = ["--allow-read", str(state), "--allow-write", str(state)]
    with following(hutch, env), hutch.popen("python3", "-c", ATTACK, options=options, env=env) as run:
        try:
            wait_until(listed, "the question is open")
            [socket] = runs.glob("*.sock")
            run.stdin.write(f"{socket}\n".encode())
            run.stdin.flush()
            assert run.stdout.readline() == b"tried\n"
            [question] = listed()
            assert question["host"] == "wanted.example", "it is still open"
            assert [path.name for path in runs.iterdir() if path.name.startswith("zzzz")] == []
            hutch("answer", question["id"], "no", env=env).ok()
            run.stdin.close()
            assert b"succeeded" not in run.stdout.read()
        finally:
            run.kill()
    assert not list((state / "config").glob("*.json")), "nothing is saved"
