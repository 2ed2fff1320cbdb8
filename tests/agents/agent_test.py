# Agents as records and as sandboxes: made, shown, set, started, stopped, reset, removed.
import concurrent.futures
import subprocess

import pytest

import harness

BAD_NAMES = ["", "A", "Alice", "1a", "-a", "a_b", "a.b", "a b", "../a", "a/b", "ä", "a" * 200, "a\n", "a$(id)"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_cannot_be_one(daemon, name):
    result = daemon("agent", "create", name)
    assert result.code == 125, str(result)
    assert name not in [one["name"] for one in daemon.json("agent", "list")]


def test_two_names_never_become_one(daemon, agent):
    """Folded they would be one user."""
    other = f"{agent[0]}-{agent[1:]}"
    result = daemon("agent", "create", other)
    assert result.code == 125 and agent in result.errors, str(result)
    again = daemon("agent", "create", agent)
    assert again.code == 125 and "already" in again.errors, str(again)


def test_create_shows_and_lists(daemon, agent):
    shown = daemon.json("agent", "show", agent)
    assert shown["name"] == agent and shown["status"] == "pending"
    assert shown["autonomousExec"] == {
        "enabled": False,
        "maxCommandsPerTurn": 10,
        "commandTimeout": 30,
        "pluginCreate": True,
    }
    assert shown["id"] in [one["id"] for one in daemon.json("agent", "list")]
    assert agent in daemon("agent", "list").ok().text


def test_each_agent_has_limits_of_its_own(daemon):
    count = (
        "import os, time\nmade = []\ntry:\n  while len(made) < 100: made.append(os.fork() or time.sleep(600))\n"
        "except OSError: print(len(made))\nfor one in made: os.kill(one, 9)"
    )
    # They count as processes do, and take less time.
    threads = (
        "import _thread, os\n_thread.stack_size(65536)\nheld = _thread.allocate_lock()\nheld.acquire()\n"
        "made = 0\ntry:\n"
        "  while made < 8200: _thread.start_new_thread(held.acquire, ()); made += 1\n"
        "except RuntimeError: print(made, flush=True)\nos._exit(0)"
    )
    names = [daemon.create(*settings) for settings in (["limits.pids=30"], ["limits.pids=60"], [])]
    for name in names:
        daemon.exec(name, "true").ok()
    made = [int(daemon.exec(name, "/usr/bin/python3", "-c", code, timeout=120).ok().text)
            for name, code in zip(names, (count, count, threads))]
    assert made[0] < 35 and 50 < made[1] < 65 and 4000 < made[2] <= 4100, made
    for name in names:
        daemon("agent", "remove", name).ok()


def test_settings_at_creation_and_later(daemon):
    name = daemon.create("limits.pids=50", "autonomousExec.enabled=true")
    shown = daemon.json("agent", "show", name)
    assert shown["limits"]["pids"] == "50" and shown["autonomousExec"]["enabled"] is True
    daemon("agent", "set", name, "limits.memory=1G", 'dispatchTo=["x"]').ok()
    shown = daemon.json("agent", "show", name)
    assert shown["limits"]["memory"] == "1G" and shown["dispatchTo"] == ["x"] and shown["limits"]["pids"] == "50"
    daemon("agent", "remove", name).ok()


@pytest.mark.parametrize(
    "setting, named",
    [
        ("limit.pids=3", "limits.pids"),
        ("colour=red", "colour"),
        ("limits=5", "limits"),
        ("name=x", "name"),
        ("id=x", "id"),
        ("inference=perhaps", "true or false"),
        ("limits.memory=lots", "limits.memory"),
        ("autonomousExec.commandTimeout=0", "commandTimeout"),
        ("dir=relative", "absolute"),
        ("novalue", "KEY=VALUE"),
        ("=x", ""),
        ("dispatchTo=[1]", "list of texts"),
        ("codeAgent.env=[]", "object"),
        ("dir=/etc/passwd", "directory"),
        ("dir=/does/not/exist", "/does/not/exist"),
        ("policy=p.json", "absolute"),
        ("policy=/does/not/exist", "/does/not/exist"),
        ("policy=/etc/passwd", "policy: /etc/passwd"),
        ("backend=nope", "there are namespace, bwrap, user, container, vm and none"),
        ("backend=namespaces", "did you mean namespace?"),
        ("limits.memory=1K", "limits.memory"),
    ],
)
def test_a_setting_that_cannot_be(daemon, agent, setting, named):
    before = daemon.json("agent", "show", agent)
    result = daemon("agent", "set", agent, "inference=true", setting)
    assert result.code == 125 and named in result.errors, str(result)
    assert daemon.json("agent", "show", agent) == before, "all or none"
    made = daemon("agent", "create", "never", setting)
    assert made.code == 125, str(made)
    assert daemon("agent", "show", "never").code == 125


def test_an_agent_that_is_not_there(daemon):
    for action in ("show", "start", "stop", "reset"):
        result = daemon("agent", action, "nobody")
        assert result.code == 125 and "no agent nobody" in result.errors, str(result)
    for words in (
        ["exec", "nobody", "--", "true"],
        ["ps", "nobody"],
        ["logs", "nobody", "1"],
        ["shell", "nobody"],
        ["tool", "call", "nobody", "sandbox_exec", "{}"],
    ):
        result = daemon(*words)
        assert result.code == 125 and "no agent nobody" in result.errors, str(result)


def test_statuses(daemon, agent):
    assert daemon.status(agent) == "pending"
    daemon("agent", "start", agent).ok()
    assert daemon.status(agent) == "running"
    daemon("agent", "start", agent).ok()
    for _ in range(2):
        daemon("agent", "stop", agent).ok()
        assert daemon.status(agent) == "stopped"
    assert daemon.sh(agent, "echo again").ok().text == "again\n"
    assert daemon.status(agent) == "running"


def test_a_start_that_fails_says_why(daemon, agent):
    broken = daemon.person.write(daemon.state / "broken.json", "{}")
    daemon("agent", "set", agent, f"policy={broken}").ok()
    daemon.person.write(broken, '{"filesystem": 1}')
    result = daemon.exec(agent, "true")
    assert result.code == 125 and "filesystem" in result.errors, str(result)
    shown = daemon.json("agent", "show", agent)
    assert shown["status"] == "error" and "filesystem" in shown["reason"]
    assert "filesystem" in daemon("agent", "list").ok().text
    daemon("agent", "set", agent, "policy=").ok()
    daemon.exec(agent, "true").ok()
    assert daemon.json("agent", "show", agent)["reason"] == ""


@pytest.mark.parametrize("place", ["data", "data/workspace/agents", "data/workspace/agents/OTHER", "data/output/OTHER",
                                   "run", "link/workspace/agents/OTHER"])
def test_no_agent_works_where_another_or_hutch_keeps_files(daemon, agent, place):
    other = daemon.create()
    daemon.exec(other, "true").ok()
    link = daemon.state / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(daemon.data)
    refused = daemon("agent", "set", agent, f"dir={daemon.state / place.replace('OTHER', other)}")
    assert refused.code == 125 and "another directory" in refused.errors, str(refused)


def test_a_setting_holds_from_the_next_start_on(daemon, agent):
    daemon.exec(agent, "true").ok()
    folder = daemon.person.mkdir(daemon.state / "work")
    daemon("agent", "set", agent, f"dir={folder}").ok()
    assert daemon.exec(agent, "pwd").ok().text == f"/workspace/agents/{agent}\n"
    daemon("agent", "stop", agent).ok()
    assert daemon.exec(agent, "pwd").ok().text == f"{folder}\n"


@pytest.mark.parametrize("action", ["stop", "reset"])
def test_a_home_persists(daemon, any_agent, action):
    daemon.sh(any_agent, "echo kept > ~/file").ok()
    daemon.detach(any_agent, "sleep 1000")
    daemon("agent", action, any_agent).ok()
    assert daemon.processes(any_agent) == {}
    assert daemon.sh(any_agent, "cat ~/file").ok().text == "kept\n"


def test_an_end_from_inside_is_told(daemon, agent):
    """Pid 1 cannot be signalled from inside: the sandbox ends when its init is killed from outside alone."""
    result = daemon.sh(agent, "kill -9 1; kill -9 -1; echo no")
    assert result.code in (0, 137), str(result)
    daemon.exec(agent, "true").ok()
    assert daemon.status(agent) == "running"


def test_remove_says_what_it_deletes_and_twice_is_fine(daemon):
    name = daemon.create()
    daemon.sh(name, "mkdir -p ~/deep/er; touch ~/deep/er/file /output/o; chmod 0 ~/deep").ok()
    home = daemon.json("agent", "show", name)["home"]
    sleeper = daemon.popen("exec", name, "--", "sleep", "1000")
    harness.wait_until(
        lambda: any(one["arguments"][0] == "sleep" for one in daemon.processes(name).values()), "sleep"
    )
    removed = daemon("agent", "remove", name).ok()
    assert f"deleted {home}\n" in removed.text
    assert not (daemon.data / "workspace/agents" / name).exists() and not (daemon.data / "output" / name).exists()
    sleeper.communicate(timeout=harness.PATIENCE)
    assert daemon("agent", "remove", name).ok().text == f"there was no agent {name}\n"
    assert daemon("agent", "remove", "No Name").code == 125
    daemon.create(name=name)
    assert daemon.sh(name, "ls -A ~; ls -A /output").ok().text == ""
    daemon("agent", "remove", name).ok()


def test_the_list_is_whole_while_agents_go(daemon):
    names = [daemon.create() for _ in range(40)]
    kept = daemon.create()
    with concurrent.futures.ThreadPoolExecutor(2) as others:
        removed = [others.submit(daemon, "agent", "remove", name) for name in names]
        while not all(one.done() for one in removed):
            assert kept in [one["name"] for one in daemon.json("agent", "list")]
    for one in removed:
        one.result().ok()
    daemon("agent", "remove", kept).ok()


def test_concurrent_starts_are_one(daemon, any_agent):
    script = "readlink /proc/self/ns/pid"
    before = daemon.guests()
    running = [daemon.popen("exec", any_agent, "--", "sh", "-c", script) for _ in range(16)]
    ended = [process.communicate(timeout=harness.PATIENCE) for process in running]
    assert {process.returncode for process in running} == {0}, ended
    assert len({out for out, _ in ended}) == 1
    assert daemon.guests() == before + 1


def test_starts_stops_and_commands_at_once(daemon, agent):
    """Whatever the order: no command hangs, no other answer than its own or that its sandbox was stopped."""
    commands, stops = [], []
    for _ in range(12):
        commands.append(daemon.popen("exec", agent, "--", "echo", "here"))
        stops.append(daemon.popen("agent", "stop", agent, stdout=subprocess.DEVNULL))
    for process in commands:
        out, err = process.communicate(timeout=harness.PATIENCE)
        # What runs is told TERM before it is killed.
        assert process.returncode in (0, 125, 137, 143), (process.returncode, out, err)
        assert process.returncode != 0 or out == b"here\n"
    for process in stops:
        _, err = process.communicate(timeout=harness.PATIENCE)
        assert process.returncode == 0, err
    assert daemon.exec(agent, "echo", "here").ok().text == "here\n"
