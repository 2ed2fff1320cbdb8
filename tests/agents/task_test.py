# Tasks: an agent's coding agent is told to do something, and what it changed is told. It is a script of the test's.
import json
import os
import pathlib
import time

import pytest

import harness

# Says what it was given, then does what the text's first line says.
SCRIPT = """#!/bin/sh
printf '%s\\0' "$@" > given
printf 'working\\n'; printf 'aside\\n' >&2
printf '%s' "$SETTING" > setting
eval "$(printf '%s' "$ACT")"
"""


def configure(daemon, agent, act="true", args=None, setting="from $env"):
    """A coding agent that does `act`, a line for the shell."""
    daemon.sh(agent, "cat > coder; chmod 755 coder", stdin=SCRIPT.encode()).ok()
    home = daemon.sh(agent, 'printf %s "$HOME"').ok().text
    settings = [f"codeAgent.command={home}/coder", "codeAgent.env=" + json.dumps({"ACT": act, "SETTING": setting})]
    if args is not None:
        settings.append("codeAgent.args=" + json.dumps(args))
    daemon("agent", "set", agent, *settings).ok()


def given(daemon, agent):
    return daemon.sh(agent, "cat given").ok().out.split(b"\0")[:-1]


def changes(task):
    return {(one["path"], one["change"]) for one in task["files_changed"]}


def run(daemon, agent, text, *options, code=0):
    result = daemon("task", "run", "--json", *options, agent, text)
    assert result.code == code, str(result)
    return json.loads(result.out)


def test_it_runs_streams_and_reports(daemon, any_agent):
    daemon.sh(any_agent, "mkdir -p src; echo 1 > src/kept; echo 1 > src/changed; echo 1 > gone").ok()
    configure(daemon, any_agent, "echo 22 > src/changed; rm gone; mkdir new; echo x > new/file; exit 3")
    result = daemon("task", "run", any_agent, "do it")
    assert result.code == 3 and result.out == b"working\n", str(result)
    for line in ("aside", "failed", "modified src/changed", "deleted gone", "added new/file"):
        assert line in result.errors, str(result)
    assert "kept" not in result.errors
    task = daemon.json("task", "list", any_agent)[-1]
    shown = daemon.json("task", "show", task["id"])
    assert shown["status"] == "failed" and shown["exit_code"] == 3 and shown["text"] == "do it"
    assert shown["stdout"] == "working\n" and shown["stderr"] == "aside\n"
    assert changes(shown) == {("src/changed", "modified"), ("gone", "deleted"), ("new/file", "added"),
                              ("given", "added"), ("setting", "added")}
    assert shown["files_changed_count"] == 5 and not shown["files_truncated"]
    assert daemon.sh(any_agent, "cat setting").ok().text == "from $env"
    daemon("logs", any_agent, shown["pid"]).ok()
    text = daemon("task", "show", task["id"]).ok().text
    assert "deleted gone" in text and "--- stdout\nworking\n" in text


@pytest.mark.parametrize("text", ["it's \"$(touch pwned)\" `touch pwned` $HOME; touch pwned", "two\nlines\n\n",
                                  "a b  c", "\\ * ? ~ {task} \x1b[31m", "漢字 é"])
def test_a_text_is_one_argument_whatever_is_in_it(daemon, any_agent, text):
    configure(daemon, any_agent)
    assert run(daemon, any_agent, text)["status"] == "succeeded"
    assert given(daemon, any_agent) == [text.encode()]
    assert daemon.sh(any_agent, "test -e pwned").code == 1
    configure(daemon, any_agent, args=["--message={task}", "--yes"])
    run(daemon, any_agent, text)
    assert given(daemon, any_agent) == [b"--message=" + text.encode(), b"--yes"]


def test_a_text_is_no_option(daemon, agent):
    configure(daemon, agent, args=["-p"])
    refused = daemon("task", "run", agent, "--", "--yolo")
    assert refused.code == 125 and 'put "--" before "{task}"' in refused.errors, str(refused)
    configure(daemon, agent, args=["-p", "--"])
    daemon("task", "run", agent, "--", "--yolo").ok()
    assert given(daemon, agent) == [b"-p", b"--", b"--yolo"]


