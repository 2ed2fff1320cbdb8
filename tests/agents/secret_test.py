# Secrets: kept, listed, checked and removed, and never shown by anything.
import json
import pathlib

import pytest

import terminal

VALUE = "sk-3cRet.value+1/x="


def secret(daemon, *args, value=None, **options):
    stdin = None if value is None else value.encode()
    return daemon("secret", *args, **({} if stdin is None else {"stdin": stdin}), **options)


def test_it_is_kept_listed_and_removed(daemon, agent):
    assert secret(daemon, "check", "--agent", agent, "TOKEN").code == 1
    kept = secret(daemon, "set", "--agent", agent, "TOKEN", value=VALUE + "\n").ok()
    assert VALUE not in kept.text
    assert secret(daemon, "check", "--agent", agent, "TOKEN").code == 0
    listed = daemon.json("secret", "list", "--agent", agent)
    assert [(one["name"], one["via"], one["hosts"]) for one in listed] == [("TOKEN", "bridge", [])]
    assert secret(daemon, "remove", "--agent", agent, "TOKEN").ok()
    assert secret(daemon, "check", "--agent", agent, "TOKEN").code == 1
    assert daemon.json("secret", "list", "--agent", agent) == []


def test_it_outlives_the_daemon_and_goes_with_the_agent(own_daemon):
    agent = own_daemon.create()
    secret(own_daemon, "set", "--agent", agent, "TOKEN", value=VALUE).ok()
    own_daemon("daemon", "stop").ok()
    assert secret(own_daemon, "check", "--agent", agent, "TOKEN").code == 0
    own_daemon("agent", "remove", agent).ok()
    own_daemon.create(name=agent)
    assert secret(own_daemon, "check", "--agent", agent, "TOKEN").code == 1


def test_hosts_make_a_placeholder(daemon, agent):
    secret(daemon, "set", "--agent", agent, "--host", "API.example.com", "TOKEN", value=VALUE).ok()
    assert [(one["via"], one["hosts"]) for one in daemon.json("secret", "list", "--agent", agent)] == \
        [("placeholder", ["api.example.com"])]


def test_a_sandbox_that_runs_has_its_first_placeholder_at_its_next_start(daemon, agent):
    """Its programs trust hutch's authority only then; whoever sets one is told."""
    def first(name):
        made = secret(daemon, "set", "--agent", agent, "--host", "api.example.com", name, value=VALUE).ok()
        return f"hutch agent stop {agent}" in made.errors

    daemon.sh(agent, "true").ok()
    assert first("TOKEN") and "SSL_CERT_FILE" not in daemon.sh(agent, "env").ok().text
    daemon("agent", "stop", agent).ok()
    assert not first("OTHER"), "it does not run"
    assert "SSL_CERT_FILE" in daemon.sh(agent, "env").ok().text
    assert not first("THIRD"), "it has what it takes"


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "HOME", "HUTCH_BRIDGE", "A-B", "../x", "1A", "PARAM_X"])
def test_names_that_are_refused(daemon, agent, name):
    refused = secret(daemon, "set", "--agent", agent, name, value=VALUE)
    assert refused.code == 125 and VALUE not in refused.errors
    assert daemon.json("secret", "list", "--agent", agent) == []


@pytest.mark.parametrize("options", [["--via", "placeholder"], ["--via", "sms"], ["--host", "127.0.0.1"],
                                     ["--host", "*.example.com"]])
def test_what_cannot_hold_is_refused(daemon, agent, options):
    refused = secret(daemon, "set", "--agent", agent, *options, "TOKEN", value=VALUE)
    assert refused.code == 125 and VALUE not in refused.errors
    assert daemon.json("secret", "list", "--agent", agent) == []


def test_no_value_is_taken_as_an_argument(daemon, agent):
    refused = secret(daemon, "set", "--agent", agent, "TOKEN", VALUE)
    assert refused.code == 125 and VALUE not in refused.errors and "argument" in refused.errors
    assert secret(daemon, "check", "--agent", agent, "TOKEN").code == 1


@pytest.mark.parametrize("value", ["", "a\0b", "x" * 70000])
def test_values_that_are_none(daemon, agent, value):
    assert secret(daemon, "set", "--agent", agent, "TOKEN", value=value).code == 125
    assert secret(daemon, "check", "--agent", agent, "TOKEN").code == 1


