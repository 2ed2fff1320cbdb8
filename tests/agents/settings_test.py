# hutch settings as a person uses it, and that the daemon and the agents hold to what is set.
import json
import os
import re
import socket
import threading

import pytest

import daemons
import harness

PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]


@pytest.fixture(params=PEOPLE)
def daemon(request, base):
    """One for a single test, root's and an ordinary user's."""
    made = daemons.Daemon(base, base.person(request.param))
    yield made
    made.stop()


def config_file(daemon):
    return daemon.state / "config/config.json"


def test_what_is_set_is_shown(daemon):
    assert daemon("settings", "path").ok().text == f"{config_file(daemon)}\n"
    assert daemon.json("paths")["settings"] == str(config_file(daemon))
    assert daemon.json("paths")["runs"] == str(daemon.state / "run/runs")
    assert daemon.json("settings", "show") == {"file": str(config_file(daemon)), "settings": {}}
    assert not config_file(daemon).exists(), "nothing is written by looking"
    daemon("settings", "set", "sandbox.defaults.memoryLimit", "512m").ok()
    daemon("settings", "set", "security.allowedHosts", '["a.example", "b.example"]').ok()
    assert daemon("settings", "get", "security.allowedHosts").ok().text == "a.example\nb.example\n"
    assert daemon.json("settings", "get", "sandbox.defaults.memoryLimit") == "512m"
    assert daemon.json("settings", "show")["settings"] == {
        "sandbox": {"defaults": {"memoryLimit": "512m"}},
        "security": {"allowedHosts": ["a.example", "b.example"]},
    }
    lines = daemon("settings", "show").ok().text
    assert re.search(r"^sandbox\.defaults\.memoryLimit +512m$", lines, re.M)
    assert re.search(r"^daemon\.maxConnections +\(not set: 1024\)$", lines, re.M)
    assert config_file(daemon).stat().st_mode & 0o777 == 0o600
    daemon("settings", "remove", "sandbox.defaults.memoryLimit").ok()
    assert daemon("settings", "get", "sandbox.defaults.memoryLimit").code == 1
    assert daemon("settings", "remove", "sandbox.defaults.memoryLimit").code == 125
    schema = json.loads(daemon("settings", "schema").ok().text)
    assert schema["properties"]["security"]["properties"]["sandboxOnly"]["type"] == "boolean"


def test_what_is_wrong_is_not_saved(daemon):
    daemon("settings", "set", "daemon.maxConnections", "10").ok()
    before = config_file(daemon).read_bytes()
    for words, said in [
        (("set", "daemon.maxConnections", "0"), b"from 1 to 1024"),
        (("set", "daemon.idel", "5m"), b"did you mean daemon.idle?"),
        (("set", "security.sandboxOnly", "yes"), b"true or false"),
        (("set", "sandbox.defaults.memoryLimit", "0m"), b"a size"),
        (("set", "sandbox.defaults.memoryLimit", "1.5abc"), b"a size"),
        (("set", "sandbox.defaults.memoryLimit", "512"), b"at least 4M"),
        (("set", "sandbox.defaults.memoryLimit", "1K"), b"at least 4M"),
        (("set", "daemon", "{}"), b"is a section"),
        (("get", "nothing"), b"unknown key; hutch settings show lists those there are"),
        (("set", "daemon.idle"), b"a value"),
        (("keep",), b"unknown action"),
    ]:
        result = daemon("settings", *words)
        assert result.code == 125 and said in result.err and result.err.count(b"\n") == 1, str(result)
    assert config_file(daemon).read_bytes() == before


def test_a_broken_file_is_named_and_left(daemon):
    broken = '{\n  "daemon": {\n    "idel": "5m"\n  }\n}\n'
    daemon.person.mkdir(config_file(daemon).parent)
    daemon.person.write(config_file(daemon), broken)
    for words in [("settings", "set", "daemon.idle", "5m"), ("settings", "show"), ("agent", "list"), ("serve",)]:
        result = daemon(*words)
        assert result.code == 125 and "line 3: daemon.idel: unknown key" in result.errors, str(result)
    assert config_file(daemon).read_text() == broken
    config_file(daemon).unlink()