def test_what_no_text_can_be(daemon, agent):
    configure(daemon, agent)
    cases = ((b"a\0b", "without NUL"), (b"\xff", "UTF-8"), (b"", "text is missing"), (b"x" * (97 << 10), "98304"))
    for text, why in cases:
        refused = daemon("task", "run", agent, "-", stdin=text)
        assert refused.code == 125 and why in refused.errors, str(refused)
    assert daemon.json("task", "list", agent) == []
    run_text = b"x" * (96 << 10)
    daemon("task", "run", agent, "-", stdin=run_text).ok()
    assert given(daemon, agent) == [run_text]


def test_without_a_coding_agent_it_says_what_to_type(daemon, agent):
    refused = daemon("task", "run", agent, "x")
    assert refused.code == 125 and f"hutch agent set {agent} codeAgent.command=" in refused.errors, str(refused)
    daemon("agent", "set", agent, "autonomousExec.enabled=true").ok()
    answer = daemon.tool(agent, "opencode", task="x")
    assert answer["kind"] == "unavailable" and not answer["retryable"], answer
    assert "codeAgent.command=" in answer["message"]
    daemon("agent", "set", agent, "codeAgent.command=/nowhere/coder").ok()
    absent = daemon("task", "run", agent, "x")
    assert absent.code == 127 and "not found" in absent.errors, str(absent)


def test_settings_that_cannot_hold(daemon, agent):
    for setting, why in (('codeAgent.env={"A=B": "x"}', "no variable's name"),
                         ('codeAgent.env={"": "x"}', "variable's name"),
                         ('codeAgent.args=["a\\u0000b"]', "without NUL"), ("codeAgent.args=x", "list of texts")):
        refused = daemon("agent", "set", agent, setting)
        assert refused.code == 125 and why in refused.errors, str(refused)
    daemon("agent", "set", agent, 'codeAgent.env={"A": "1", "B": "2"}').ok()
    daemon("agent", "set", agent, "codeAgent.env.A=3", "codeAgent.env.C.D=4").ok()
    assert daemon.json("agent", "show", agent)["codeAgent"]["env"] == {"A": "3", "B": "2", "C.D": "4"}
    daemon("agent", "set", agent, "codeAgent.env={}").ok()
    assert daemon.json("agent", "show", agent)["codeAgent"]["env"] == {}


FORKS = "(setsid sh -c 'echo $$ > deep; trap \"\" TERM HUP; exec sleep 987') & wait; sleep 987"


def deep_child(daemon, agent):
    """Whether what it forked off twice still runs, seen from inside."""
    harness.wait_until(lambda: daemon.sh(agent, "test -s deep").code == 0, "it has begun")
    pid = daemon.sh(agent, "cat deep").ok().text.strip()
    return lambda: daemon.sh(agent, f"grep -q 987 /proc/{pid}/cmdline").code == 0


def test_a_timeout_ends_all_of_it(daemon, any_agent):
    configure(daemon, any_agent, FORKS)
    task = run(daemon, any_agent, "x", "--timeout", "2s", code=124)
    assert task["status"] == "timed_out" and task["exit_code"] == 124 and task["stdout"] == "working\n"
    assert ("deep", "added") in changes(task)
    assert not deep_child(daemon, any_agent)()


def test_cancel_ends_all_of_it(daemon, any_agent):
    configure(daemon, any_agent, FORKS)
    task = daemon("task", "run", "-d", any_agent, "x").ok().text.strip()
    runs = deep_child(daemon, any_agent)
    assert runs() and daemon.json("task", "show", task)["status"] == "running"
    assert daemon("task", "cancel", task).ok().text == "cancelled\n"
    assert not runs()
    shown = daemon.json("task", "show", task)
    assert shown["status"] == "cancelled" and ("deep", "added") in changes(shown)
    assert daemon("task", "cancel", task).ok().text == "cancelled\n"


def test_when_the_client_goes_the_task_ends(daemon, agent):
    configure(daemon, agent, FORKS)
    client = daemon.popen("task", "run", agent, "x")
    runs = deep_child(daemon, agent)
    harness.kill_group(client)
    client.communicate(timeout=harness.PATIENCE)
    harness.wait_until(lambda: daemon.json("task", "list", agent)[-1]["status"] == "cancelled", "it was cancelled")
    assert not runs()


