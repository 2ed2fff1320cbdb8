# How a sandbox is left: by a signal, by its end, by switching it off. Nothing stays behind, and it happens once.
"""The five steps of a clean end: everything is over before hutch returns, what a session was allowed is forgotten,
nothing is asked any more, the environment is the caller's own, and a signal does what it does to any program."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

import harness
from harness import wait_until

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]


@pytest.fixture
def state(as_user, project):
    made = as_user.mkdir(as_user.home / f"state-{project.name.split('-')[0]}")
    return {"HUTCH_STATE": str(made)}


@pytest.fixture
def left(project, state):
    """What is there of runs: their sockets, and processes with the test's mark in their arguments."""
    mark = f"31{abs(hash(str(project))) % 10**9}"

    def found():
        sockets = [path for path in pathlib.Path(state["HUTCH_STATE"]).glob("run/runs/*.sock")]
        return sockets, harness.processes_with(mark)

    found.mark = mark
    return found


def started(hutch, state, script, trap=":"):
    """A run that has got as far as `script`, with its traps set."""
    run = hutch.popen("sh", "-c", f"{trap}; echo ready; {script}", env=state)
    assert run.stdout.readline() == b"ready\n"
    return run


@pytest.mark.parametrize("number", SIGNALS)
def test_all_is_over_when_it_returns_and_the_signal_is_seen(hutch, state, left, backend, number):
    with started(hutch, state, f"setsid sleep {left.mark} & sleep {left.mark}") as run:
        run.send_signal(number)
        code = run.wait(30)
        assert code == -number, f"whoever waits for hutch sees what ended it: {run.stderr.read().decode()}"
    assert left() == ([], [])


def test_several_signals_are_one_end(hutch, state, left, backend):
    with started(hutch, state, f"while :; do sleep {left.mark} & wait; done", "trap 'echo told' TERM INT HUP") as run:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            run.send_signal(number)
        assert -run.wait(30) in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP), "one of those that came together"
    assert left() == ([], [])
    ends = hutch("audit", "--json", "--type", "end", env=state).ok().text.splitlines()
    assert len(ends) == 1, "exactly one end"


def test_a_command_that_ends_by_itself_has_its_say(hutch, state, backend):
    with started(hutch, state, "while :; do sleep 0.1; done", "trap 'exit 7' TERM") as run:
        run.send_signal(signal.SIGTERM)
        assert run.wait(30) == 7


@pytest.mark.parametrize("script, code", [("exit 3", 3), ("true", 0), ("kill -9 $$", 137)])
def test_an_end_leaves_nothing(hutch, state, left, backend, script, code):
    with started(hutch, state, f"setsid sleep {left.mark} & {script}") as run:
        assert harness.shell_code(run.wait(30)) == code
    assert left() == ([], [])


def test_switched_off_nothing_is_asked_and_the_environment_is_the_callers(hutch, state):
    env = {**state, "HUTCH_SESSION": "off"}
    hutch("config", "disable", "--session", env=env).ok()
    with harness.start_in(hutch.person, [hutch.program, "questions", "--follow"], cwd=hutch.cwd, env=env) as follower:
        wait_until(lambda: list(pathlib.Path(state["HUTCH_STATE"]).glob("run/runs/attending")), "it follows")
        result = hutch("run", "--", "sh", "-c", "env; exec 3<>/dev/null; ls /proc/1/ns >/dev/null", env=env)
        follower.kill()
        assert follower.stdout.read() == b""
    names = {line.split("=")[0] for line in result.text.splitlines()}
    assert not {name for name in names if "proxy" in name.lower()}, "no gateway, and no word of one"
    hutch("config", "enable", "--session", env=env).ok()
    names = {line.split("=")[0] for line in hutch("run", "--", "env", env=env).ok().text.splitlines()}
    assert "HTTPS_PROXY" in names, "it is back"
    hutch("daemon", "stop", env=env).ok()


def test_switching_off_is_over_when_it_returns(hutch, state):
    env = {**state, "HUTCH_SESSION": "off"}
    for action, enabled in [("disable", False), ("enable", True), ("disable", False)]:
        hutch("config", action, "--session", env=env).ok()
        assert json.loads(hutch("status", "--json", env=env).ok().text)["enabled"] is enabled
    hutch("daemon", "stop", env=env).ok()
    assert json.loads(hutch("status", "--json", env=env).ok().text)["enabled"] is True, "in memory alone"
    assert not list(pathlib.Path(state["HUTCH_STATE"], "config").glob("*.json")), "nothing is saved"


@pytest.mark.parametrize("backend", ["bwrap"])
def test_killed_while_bubblewrap_starts_its_halves_do_not_wait_for_each_other(hutch, state, backend):
    """One half lets the other one go on. Where the end of hutch ends that half first, the other one stays for ever."""
    sessions = []
    for moment in range(40):
        with hutch.popen("true", env=state) as run:
            while run.poll() is None and not has_children(run.pid):
                pass
            time.sleep(moment % 20 / 4000)
            run.kill()
            sessions.append(run.pid)
    try:
        wait_until(lambda: not of_sessions(sessions), "what was started ends")
    finally:
        for pid in of_sessions(sessions):
            os.kill(pid, signal.SIGKILL)


def has_children(pid):
    with contextlib.suppress(OSError):
        return any(path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"))
    return False


def of_sessions(leaders):
    """Processes of the sessions that these began."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            stat = pathlib.Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            if int(stat[3]) in leaders and stat[0] != "Z":
                found.append(int(name))
    return found


@pytest.mark.skipif(not os.path.exists("/sys/fs/cgroup/pids/tasks") or os.geteuid() != 0, reason="not cgroup v1's root")
@pytest.mark.parametrize("as_user", ["root"], indirect=True)
@pytest.mark.parametrize("backend", ["namespace"])
def test_a_cgroup_that_was_left_with_somebody_in_it_is_not_waited_for(hutch, state, backend):
    over = subprocess.Popen(["true"])
    over.wait()
    left = pathlib.Path(f"/sys/fs/cgroup/pids/hutch-run-{over.pid}-1")
    left.mkdir()
    stays = subprocess.Popen(["sleep", "300"])
    try:
        (left / "cgroup.procs").write_text(str(stays.pid))
        assert hutch("run", "--backend", backend, "--pids", "100", "--", "true", env=state).ok().seconds < 3
    finally:
        stays.kill()
        stays.wait()
        wait_until(lambda: is_removed(left), "it is empty")


def is_removed(directory):
    with contextlib.suppress(OSError):
        directory.rmdir()
    return not directory.exists()
