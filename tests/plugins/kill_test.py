# A daemon that is killed in the middle of an installation, an update or a removal: the next one undoes or finishes it.
import json
import os
import signal
import time

import pytest

import harness
from recipes import tool

SAY = [tool("say", "cat x; cat made")]


@pytest.fixture
def daemon(own_daemon):
    return own_daemon


def record(daemon, agent, id="talk"):
    return daemon.data / "agents" / agent / "plugins" / f"{id}.json"


def settle(daemon, agent):
    """The next daemon, once it has repaired what there was to repair."""
    def settled():
        return all(one["state"] == "ready" for one in daemon.json("plugin", "list", "--agent", agent))
    harness.wait_until(settled, "what was left is repaired")


def is_whole(daemon, agent, said):
    """Installed and working, or gone without a trace; which."""
    plugins = daemon.data / "workspace/agents" / agent / "plugins"
    names = sorted(one.name for one in plugins.iterdir()) if plugins.exists() else []
    library = [one["id"] for one in daemon.json("plugin", "list", "--library")]
    if not record(daemon, agent).exists():
        assert names == [] and library in ([], ["talk"]), (names, library)
        assert daemon.tool(agent, "talk_say")["kind"] == "tool_not_found"
        return False
    assert names == ["talk"] and library == ["talk"]
    assert daemon.tool(agent, "talk_say")["result"]["stdout"] == said
    return True


def kill_after(daemon, seconds, *command):
    pid = daemon.pid()
    with daemon.popen(*command) as process:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=harness.PATIENCE)
    harness.wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "the daemon is gone")


def test_killed_in_set_up(daemon, recipe):
    agent = daemon.create()
    path = recipe("Talk", files={"x": "one\n"}, setup="echo m1 > made; sleep 1000", tools=SAY)
    daemon.sh(agent, "true").ok()
    pid = daemon.pid()
    with daemon.popen("plugin", "install", path, "--agent", agent) as process:
        made = daemon.data / "workspace/agents" / agent / "plugins/talk/made"
        harness.wait_until(made.exists, "the set-up runs")
        assert json.loads(record(daemon, agent).read_text())["steps"] == 6
        os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=harness.PATIENCE)
    settle(daemon, agent)
    assert not is_whole(daemon, agent, "")
    assert daemon.json("plugin", "list", "--library") == []


@pytest.mark.parametrize("steps", range(1, 8))
def test_whatever_step_it_was(daemon, recipe, steps):
    """The record as it is between two steps, and the files as they are then at most."""
    agent = daemon.create()
    daemon("plugin", "install", recipe("Talk", files={"x": "one\n"}, setup="echo m1 > made", tools=SAY), "--agent",
           agent).ok()
    daemon("daemon", "stop").ok()
    kept = json.loads(record(daemon, agent).read_text())
    kept.update(state="installing", steps=steps)
    if steps == 7:
        kept.update(library_before=0, library_added=1)
    record(daemon, agent).write_text(json.dumps(kept))
    settle(daemon, agent)
    harness.wait_until(lambda: not record(daemon, agent).exists(), "it is undone")
    assert not is_whole(daemon, agent, "")
    # The library's entry goes where this installation may have made it, and stays where it cannot have.
    assert [one["id"] for one in daemon.json("plugin", "list", "--library")] == ([] if steps == 7 else ["talk"])


@pytest.mark.parametrize("steps", range(1, 8))
@pytest.mark.parametrize("moved", [False, True])
def test_an_update_is_undone(daemon, recipe, moved, steps):
    agent = daemon.create()
    daemon("plugin", "install", recipe("Talk", files={"x": "one\n"}, setup="echo m1 > made", tools=SAY), "--agent",
           agent).ok()
    two = recipe("Talk", files={"x": "two\n"}, setup="echo m1 > made", tools=SAY)
    if steps == 7:
        daemon("plugin", "import", two).ok()
    daemon("daemon", "stop").ok()
    kept = json.loads(record(daemon, agent).read_text())
    kept.update(state="updating", steps=steps, previous=kept["recipe"], recipe=kept["recipe"].replace("one", "two"))
    if steps == 7:
        kept.update(library_before=1, library_added=2)
    record(daemon, agent).write_text(json.dumps(kept))
    plugins = daemon.data / "workspace/agents" / agent / "plugins"
    if moved:
        (plugins / "talk").rename(plugins / ".talk.before")
        daemon.person.write(plugins / "talk/x", "two\n")
    settle(daemon, agent)
    assert is_whole(daemon, agent, "one\nm1\n")
    assert daemon.json("plugin", "show", "talk")["numbers"] == [1]