def test_one_at_a_time_and_others_wait(daemon, agent):
    configure(daemon, agent, "while [ ! -e go ]; do sleep 0.1; done; rm -f second; echo >> count")
    tasks = [daemon("task", "run", "-d", agent, str(n)).ok().text.strip() for n in range(3)]
    harness.wait_until(lambda: daemon.sh(agent, "test -e given").code == 0, "the first runs")
    states = [daemon.json("task", "show", task)["status"] for task in tasks]
    assert states == ["running", "queued", "queued"]
    assert daemon("task", "cancel", tasks[1]).ok().text == "cancelled\n"
    daemon.sh(agent, "touch go").ok()
    ended = lambda: [daemon.json("task", "show", task)["status"] for task in tasks]
    harness.wait_until(lambda: ended() == ["succeeded", "cancelled", "succeeded"], "both have run")
    assert daemon.sh(agent, "cat given").ok().out == b"2\0"
    assert daemon.sh(agent, "wc -l < count").ok().text.strip() == "2"


def test_two_agents_at_once(daemon):
    names = [daemon.create() for _ in range(2)]
    for name in names:
        configure(daemon, name, "touch mine; while [ ! -e go ]; do sleep 0.1; done")
    tasks = [daemon("task", "run", "-d", name, name).ok().text.strip() for name in names]
    for name in names:
        harness.wait_until(lambda: daemon.sh(name, "test -e mine").code == 0, "it runs")
    assert [task["agent"] for task in daemon.json("task", "list", names[0])] == [names[0]]
    for name in names:
        daemon.sh(name, "touch go").ok()
    for task in tasks:
        harness.wait_until(lambda: daemon.json("task", "show", task)["status"] == "succeeded", "it has ended")
        assert {path for path, _ in changes(daemon.json("task", "show", task))} == {"mine", "go", "given", "setting"}
    for name in names:
        daemon("agent", "remove", name).ok()
    assert daemon("task", "show", tasks[0]).code == 125, "with its agent go its tasks"


def test_more_than_may_wait_are_refused(daemon, agent):
    configure(daemon, agent, "sleep 987")
    for _ in range(17):
        daemon("task", "run", "-d", agent, "x").ok()
    refused = daemon("task", "run", "-d", agent, "x")
    assert refused.code == 125 and "has 17 tasks that have not ended" in refused.errors, str(refused)
    for task in daemon.json("task", "list", agent)[::-1]:
        daemon("task", "cancel", task["id"]).ok()


def test_a_daemon_that_is_killed_leaves_no_task_running(own_daemon):
    agent = own_daemon.create()
    configure(own_daemon, agent, "sleep 987")
    tasks = [own_daemon("task", "run", "-d", agent, "x").ok().text.strip() for _ in range(2)]
    harness.wait_until(lambda: own_daemon.json("task", "show", tasks[0])["status"] == "running", "it runs")
    own_daemon.kill()
    for task in tasks:
        shown = own_daemon.json("task", "show", task)
        assert shown["status"] == "failed" and shown["reason"] == "the daemon ended while it ran", shown
    configure(own_daemon, agent)
    assert run(own_daemon, agent, "again")["status"] == "succeeded"


def test_a_daemon_that_is_stopped_cancels_them(own_daemon):
    agent = own_daemon.create()
    configure(own_daemon, agent, "sleep 987")
    task = own_daemon("task", "run", "-d", agent, "x").ok().text.strip()
    harness.wait_until(lambda: own_daemon.json("task", "show", task)["status"] == "running", "it runs")
    own_daemon("daemon", "stop").ok()
    assert own_daemon.json("task", "show", task)["status"] == "cancelled"


def test_a_hostile_tree(daemon, any_agent):
    """Links that lead out, names with line breaks and escapes, a tree as deep as one likes."""
    configure(daemon, any_agent, r"""ln -s / out; ln -s .. up; printf x > "$(printf 'a\nb\033[31m')"
i=0; while [ $i -lt 300 ]; do mkdir d; cd d; i=$((i+1)); done; echo x > bottom""")
    result = daemon("task", "run", any_agent, "x", timeout=300)
    assert result.code == 0, str(result)
    assert "\x1b" not in result.errors and "added a\nb" not in result.errors, str(result)
    task = daemon.json("task", "show", daemon.json("task", "list", any_agent)[-1]["id"])
    assert {("out", "added"), ("up", "added"), ("a\nb\x1b[31m", "added")} <= changes(task)
    assert task["files_truncated"] and len(task["files_changed"]) == 6, task["files_changed"]
    daemon.sh(any_agent, "rm -rf d").ok()