def test_writers_at_once_lose_nothing(daemon):
    keys = {"inference.model": "m", "inference.keySecret": "k", "sandbox.image": "i", "codeAgent.command": "c"}
    threads = [threading.Thread(target=daemon("settings", "set", *pair).ok) for pair in keys.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for key, value in keys.items():
        assert daemon("settings", "get", key).text == f"{value}\n"


def test_edit_runs_the_editor(daemon):
    editor = "sh -c 'echo \"{\\\"daemon\\\": {\\\"idle\\\": \\\"3m\\\"}}\" > \"$0\"'"
    daemon("settings", "edit", env={"EDITOR": editor}).ok()
    assert daemon("settings", "get", "daemon.idle").text == "3m\n"
    assert daemon("settings", "edit", env={"EDITOR": "true"}).ok().text == "nothing changed\n"
    wrong = daemon("settings", "edit", env={"EDITOR": "sh -c 'echo {} , > \"$0\"'"})
    assert wrong.code == 125 and "nothing was changed" in wrong.errors
    assert daemon("settings", "get", "daemon.idle").text == "3m\n"


def test_an_agent_begins_with_the_defaults(daemon):
    for key, value in [
        ("sandbox.runtime", "bwrap"),
        ("sandbox.defaults.timeout", "77"),
        ("sandbox.defaults.memoryLimit", "512m"),
        ("sandbox.defaults.cpuLimit", "1.5"),
        ("codeAgent.command", "agent"),
    ]:
        daemon("settings", "set", key, value).ok()
    shown = daemon.json("agent", "show", daemon.create())
    assert shown["backend"] == "bwrap" and shown["autonomousExec"]["commandTimeout"] == 77
    assert shown["limits"]["memory"] == "512M" and shown["limits"]["cpus"] == "1.5"
    assert shown["codeAgent"]["command"] == "agent"
    other = daemon.json("agent", "show", daemon.create("backend=namespace", "limits.cpus=2"))
    assert other["backend"] == "namespace" and other["limits"]["cpus"] == "2"


def test_no_agent_is_without_isolation_unless_the_settings_say_so(daemon):
    refused = daemon("agent", "create", "bare", "backend=none")
    assert refused.code == 125 and refused.err.count(b"\n") == 1, str(refused)
    for said in ("backend none isolates nothing", "security.sandboxOnly", str(config_file(daemon)), "not set",
                 "hutch settings set security.sandboxOnly false"):
        assert said in refused.errors, str(refused)
    agent = daemon.create()
    assert b"security.sandboxOnly" in daemon("agent", "set", agent, "backend=none").err
    assert daemon.json("agent", "show", agent)["backend"] != "none"
    daemon("settings", "set", "sandbox.runtime", "none").ok()
    assert b"security.sandboxOnly" in daemon("agent", "create", "bare").err
    assert daemon("run", "--backend", "none", "--", "echo", "typed").ok().text == "typed\n"
    daemon("settings", "set", "security.sandboxOnly", "false").ok()
    daemon("agent", "set", agent, "backend=none").ok()
    assert daemon.sh(agent, "echo ran").ok().text == "ran\n"
    # One that was made before is not started any more, by no way of calling it.
    daemon("agent", "set", agent, "autonomousExec.enabled=true").ok()
    daemon("agent", "stop", agent).ok()
    assert b"isolates nothing" in daemon("pool", "fill", "--backend", "none", "1").err
    daemon("settings", "remove", "security.sandboxOnly").ok()
    assert b"security.sandboxOnly" in daemon.sh(agent, "echo ran").err
    assert "security.sandboxOnly" in json.dumps(daemon.tool(agent, "sandbox_exec", command="echo ran"))


def test_running_without_isolation_is_a_question_where_the_settings_say_so(daemon):
    agent = daemon.create("backend=none")
    daemon("settings", "set", "security.askWithoutIsolation", "true").ok()
    refused = daemon.sh(agent, "echo ran")
    assert refused.code == 125 and refused.text == "" and "hutch questions --follow" in refused.errors, str(refused)
    assert "security.askWithoutIsolation" in daemon.json("agent", "show", agent)["reason"]

    def asked(choice):
        with daemon.popen("questions", "--follow", "--json") as follower:
            started = []

            def open_questions():
                """Until the follower is there the answer is no."""
                threads.append(threading.Thread(target=lambda: started.append(daemon.sh(agent, "echo ran"))))
                threads[-1].start()
                threads[-1].join(1)
                return daemon("questions").ok().text
            threads = []
            harness.wait_until(open_questions, "somebody is asked")
            question = json.loads(follower.stdout.readline())
            assert (question["kind"], question["path"]) == ("isolation", f"agent {agent}"), question
            assert question["choices"] == ["once", "session", "no"] and question["agent"] == agent
            assert f"run without isolation: agent {agent}" in daemon("questions").ok().text
            daemon("answer", question["id"], choice).ok()
            for thread in threads:
                thread.join()
            follower.kill()
            daemon("agent", "stop", agent).ok()
            return started[-1]
    assert asked("no").code == 125
    assert asked("once").ok().text == "ran\n"
    assert asked("session").ok().text == "ran\n"
    assert daemon.sh(agent, "echo ran").ok().text == "ran\n", "all starts of the session"
    decisions = map(json.loads, daemon("audit", "--type", "decision", "--json").ok().text.splitlines())
    answers = [one["answer"] for one in decisions if one["what"] == f"run without isolation: agent {agent}"
               and one["by"] != "nobody is attached"]
    assert answers == ["no", "once", "session"]
    daemon("agent", "set", agent, "limits.cpus=1").ok()
    daemon("agent", "stop", agent).ok()
    assert daemon.sh(agent, "echo ran").code == 125, "a changed agent is asked about again"


def test_sandbox_only_refuses_the_backend_none(daemon):
    agent = daemon.create("backend=none")
    daemon.sh(agent, "true").ok()
    daemon("agent", "stop", agent).ok()
    daemon("settings", "set", "security.sandboxOnly", "true").ok()
    refused = daemon.sh(agent, "echo ran")
    assert refused.code == 125 and "sandboxOnly" in refused.errors and refused.text == ""
    run = daemon("run", "--backend", "none", "--", "echo", "ran")
    assert run.code == 125 and "sandboxOnly" in run.errors and run.text == ""
    daemon("run", "--wide", "--", "true").ok()
    daemon("settings", "set", "security.sandboxOnly", "false").ok()
    daemon.sh(agent, "true").ok()


def test_no_more_sandboxes_at_once_than_are_set(daemon):
    daemon("settings", "set", "security.maxConcurrentSandboxes", "2").ok()
    agents = [daemon.create() for _ in range(4)]
    running = [daemon.popen("agent", "start", agent) for agent in agents]
    codes = sorted(process.wait(harness.PATIENCE) for process in running)
    assert codes == [0, 0, 125, 125]
    up = [agent for agent in agents if daemon.status(agent) == "running"]
    down = [agent for agent in agents if agent not in up]
    refused = daemon("agent", "start", down[0])
    assert "maxConcurrentSandboxes" in refused.errors
    daemon("agent", "stop", up[0]).ok()
    daemon("agent", "start", down[0]).ok()
    daemon("agent", "start", down[0]).ok()
    assert daemon("agent", "start", up[0]).code == 125


def test_hosts_that_every_agent_may_reach(daemon):
    policy = daemon.person.write(daemon.state / "policy.json", '{"network": {"allowedDomains": ["own.example"]}}')
    none = daemon.person.write(daemon.state / "none.json", '{"network": "none"}')
    daemon("settings", "set", "security.allowedHosts", '["all.example"]').ok()
    agent = daemon.create(f"policy={policy}")
    # The gateway gives a name an address when it may be reached, before anybody resolves it.
    assert daemon.sh(agent, "getent hosts all.example && getent hosts own.example").code == 0
    assert daemon.sh(agent, "getent hosts other.example").code != 0
    closed = daemon.create(f"policy={none}")
    assert daemon.sh(closed, "getent hosts all.example").code != 0


def test_the_daemon_listens_where_it_is_set_to(daemon):
    daemon("settings", "set", "daemon.listen", "127.0.0.1:0").ok()
    daemon("agent", "list").ok()
    assert "listening on http://127.0.0.1:" in daemon.log()
    token = daemon.state / "config/token"
    assert token.stat().st_mode & 0o777 == 0o600 and len(token.read_text().strip()) > 40
    assert daemon.json("settings", "get", "daemon.listen") == "127.0.0.1:0"


def test_the_daemon_leaves_when_it_is_set_to(daemon):
    daemon("settings", "set", "daemon.idle", "1s").ok()
    daemon("agent", "list").ok()
    pid = daemon.pid()
    harness.wait_until(lambda: not daemons.is_running(pid), "it has left")
    typed = daemon.popen("serve", "--idle", "1h")
    harness.wait_until(daemon.socket.exists, "it listens")
    with pytest.raises(harness.subprocess.TimeoutExpired):
        typed.wait(3)
    daemon("daemon", "stop").ok()
    typed.wait(harness.PATIENCE)


def test_connections_are_bounded(daemon):
    daemon("settings", "set", "daemon.maxConnections", "2").ok()
    daemon("agent", "list").ok()
    held = []

    def is_held():
        """Whether one more connection is kept: it says nothing, and one that is refused ends."""
        one = socket.socket(socket.AF_UNIX)
        one.connect(str(daemon.socket))
        one.settimeout(4)  # it is waited for what it asks, for a moment, to be told why
        try:
            one.recv(1)
        except TimeoutError:
            held.append(one)
            return True
        except ConnectionResetError:
            pass
        one.close()
        return False

    # That of the list may be counted for a moment more.
    harness.wait_until(lambda: is_held() and len(held) == 2, "two are held")
    assert not is_held()
    assert len(held) == 2
    refused = daemon("agent", "list")
    assert refused.code == 125 and "the daemon is busy: it serves 2 connections" in refused.errors, str(refused)
    for one in held:
        one.close()
    harness.wait_until(lambda: daemon("agent", "list").code == 0, "there is room again")


@pytest.mark.parametrize("backend", ["bwrap", "namespace"])
def test_no_sandbox_sees_or_changes_them(daemon, backend):
    daemon("settings", "set", "codeAgent.env", '{"KEY": "hidden-value"}').ok()
    before = config_file(daemon).read_bytes()
    wide = daemon.person.write(daemon.state / "wide.json", '{"filesystem": {"allowRead": ["/"], "allowWrite": ["/"]}}')
    directory = config_file(daemon).parent
    agent = daemon.create(f"backend={backend}", f"policy={wide}")
    script = f"cat {config_file(daemon)}; ls {directory}; echo '{{}}' > {config_file(daemon)}; " \
             f"rm -rf {directory}; mv {directory} {directory}2; ln -s /tmp {directory}/x; true"
    ran = daemon.sh(agent, script)
    run = daemon("run", "--backend", backend, "--policy", str(wide), "-c", script)
    assert b"hidden-value" not in ran.out + run.out and b"config.json\n" not in ran.out + run.out
    assert config_file(daemon).read_bytes() == before


def test_files_are_laid_over_the_policy(daemon, agent):
    """The policy's other rules stay, credentials too; a word that no directory is known for is refused."""
    person = daemon.person
    tools = person.mkdir(person.home / f"tools-{agent}")
    person.write(tools / "bin" / "word", "#!/bin/sh\necho of the tools\n", mode=0o755)
    person.mkdir(tools / "open")
    person.write(person.home / f"hidden-{agent}", "words")
    assert daemon.sh(agent, f"{tools}/bin/word").code != 0
    daemon("agent", "stop", agent).ok()
    daemon("agent", "set", agent, f'allowRead=["{tools}"]', f"allowWrite+={tools}/open").ok()
    assert daemon.sh(agent, f"{tools}/bin/word").ok().text == "of the tools\n"
    daemon.sh(agent, f"echo written > {tools}/open/new").ok()
    assert (tools / "open/new").read_text() == "written\n"
    assert daemon.sh(agent, f"echo x > {tools}/bin/word").code != 0
    assert daemon.sh(agent, f"cat {person.home}/hidden-{agent}").code != 0
    refused = daemon("agent", "set", agent, 'allowRead=["bin"]')
    assert refused.code == 125 and "allowRead: bin is not an absolute path" in refused.errors, str(refused)
