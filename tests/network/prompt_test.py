# The prompt on a terminal: a question about a host, answered by keys.
"""Allowed once, for the session and for the project, denied, no answer in time, and nobody there."""

import json
import re

import pytest

import terminal

ASK = "for n in 1 2; do curl -sS -o /dev/null --noproxy '*' -w '%{http_code}\\n' http://good.example/; done"


@pytest.fixture
def asked(hutch, project, as_user):
    """Starts ASK on a terminal, and waits for the prompt: asked(OPTIONS...) is the terminal."""
    state = as_user.mkdir(project.parent / f"{project.name}-state")

    def start(*options):
        argv = [hutch.program, "run", "--backend", hutch.backend, *options, "-c", ASK]
        window = terminal.Terminal(
            as_user, argv, cwd=project, env={"HUTCH_STATE": str(state)}, outer=hutch.internet.enter(project)
        )
        window.read_until(b"may the sandbox")
        window.read_until(b"no answer in")
        assert b"connect to good.example:80" in window.seen and b"\x1b[?1049h" in window.seen
        return window

    start.state = state
    return start


def test_once_is_asked_again(asked):
    with asked() as window:
        window.send("?")
        window.read_until(b"Allow once")
        window.send("O")
        window.read_until(b"200")
        window.seen = b""
        window.read_until(b"no answer in")
        window.send(b"\x1b")
        assert window.wait() != 0
        assert not re.search(rb"\b200\b", window.seen)


def test_session_holds_for_the_run(asked):
    with asked() as window:
        window.send("s")
        assert window.wait() == 0
        assert window.seen.count(b"200\r\n") == 2 and window.seen.count(b"\x1b[?1049l") == 1
    assert not (asked.state / "config/projects.json").exists()


def test_the_project_is_saved(asked, project):
    with asked() as window:
        window.send("p")
        window.read_until(b"press Enter to confirm")
        window.send("\r")
        assert window.wait() == 0
    saved = json.loads((asked.state / "config/projects.json").read_text())
    assert saved[str(project)]["network"]["allowedDomains"] == ["good.example:80"]


def test_abort_is_no(asked):
    with asked() as window:
        window.send(b"\x03")
        # Once for each address that curl tries, and again for its second run.
        seen = b""
        while window.process.poll() is None:
            if b"no answer in" in window.seen:
                seen, window.seen = seen + window.seen, b""
                window.send(b"\x1b")
            assert window.read_some(20) != b"", "it neither asks nor ends"
        assert window.wait() != 0 and not re.search(rb"\b200\b", seen + window.seen)


def test_no_answer_in_time_is_no(asked, as_user, project, backend):
    files = "" if backend == "user" else '"filesystem": {"allowRead": ["."]}, '
    policy = as_user.write(project / "policy.json", f'{{{files}"ask": {{"timeout": "1s"}}}}')
    with asked("--policy", str(policy)) as window:
        assert b"Allow for this project" not in window.seen, "nothing that is saved would hold"
        assert window.wait() != 0
        assert not re.search(rb"\b200\b", window.seen)


def test_nobody_is_there(hutch):
    result = hutch.sh(ASK)
    assert result.code != 0 and b"may the sandbox" not in result.err + result.out
