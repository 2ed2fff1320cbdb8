# A question on a terminal that nobody reads: a frozen connection, or a program that started hutch on a PTY.
"""Neither the question's time limit nor a signal waits for a reader."""

import pytest

import terminal
from harness import wait_until

ASK = "curl -sS -o /dev/null --noproxy '*' http://good.example/; exec sleep 1000"


@pytest.fixture
def asked(hutch, as_user, project):
    """asked(TIME): hutch on a full terminal, with a question that waits so long; and what is open."""
    env = {"HUTCH_STATE": str(as_user.mkdir(project.parent / f"{project.name}-state"))}

    def start(time):
        files = "" if hutch.backend == "user" else '"filesystem": {"allowRead": ["."]}, '
        policy = as_user.write(project / "policy.json", f'{{{files}"ask": {{"timeout": "{time}"}}}}')
        argv = [hutch.program, "run", "--backend", hutch.backend, "--policy", str(policy), "-c", ASK]
        outer = hutch.internet.enter(project)
        window = terminal.Terminal(as_user, argv, cwd=project, env=env, outer=outer, room="none")
        wait_until(lambda: hutch("questions", env=env).ok().text, "it is asked")
        return window

    start.open = lambda: hutch("questions", env=env).ok().text
    return start


def test_its_time_limit_holds(asked):
    with asked("5s") as window:
        wait_until(lambda: not asked.open(), "the answer is no")
        window.end_unread("hutch")


def test_a_signal_ends_it(asked):
    with asked("10m") as window:
        window.end_unread("hutch")
