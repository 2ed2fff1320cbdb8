# A question for a secret ends with the call that asked, and with the agent that asked.
import json
import signal
import time

import pytest

import harness
import terminal

VALUE = "typed-too-late-0123456789"


@pytest.fixture
def maker(daemon):
    name = daemon.create("autonomousExec.enabled=true")
    daemon.sh(name, "true").ok()
    yield name
    daemon("agent", "remove", name).ok()


def answering(daemon):
    return terminal.Terminal(daemon.person, [str(daemon.program), "secret", "answer"], cwd="/",
                             env={"HUTCH_STATE": str(daemon.state)})


def ask(daemon, screen, agent):
    screen.read_until(b"waiting for agents")
    call = daemon.popen("tool", "call", agent, "sandbox_secret_set",
                        json.dumps({"key": "LATE", "description": "d", "instructions": "i"}))
    screen.read_until(b"declines): ")
    return call


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_what_is_typed_after_the_end_of_the_call_is_not_kept(daemon, maker, by):
    with answering(daemon) as screen:
        call = ask(daemon, screen, maker)
        call.send_signal(by)
        call.communicate(timeout=harness.PATIENCE)
        time.sleep(2)
        screen.send(VALUE.encode() + b"\r")
        screen.read_until(b"kept")
    assert daemon.sh(maker, "hutch-host secrets get LATE").code == 3


def test_the_next_agent_of_that_name_is_not_given_what_the_first_asked_for(daemon):
    name = daemon.create("autonomousExec.enabled=true")
    with answering(daemon) as screen:
        call = ask(daemon, screen, name)
        daemon("agent", "remove", name).ok()
        daemon.create("autonomousExec.enabled=true", name=name)
        screen.send(VALUE.encode() + b"\r")
        screen.read_until(b"kept")
        out, _ = call.communicate(timeout=20)
    assert daemon.sh(name, "hutch-host secrets get LATE").code == 3
    assert not json.loads(out)["ok"]
    daemon("agent", "remove", name).ok()