def test_it_comes_from_a_file(daemon, agent):
    path = pathlib.Path(daemon.state) / "value"
    path.write_text(VALUE + "\n")
    path.chmod(0o644)
    secret(daemon, "set", "--agent", agent, "--file", str(path), "TOKEN").ok()
    path.unlink()
    assert secret(daemon, "check", "--agent", agent, "TOKEN").code == 0


def test_without_an_agent_it_is_that_of_the_directory(daemon):
    place = daemon.person.mkdir(pathlib.Path(daemon.state) / "project")
    assert secret(daemon, "check", "TOKEN", cwd=place).code == 125, "nothing is made by asking"
    secret(daemon, "set", "TOKEN", value=VALUE, cwd=place).ok()
    assert secret(daemon, "check", "TOKEN", cwd=place).code == 0
    name = daemon.json("secret", "list")[0]["agent"]
    daemon("agent", "remove", name).ok()


def test_nothing_on_disk_shows_it(daemon, agent):
    secret(daemon, "set", "--agent", agent, "TOKEN", value=VALUE).ok()
    daemon.sh(agent, "true").ok()
    for path in pathlib.Path(daemon.state).rglob("*"):
        if path.is_file():
            assert VALUE.encode() not in path.read_bytes(), path
    sealed = pathlib.Path(daemon.data) / "secrets"
    assert oct(sealed.stat().st_mode & 0o777) == "0o700"
    for path in sealed.iterdir():
        assert oct(path.stat().st_mode & 0o777) == "0o600", path


def test_a_sandbox_does_not_see_the_store(daemon, agent):
    secret(daemon, "set", "--agent", agent, "TOKEN", value=VALUE).ok()
    assert daemon.sh(agent, f"ls {daemon.data}/secrets").code != 0


def test_a_broken_store_is_told_and_left(own_daemon):
    agent = own_daemon.create()
    secret(own_daemon, "set", "--agent", agent, "TOKEN", value=VALUE).ok()
    own_daemon("daemon", "stop").ok()
    path = pathlib.Path(own_daemon.data) / f"secrets/{agent}.sealed"
    broken = path.read_bytes()[:-1] + b"?"
    path.write_bytes(broken)
    told = secret(own_daemon, "check", "--agent", agent, "TOKEN")
    assert told.code == 125 and "sealed" in told.errors
    assert secret(own_daemon, "set", "--agent", agent, "OTHER", value=VALUE).code == 125
    assert path.read_bytes() == broken


def test_a_new_agent_has_none_of_an_earlier_one_of_its_name(own_daemon):
    """Whoever set one while the earlier one was being removed may have come last."""
    agent = own_daemon.create(name="phoenix")
    secret(own_daemon, "set", "--agent", agent, "TOKEN", value=VALUE).ok()
    path = pathlib.Path(own_daemon.data) / f"secrets/{agent}.sealed"
    left = path.read_bytes()
    own_daemon("agent", "remove", agent).ok()
    assert not path.exists()
    own_daemon.person.write(path, left)
    own_daemon.create(name="phoenix")
    assert secret(own_daemon, "check", "--agent", agent, "TOKEN").code != 0 and not path.exists()
    own_daemon("agent", "remove", agent).ok()


def tool(daemon, agent, name, **arguments):
    """As daemon.tool, but not by arguments that others could see."""
    return json.loads(daemon("tool", "call", agent, name, "-", stdin=json.dumps(arguments).encode()).out)


def test_a_model_never_sees_a_value(daemon):
    agent = daemon.create("autonomousExec.enabled=true")
    assert daemon.tool(agent, "sandbox_secret_check", key="TOKEN")["result"] == {"key": "TOKEN", "exists": False}
    stored = tool(daemon, agent, "sandbox_secret_set", key="TOKEN", description="d", instructions="i", value=VALUE)
    use = "`hutch-host secrets get TOKEN` prints the value: use `$(hutch-host secrets get TOKEN)` in a command. " \
          "No variable holds it."
    assert stored["result"] == {"stored": True, "key": "TOKEN", "use": use} and VALUE not in json.dumps(stored)
    known = daemon.tool(agent, "sandbox_secret_check", key="TOKEN")["result"]
    assert known == {"key": "TOKEN", "exists": True, "use": use}
    for name in ("PATH", "LD_PRELOAD"):
        refused = tool(daemon, agent, "sandbox_secret_set", key=name, description="d", instructions="i", value=VALUE)
        assert refused["kind"] == "invalid_args"
    nobody = daemon.tool(agent, "sandbox_secret_set", key="OTHER", description="d", instructions="i")
    assert nobody["kind"] == "unavailable" and f"hutch secret set --agent {agent} OTHER" in nobody["message"]
    daemon("agent", "remove", agent).ok()


