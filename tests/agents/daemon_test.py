# The daemon: starts by itself, once, leaves when idle, and whatever kills it leaves nothing behind.
import json
import os
import random
import signal
import stat
import time

import pytest

import daemons
import harness


@pytest.fixture
def daemon(own_daemon):
    return own_daemon


def first_commands(daemon, count):
    running = [daemon.popen("agent", "list", "--json") for _ in range(count)]
    for process in running:
        out, err = process.communicate(timeout=harness.PATIENCE)
        assert process.returncode == 0, err
        assert out == b"[]\n"


def test_first_commands_at_once_start_one_daemon(daemon):
    first_commands(daemon, 20)
    servers = [pid for pid, command in daemon.own_processes().items() if command.startswith(b"hutch\0serve")]
    harness.wait_until(lambda: [pid for pid in servers if daemons.is_running(pid)] == [daemon.pid()], "there is one")


def test_no_daemon_is_started_to_be_asked_or_stopped(daemon):
    assert daemon.json("daemon", "status") == {"running": False}
    daemon("daemon", "stop").ok()
    assert not daemon.socket.exists()


def test_stop_and_start_again_at_once(daemon):
    """The next command may find the socket gone and the lock still held."""
    for _ in range(10):
        agent = daemon.create()
        daemon.detach(agent, "sleep 1000")
        daemon("daemon", "stop").ok()
        assert agent in [one["name"] for one in daemon.json("agent", "list")]


def test_commands_and_stops_at_once(daemon):
    """A command that comes while the daemon leaves gets the next one, or is told; it does not hang."""
    stops = [daemon.popen("daemon", "stop") for _ in range(5)]
    lists = [daemon.popen("agent", "list", "--json") for _ in range(20)]
    for process in stops + lists:
        out, err = process.communicate(timeout=harness.PATIENCE)
        assert process.returncode == 0 or b"daemon" in err, (process.returncode, out, err)
    assert daemon.json("agent", "list") == []


def test_a_second_server_is_an_error(daemon):
    first_commands(daemon, 1)
    second = daemon("serve")
    assert second.code == 125 and "runs already" in second.errors, str(second)
    assert daemon.json("agent", "list") == []


def test_a_relative_state_directory_is_refused(daemon):
    for words in (["agent", "list"], ["run", "--", "true"], ["log"], ["daemon", "status"], ["serve"], ["paths"]):
        result = daemon(*words, env={"HUTCH_STATE": "state"})
        assert result.code == 125 and "HUTCH_STATE=state: must be an absolute path" in result.errors, str(result)


@pytest.mark.parametrize("started", ["by its first client", "with hutch serve"])
def test_the_directory_that_it_was_started_in_may_go(daemon, started):
    place = daemon.person.mkdir(daemon.state / "start")
    if started == "by its first client":
        daemon("agent", "create", "first", cwd=place).ok()
    else:
        server = daemon.popen("serve", cwd=place)
        harness.wait_until(daemon.pid, "it serves")
        daemon("agent", "create", "first").ok()
    place.rmdir()
    assert os.readlink(f"/proc/{daemon.pid()}/cwd") == "/"
    assert daemon.sh("first", "echo up").ok().text == "up\n"
    if started != "by its first client":
        daemon("daemon", "stop").ok()
        server.communicate(timeout=harness.PATIENCE)


def test_it_can_be_told_to_stay(daemon):
    server = daemon.popen("serve", "--idle", "never")
    harness.wait_until(daemon.pid, "the daemon is up")
    daemon("daemon", "stop").ok()
    assert server.wait(60) == 0


def test_it_leaves_when_idle(daemon):
    server = daemon.popen("serve", "--idle", "2s")
    harness.wait_until(daemon.socket.exists, "it listens")
    agent = daemon.create()
    process = daemon.detach(agent, "sleep 4")
    # A process that runs, and a client that waits, are no idleness.
    assert daemon("wait", agent, process).code == 0
    assert server.poll() is None
    server.communicate(timeout=harness.PATIENCE)
    assert server.returncode == 0 and not daemon.socket.exists()
    daemon.expect_nothing_left()
    assert daemon.json("agent", "show", agent)["status"] == "stopped"


