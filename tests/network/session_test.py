# Sessions: what is answered for one, and whether it has sandboxes at all, where the daemon keeps it.
import json
import os
import signal

import pytest

import harness
import terminal
from harness import wait_until

CURL = "curl -sS --max-time 40 --noproxy '*' -o /dev/null -w '%{http_code}\\n' "
ONE = CURL + "http://good.example/"


@pytest.fixture
def desk(hutch, as_user, project):
    """hutch with a state of its own: desk("questions", session="a"); desk.env(session) for what is started by hand."""
    state = as_user.mkdir(as_user.home / f"state-{project.name.split('-')[0]}")

    def env(session=None):
        return {"HUTCH_STATE": str(state), "HUTCH_SESSION": session}

    def call(*words, session=None, **more):
        return hutch(*words, env=env(session), **more)

    call.env, call.state, call.hutch = env, state, hutch
    yield call
    call("daemon", "stop")


def daemon(desk):
    desk("agent", "list").ok()


def answered(desk, choice, session):
    """A run that asks once, whose question is answered so; its output."""
    words = [desk.hutch.program, "questions", "--follow", "--json"]
    with harness.start_in(desk.hutch.person, words, cwd=desk.hutch.cwd, env=desk.env()) as follower:
        wait_until((desk.state / "run/runs/attending").exists, "somebody follows")
        with desk.hutch.popen("sh", "-c", ONE, env=desk.env(session)) as run:
            question = json.loads(follower.stdout.readline())
            desk("answer", question["id"], choice).ok()
            said = run.stdout.read()
        follower.kill()
    return said


def alone(desk, session):
    """A run that nobody answers."""
    return desk("run", *desk.hutch.backend_option(None), "--", "sh", "-c", ONE, session=session).out


def test_an_answer_for_the_session_holds_for_its_other_runs(desk):
    daemon(desk)
    assert answered(desk, "session", "a") == b"200\n"
    assert alone(desk, "a") == b"200\n"
    assert alone(desk, "b") != b"200\n" and alone(desk, None) != b"200\n"
    assert not list((desk.state / "config").glob("*.json")), "nothing is saved"


def test_once_is_not_the_sessions(desk):
    daemon(desk)
    assert answered(desk, "once", "a") == b"200\n"
    assert alone(desk, "a") != b"200\n"


def test_without_a_daemon_it_holds_for_the_run(desk):
    assert answered(desk, "session", "a") == b"200\n"
    assert alone(desk, "a") != b"200\n"
    assert not (desk.state / "run/hutch.sock").exists(), "none is started for it"


def test_with_the_daemon_it_is_forgotten(desk):
    daemon(desk)
    assert answered(desk, "session", "a") == b"200\n"
    desk("daemon", "stop").ok()
    daemon(desk)
    assert alone(desk, "a") != b"200\n"


def test_it_can_be_taken_back(desk):
    daemon(desk)
    assert answered(desk, "session", "a") == b"200\n"
    assert json.loads(desk("revoke", "--json", "good.example").ok().text)["sessions"] == 1
    assert alone(desk, "a") != b"200\n"


# Asks all the time what it was allowed, until it is told to say whether it still is.
KEEN = """python3 -c '
import os, socket
while not os.path.exists("over"):
    try:
        socket.create_connection(("good.example", 80), 5).close()
    except OSError:
        pass
' ; """


def test_a_command_that_asks_meanwhile_does_not_keep_what_is_taken_back(desk, project):
    daemon(desk)
    assert answered(desk, "session", "a") == b"200\n"
    with desk.hutch.popen("sh", "-c", KEEN + ONE, env=desk.env("a")) as run:
        # One that does not answer has the others waited for.
        with desk.hutch.popen("sleep", "60", env=desk.env("b")) as other:
            sockets = desk.state / "run/runs"
            wait_until(lambda: len(list(sockets.glob("*.sock"))) == 2, "both run")
            os.kill(other.pid, signal.SIGSTOP)
            try:
                assert json.loads(desk("revoke", "--json", "good.example").ok().text)["sessions"] == 1
            finally:
                os.kill(other.pid, signal.SIGCONT)
                other.kill()
        (project / "over").touch()
        assert run.stdout.read() != b"200\n"


def test_a_session_can_be_without_sandboxes(desk):
    assert "off for this session" in desk("config", "disable", "--session", session="a").ok().text
    result = desk("run", "--json", "--", "true", session="a").ok()
    assert json.loads(result.text)["backend"] == "none" and "Sandbox: disabled" in result.errors
    assert desk("status", "--json", session="a").ok().text.find('"enabled":false') > 0
    assert json.loads(desk("run", "--json", "--", "true", session="b").ok().text)["backend"] != "none"
    records = desk("audit", "--json", "--type", "decision").ok().text
    assert "run without isolation" in records and "disabled for this session" in records
    desk("config", "enable", "--session", session="a").ok()
    assert json.loads(desk("run", "--json", "--", "true", session="a").ok().text)["backend"] != "none"
    assert not list((desk.state / "config").glob("*.json")), "nothing is saved"


def test_disabling_forgets_what_was_answered(desk):
    daemon(desk)
    assert answered(desk, "session", "a") == b"200\n"
    desk("config", "disable", "--session", session="a").ok()
    desk("config", "enable", "--session", session="a").ok()
    assert alone(desk, "a") != b"200\n"


def test_what_is_typed_wrong_is_told(desk):
    for words, said in [
        (["config", "disable", "--session"], "there is no session"),
        (["config", "show", "--session"], "--session is for enable and disable"),
        (["config", "disable", "--session", "--scope", "new"], "--session is saved in no scope"),
        (["config", "get", "--session", "enabled"], "--session is for enable and disable"),
    ]:
        result = desk(*words)
        assert result.code == 125 and said in result.errors, str(result)


def test_a_terminal_is_a_session(desk, as_user, project):
    program = str(desk.hutch.program)
    script = (
        f"{program} config disable --session && {program} status --line; "
        f"{program} run -- true; echo code $?; read line"
    )
    env = {**desk.env(), "NO_COLOR": "1"}
    with terminal.Terminal(as_user, ["/bin/sh", "-c", script], cwd=project, env=env) as window:
        window.read_until(b"off for this session")
        window.read_until(b"code 0")
        assert window.seen.count(b"Sandbox: disabled") == 2
        with terminal.Terminal(as_user, [program, "status", "--line"], cwd=project, env=env) as other:
            other.wait()
            assert b"Sandbox: disabled" not in other.seen, "another terminal is another session"
        window.send("\n")
        window.wait()


def test_a_daemon_that_hangs_holds_nobody_up(desk):
    desk("config", "disable", "--session", session="a").ok()
    pid = json.loads(desk("daemon", "status", "--json").ok().text)["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        result = desk("run", "--", "true", session="a", timeout=30)
        assert result.code == 0
    finally:
        os.kill(pid, signal.SIGCONT)