def test_a_model_is_told_how_a_command_uses_a_secret(daemon):
    agent = daemon.create("autonomousExec.enabled=true")
    for options, words in ((["--via", "environment"], "The variable TOKEN holds the value"),
                           (["--host", "api.example.com"],
                            "The variable TOKEN holds a placeholder. Send it as the value in HTTPS requests to "
                            "api.example.com"),
                           (["--via", "bridge"], "hutch-host secrets get TOKEN")):
        daemon("secret", "set", "--agent", agent, *options, "TOKEN", stdin=VALUE.encode()).ok()
        answer = daemon.tool(agent, "sandbox_secret_check", key="TOKEN")["result"]
        assert words in answer["use"] and VALUE not in json.dumps(answer), answer
    daemon("agent", "remove", agent).ok()


def prompted(daemon, agent, typed):
    """What a tool answers that asks for TOKEN, and what the terminal showed of it."""
    call = ["tool", "call", agent, "sandbox_secret_set",
            json.dumps({"key": "TOKEN", "description": "to build\033[2J", "instructions": "ask ada"})]
    with terminal.Terminal(daemon.person, [str(daemon.program), "secret", "answer"], cwd="/",
                           env={"HUTCH_STATE": str(daemon.state)}) as screen:
        screen.read_until(b"waiting for agents")
        asked = daemon.popen(*call)
        # All of it: leaving raw mode waits until a terminal has taken what was written to it.
        screen.read_until(b"declines): ")
        screen.send(typed)
        out, _ = asked.communicate(timeout=60)
        screen.read_until(b"kept" if b"\x03" not in typed else b"declined")
        return json.loads(out), screen.seen


def test_a_person_is_asked_on_a_terminal(daemon):
    agent = daemon.create("autonomousExec.enabled=true")
    answer, seen = prompted(daemon, agent, VALUE.encode() + b"\r")
    assert answer["result"]["stored"] and answer["result"]["key"] == "TOKEN"
    assert VALUE.encode() not in seen and b"ask ada" in seen and b"\033[2J" not in seen
    assert secret(daemon, "check", "--agent", agent, "TOKEN").code == 0
    daemon("agent", "remove", agent).ok()


def test_a_person_declines(daemon):
    agent = daemon.create("autonomousExec.enabled=true")
    answer, _ = prompted(daemon, agent, b"half\x03")
    assert answer["kind"] == "user_denied" and not answer["retryable"]
    assert secret(daemon, "check", "--agent", agent, "TOKEN").code == 1
    daemon("agent", "remove", agent).ok()


def test_a_prompt_on_a_terminal_shows_nothing(daemon, agent):
    with terminal.Terminal(daemon.person, [str(daemon.program), "secret", "set", "--agent", agent, "TOKEN"], cwd="/",
                           env={"HUTCH_STATE": str(daemon.state)}) as screen:
        screen.read_until(b"(not shown): ")
        screen.send(VALUE.encode() + b"x\x7f\r")
        screen.read_until(b"kept")
        assert VALUE.encode() not in screen.seen
    assert daemon.sh(agent, "hutch-host secrets get TOKEN").ok().text == VALUE + "\n"


def test_hutchs_own_are_nobodys(daemon, agent):
    secret(daemon, "set", "--own", "TOKEN", value=VALUE).ok()
    assert secret(daemon, "check", "--own", "TOKEN").code == 0
    assert daemon.sh(agent, "hutch-host secrets get TOKEN").code == 3
    assert secret(daemon, "set", "--own", "--via", "environment", "OTHER", value=VALUE).code == 125
    secret(daemon, "remove", "--own", "TOKEN").ok()


def test_without_a_terminal_nobody_is_waited_for(daemon):
    """It would wait for agents to ask, and then for a person."""
    done = secret(daemon, "answer", timeout=20)
    assert done.code == 125 and "there is no terminal to ask on" in done.errors, str(done)