@pytest.mark.parametrize("backend", ["none", "bwrap", "namespace"])
def test_what_a_command_left_behind_is_no_idleness(daemon, backend):
    server = daemon.popen("serve", "--idle", "1s")
    harness.wait_until(daemon.socket.exists, "it listens")
    agent = daemon.create(f"backend={backend}")
    daemon.sh(agent, "sleep 6 > /dev/null 2>&1 &").ok()
    assert daemon.json("ps", agent)[-1]["end"]["exit_code"] == 0
    with pytest.raises(harness.subprocess.TimeoutExpired):
        server.wait(4)
    server.communicate(timeout=harness.PATIENCE)
    assert server.returncode == 0 and not daemon.socket.exists()


def test_commands_while_it_leaves_for_idleness(daemon):
    """Its last moment is never a command's failure."""
    until = time.monotonic() + 6
    server = None
    while time.monotonic() < until:
        if server is None or server.poll() is not None:
            server = daemon.popen("serve", "--idle", "1ms")
        assert daemon.json("agent", "list") == []
    server.communicate(timeout=harness.PATIENCE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_it_in_order(daemon, number):
    agent = daemon.create()
    client = daemon.popen("exec", agent, "--", "sleep", "1000")
    harness.wait_until(lambda: daemon.processes(agent), "it runs")
    os.kill(daemon.pid(), number)
    out, err = client.communicate(timeout=harness.PATIENCE)
    assert client.returncode == 143, (client.returncode, err)
    daemon.expect_nothing_left()


def audit(daemon, agent):
    return [json.loads(line) for line in daemon("audit", "--json", "--agent", agent).ok().text.splitlines()]


@pytest.mark.parametrize("backend", ["namespace", "bwrap", "none"])
def test_killed_it_leaves_nothing_running(daemon, backend):
    agent = daemon.create(f"backend={backend}")
    daemon.sh(agent, "echo kept > ~/file; setsid sleep 1000 > /dev/null 2>&1 &").ok()
    daemon.detach(agent, "trap '' TERM HUP; sleep 1000")
    client = daemon.popen("exec", agent, "--", "sleep", "1000")
    follower = daemon.popen("exec", agent, "--", "cat")
    harness.wait_until(
        lambda: len([1 for one in daemon.processes(agent).values() if one["running"]]) >= 3, "they run"
    )
    # A command is recorded a moment after it runs.
    harness.wait_until(lambda: [one["type"] for one in audit(daemon, agent)].count("start") >= 5, "all is written")
    before = daemon.json("agent", "list")
    ids = set(daemon.processes(agent))
    daemon.kill()
    for one in (client, follower):
        out, err = one.communicate(timeout=harness.PATIENCE)
        assert one.returncode == 125 and b"daemon" in err, (one.returncode, err)
    harness.wait_until(lambda: not daemon.own_processes(), f"all is gone: {daemon.own_processes()}")
    assert daemon.sh(agent, "cat ~/file").ok().text == "kept\n"
    after = daemon.json("agent", "list")
    assert [one["id"] for one in before] == [one["id"] for one in after]
    assert daemon.detach(agent, "true") not in ids, "an id names one process for ever"
    records = audit(daemon, agent)
    cut_off = {one["run"] for one in records if one.get("error") == "the daemon ended while it ran"}
    begun = [one for one in records if one["type"] == "start" and one["run"] in cut_off]
    assert sorted(one["command"][0] for one in begun) == ["/bin/sh", "cat", "hutch", "sleep"], records


def test_a_daemon_that_ended_by_itself_leaves_no_end_to_write(daemon):
    agent = daemon.create()
    daemon.sh(agent, "true").ok()
    for _ in range(2):
        daemon("daemon", "stop").ok()
        daemon.sh(agent, "true").ok()
    records = [json.loads(line) for line in daemon("audit", "--json").ok().text.splitlines()]
    ends = [one for one in records if one["type"] == "end"]
    assert len(ends) >= 4 and not any(one["error"] for one in ends), records


def test_how_the_last_start_came_out_outlives_the_daemon(daemon):
    ran, failed, never = daemon.create(), daemon.create("backend=bwrap"), daemon.create()
    daemon.sh(ran, "true").ok()
    last = daemon.detach(ran, "true")
    policy = daemon.person.write(daemon.state / "policy.json", '{}')
    daemon("agent", "set", failed, f"policy={policy}").ok()
    policy.unlink()
    assert daemon.sh(failed, "true").code == 125
    for end in (lambda: daemon("daemon", "stop").ok(), daemon.kill):
        end()
        seen = {one["name"]: one for one in daemon.json("agent", "list")}
        assert [seen[name]["status"] for name in (ran, failed, never)] == ["stopped", "error", "pending"], seen
        assert seen[failed]["reason"], seen
        number = daemon.detach(ran, "true")
        assert int(number) > int(last)
        last = number


@pytest.mark.parametrize("seed", range(8))
def test_killed_at_any_moment(daemon, seed):
    """While agents are made, set, started and removed; what was acknowledged is there."""
    rng = random.Random(seed)
    made = [daemon.create() for _ in range(2)]
    busy = []
    for number in range(6):
        busy.append((f"b{number}", daemon.popen("agent", "create", f"b{number}", f"limits.pids={100 + number}")))
        busy.append((None, daemon.popen("exec", made[number % 2], "--", "sleep", "0.1")))
        busy.append((None, daemon.popen("agent", "stop", made[number % 2])))
    pid = daemon.pid()
    time.sleep(rng.random() * 0.15)
    os.kill(pid, signal.SIGKILL)
    harness.wait_until(lambda: not daemons.is_running(pid), "the daemon is gone")
    acknowledged = []
    for name, process in busy:
        process.communicate(timeout=harness.PATIENCE)
        if name and process.returncode == 0:
            acknowledged.append(name)
    names = {one["name"]: one for one in daemon.json("agent", "list")}
    assert set(made) | set(acknowledged) <= set(names)
    for name in acknowledged:
        assert names[name]["limits"]["pids"] == str(100 + int(name[1:]))
    for name in made:
        assert daemon.sh(name, "echo $HUTCH_AGENT").ok().text == f"{name}\n"


def test_no_more_threads_refuse_a_client_and_end_nothing(base):
    """What another program of this user, or a sandbox, can do to a daemon: take all processes that there may be. For
    root that limit is none (fork(2), EAGAIN)."""
    daemon = daemons.Daemon(base, base.person("user"))
    agent = daemon.create()
    process = daemon.detach(agent, "exec sleep 1000")
    pid = daemon.pid()
    limit = ["prlimit", "--pid", str(pid)]
    harness.run_in(daemon.person, [*limit, "--nproc=1:"]).ok()
    refused = [daemon("ps", agent), daemon.sh(agent, "true"), daemon("agent", "create", "another")]
    harness.run_in(daemon.person, [*limit, "--nproc=1000:"]).ok()
    assert all(one.code == 125 for one in refused), [str(one) for one in refused]
    assert daemon.pid() == pid and daemon.processes(agent)[process]["running"] is True, daemon.log()
    daemon.stop()


@pytest.mark.parametrize("how", [("agent", "stop"), ("daemon", "stop")])
def test_what_runs_is_told_before_it_ends(daemon, agent, how):
    daemon.sh(agent, "echo yes > up").ok()
    script = "trap 'echo bye > bye; exit' TERM; echo ready; while :; do sleep 0.05; done"
    process = daemon.detach(agent, script)
    deaf = daemon.detach(agent, "trap '' TERM; echo ready; while :; do sleep 0.05; done")
    for one in (process, deaf):
        harness.wait_until(lambda one=one: daemon("logs", agent, one).out, "it runs")
    daemon(*how, *([agent] if how[0] == "agent" else [])).ok()
    harness.wait_until(lambda: (daemon.data / "workspace/agents" / agent / "bye").exists(), "it said so")


def test_served_right_after_a_stop(daemon, agent):
    for _ in range(5):
        daemon.sh(agent, "true").ok()
        daemon("daemon", "stop").ok()
        with daemon.popen("serve") as server:
            harness.wait_until(lambda: daemon.pid() == server.pid, "it serves")
            daemon("daemon", "stop").ok()
            assert server.wait(harness.PATIENCE) == 0, server.stderr.read()


def test_a_socket_that_is_left_over_is_replaced(daemon):
    first_commands(daemon, 1)
    daemon.kill()
    assert daemon.socket.exists()
    first_commands(daemon, 5)


def test_a_socket_that_somebody_removes_is_there_again(daemon):
    """With it nobody would find the daemon, and while that has the lock no other could begin."""
    first_commands(daemon, 1)
    agent = daemon.create()
    daemon.exec(agent, "touch", "/tmp/kept").ok()
    pid = daemon.json("daemon", "status")["pid"]
    daemon.socket.unlink()
    daemon.exec(agent, "ls", "/tmp/kept").ok()
    assert daemon.json("daemon", "status")["pid"] == pid
    assert stat.S_IMODE(daemon.socket.stat().st_mode) == 0o600
    log = (daemon.data / "daemon.log").read_text()
    assert f"{daemon.socket} was removed; it is there again" in log


def test_socket_and_files_are_the_owners_alone(daemon):
    first_commands(daemon, 1)
    agent = daemon.create()
    daemon.exec(agent, "true").ok()
    assert stat.S_IMODE(daemon.socket.stat().st_mode) == 0o600
    for path in (
        daemon.state / "run",
        daemon.data,
        daemon.data / "workspace/agents" / agent,
        daemon.data / "workspace/shared",
        daemon.data / "output" / agent,
    ):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    for path in daemon.data.glob("hutch.db*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert stat.S_IMODE((daemon.data / "daemon.log").stat().st_mode) & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_another_user_cannot_connect(daemon, base):
    first_commands(daemon, 1)
    # Even where the directory and the socket are open to all, the credentials of the peer are not.
    for path, mode in ((daemon.state, 0o755), (daemon.state / "run", 0o755), (daemon.socket, 0o666)):
        path.chmod(mode)
    stranger = base.person("user")
    result = harness.run_in(stranger, [daemon.program, "agent", "list"], **daemon.options({}))
    assert result.code == 125, str(result)
    assert "refused a connection of user" in daemon.log()


def test_a_hundred_sandboxes_and_their_end(daemon):
    """Descriptors and threads are back where they were."""
    agent = daemon.create()
    daemon.exec(agent, "true").ok()
    daemon("agent", "stop", agent).ok()
    pid = daemon.pid()
    before = daemons.descriptors(pid), daemons.threads(pid)
    count = 60 if os.environ.get("HUTCH_TEST_ALL") == "1" else 12
    names = [daemon.create() for _ in range(count)]
    starts = [daemon.popen("exec", name, "--", "true") for name in names]
    for one in starts:
        one.communicate(timeout=harness.PATIENCE)
        assert one.returncode == 0
    for name in names:
        daemon.detach(name, "sleep 1000")
    for name in names:
        daemon("agent", "remove", name).ok()
    harness.wait_until(
        lambda: (daemons.descriptors(pid), daemons.threads(pid)) <= before,
        f"{before} again, now {daemons.descriptors(pid), daemons.threads(pid)}",
    )