def test_anothers_version_of_that_number_stays(daemon, recipe):
    """Killed after it had said which number its recipe was to have, before the library had it: another's has it."""
    agent = daemon.create()
    daemon("plugin", "install", recipe("Talk", files={"x": "one\n"}, tools=SAY), "--agent", agent).ok()
    daemon("plugin", "import", recipe("Talk", files={"x": "three\n"}, tools=SAY)).ok()
    daemon("daemon", "stop").ok()
    kept = json.loads(record(daemon, agent).read_text())
    kept.update(state="updating", steps=7, previous=kept["recipe"], recipe=kept["recipe"].replace("one", "two"),
                library_before=1, library_added=2)
    record(daemon, agent).write_text(json.dumps(kept))
    settle(daemon, agent)
    shown = daemon.json("plugin", "show", "talk")
    assert (shown["numbers"], shown["number"]) == ([1, 2], 2)


@pytest.mark.parametrize("left", ["all", "some", "nothing"])
def test_a_removal_is_finished(daemon, recipe, left):
    agent = daemon.create()
    daemon("plugin", "install", recipe("Talk", files={"x": "one\n", "y": "two\n"}, tools=SAY), "--agent", agent).ok()
    daemon("plugin", "config", "set", "talk", "k=v", "--agent", agent).ok()
    daemon("daemon", "stop").ok()
    kept = json.loads(record(daemon, agent).read_text())
    record(daemon, agent).write_text(json.dumps({**kept, "state": "removing"}))
    plugins = daemon.data / "workspace/agents" / agent / "plugins"
    for path in {"all": [], "some": [plugins / "talk/x"], "nothing": [plugins / "talk/x", plugins / "talk/y"]}[left]:
        path.unlink()
    if left == "nothing":
        (plugins / "talk").rmdir()
    harness.wait_until(lambda: daemon.json("plugin", "list", "--agent", agent) == [], "it is gone")
    assert not is_whole(daemon, agent, "")
    assert daemon.sh(agent, "HUTCH_PLUGIN=talk hutch-host config get k").code == 3


def test_killed_at_any_moment(daemon, recipe):
    """An installation takes some tens of milliseconds: kills all over it, then over updates and removals."""
    agent = daemon.create()
    one = recipe("Talk", files={"x": "one\n"}, setup="echo m1 > made", tools=SAY)
    two = recipe("Talk", files={"x": "two\n"}, setup="echo m2 > made", tools=SAY)
    for delay in range(0, 100, 10):
        daemon.sh(agent, "true").ok()
        kill_after(daemon, delay / 1000, "plugin", "install", one, "--agent", agent)
        settle(daemon, agent)
        is_whole(daemon, agent, "one\nm1\n")
        daemon("plugin", "install", one, "--agent", agent).ok()
        kill_after(daemon, delay / 1000, "plugin", "install", two, "--agent", agent)
        settle(daemon, agent)
        plugins = daemon.data / "workspace/agents" / agent / "plugins"
        assert daemon.tool(agent, "talk_say")["result"]["stdout"] in ("one\nm1\n", "two\nm2\n")
        assert (plugins / "talk").exists()
        kill_after(daemon, delay / 2000, "plugin", "remove", "talk")
        settle(daemon, agent)
        if record(daemon, agent).exists():
            daemon("plugin", "remove", "talk").ok()
        is_whole(daemon, agent, "")
        daemon("plugin", "remove", "talk")
        assert [path.name for path in plugins.glob("*")] + [path.name for path in plugins.glob(".*")] == []


def test_what_an_update_had_no_time_to_remove_goes(daemon, recipe):
    """As one leaves it that is killed when the new version is recorded, and before the earlier one is removed."""
    agent = daemon.create()
    daemon("plugin", "install", recipe("Talk", files={"x": "one\n"}, tools=SAY[:1]), "--agent", agent).ok()
    daemon.sh(agent, "mkdir ~/plugins/.talk.before && echo old > ~/plugins/.talk.before/x").ok()
    daemon.kill()
    harness.wait_until(lambda: daemon.sh(agent, "test ! -e ~/plugins/.talk.before").code == 0, "it is gone", 60)
    daemon.sh(agent, "test -e ~/plugins/talk/x").ok()