def test_what_programs_keep_is_one_line(daemon, agent):
    configure(daemon, agent, "mkdir -p node_modules/a .git/hooks; touch node_modules/a/1 node_modules/a/2 "
                             ".git/hooks/x.sample")
    task = run(daemon, agent, "x")
    listed = {one["path"]: one for one in task["files_changed"]}
    assert listed["node_modules/"] == {"path": "node_modules/", "change": "added", "files": 2}
    assert ".git/hooks/x.sample" in listed


def test_the_place_of_work_and_what_is_handed_out(daemon, base):
    work = daemon.person.mkdir(base.path / f"work-{time.monotonic_ns()}", 0o755)
    agent = daemon.create(f"dir={work}")
    daemon.sh(agent, 'cat > "$HOME/coder"; chmod 755 "$HOME/coder"', stdin=SCRIPT.encode()).ok()
    act = 'echo > here; echo > "$HOME/there"; echo > "$HUTCH_OUTPUT/out"'
    daemon("agent", "set", agent, f"codeAgent.command=/workspace/agents/{agent}/coder",
           "codeAgent.env=" + json.dumps({"ACT": act})).ok()
    task = run(daemon, agent, "x")
    expected = {"here", "given", "setting", f"/workspace/agents/{agent}/there", "/output/out"}
    assert {path for path, _ in changes(task)} == expected
    assert (work / "here").exists()
    daemon("agent", "remove", agent).ok()


def test_the_tool(daemon, any_agent):
    configure(daemon, any_agent, "echo > made; exit 2")
    refused = daemon.tool(any_agent, "opencode", task="x")
    assert refused["kind"] == "rejected" and "autonomousExec.enabled" in refused["message"], refused
    daemon("agent", "set", any_agent, "autonomousExec.enabled=true", "autonomousExec.maxCommandsPerTurn=0").ok()
    answer = daemon.tool(any_agent, "opencode", task="it's $(x)\n-")
    assert answer["ok"], answer
    result = answer["result"]
    assert result["exit_code"] == 2 and result["stdout"] == "working\n" and result["stderr"] == "aside\n"
    assert {"path": "made", "change": "added"} in result["files_changed"]
    assert daemon.json("task", "show", result["task_id"])["status"] == "failed"
    assert given(daemon, any_agent) == [b"it's $(x)\n-"]
    option = daemon.tool(any_agent, "opencode", task="--help")
    assert option["kind"] == "invalid_args" and option["field"] == "task", option
    for wrong in ({"task": ""}, {"task": "x", "timeout": 0}, {"task": "x", "trust": "trusted"}, {}):
        assert daemon.tool(any_agent, "opencode", **wrong)["kind"] == "invalid_args", wrong
    configure(daemon, any_agent, "sleep 987")
    slow = daemon.tool(any_agent, "opencode", task="x", timeout=1)
    assert slow["kind"] == "timeout" and slow["stdout"] == "working\n" and slow["task_id"], slow


def make_files(directory):
    owner = directory.stat()
    for number in range(1000):
        made = os.open(directory / str(number), os.O_CREAT | os.O_WRONLY)
        os.fchown(made, owner.st_uid, owner.st_gid)
        os.close(made)


def test_a_large_tree_costs_little(daemon, agent):
    """Two walks of 100,000 files; the bound is far from what they take, for machines are shared."""
    home = pathlib.Path(daemon.json("agent", "show", agent)["home"])
    for directory in range(100):
        make_files(daemon.person.mkdir(home / f"t{directory}"))
    configure(daemon, agent, "echo x > t50/500")
    began = time.monotonic()
    task = run(daemon, agent, "x")
    took = time.monotonic() - began
    assert ("t50/500", "modified") in changes(task) and not task["files_truncated"]
    assert took < 60, took


def test_wrong_words(daemon, agent):
    daemon("agent", "set", agent, "codeAgent.command=true").ok()
    for words, why in ((("run", agent), "what it is to do"), (("run",), "an agent"), (("rnu",), "did you mean"),
                       ((), "what?"), (("show",), "a task"), (("list", "--timeout", "1s"), "for hutch task run"),
                       (("run", "nobody", "x"), "there is no agent"), (("show", "x"), "there is no task x"),
                       (("run", "--timeout", "48h", agent, "x"), "24 hours")):
        refused = daemon("task", *words)
        assert refused.code == 125 and why in refused.errors, (words, str(refused))
