# A supervisor of an agent's sandbox between two changes: it waits, and hutch hears of the next change first.
import contextlib
import itertools
import os
import pathlib
import signal
import threading
import time

import daemons
import harness
import pytest

NUMBERS = itertools.count(1)
STEPS = ".git/rebase-merge/git-rebase-todo"
NEXT_NUMBER = pathlib.Path("/proc/sys/kernel/ns_last_pid")  # the one before it


@pytest.fixture(params=["bwrap", "namespace"])
def agent(daemon, request):
    """Its name, and a directory of the user's, with a repository, that it works in."""
    directory = daemon.person.mkdir(daemon.state / f"work-{next(NUMBERS)}")
    outside(daemon, directory, "git init -q")
    name = daemon.create(f"backend={request.param}", "autonomousExec.enabled=true", f"dir={directory}")
    yield name, directory
    daemon("agent", "remove", name).ok()


def outside(daemon, directory, script):
    return harness.run_in(daemon.person, ["/bin/sh", "-ec", script], cwd=directory).ok().text


def begin_rebase(daemon, directory):
    outside(daemon, directory, f"mkdir -p .git/rebase-merge; echo 'exec ./mine' > {STEPS}")


def supervisors(daemon):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"\nPPid:\t{daemon.pid()}\n" in (path / "status").read_text() \
                    and b"--access" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


def test_what_the_user_does_before_a_commands_first_change_stays(daemon, agent):
    name, directory = agent
    daemon.sh(name, "touch a").ok()
    for script in ("read go; cat a", "read go; touch b", "bash -c 'read go; echo x > /dev/null; echo x > /tmp/x'"):
        with daemon.popen("exec", name, "--", "/bin/sh", "-c", f"echo ready; {script}") as run:
            assert run.stdout.readline() == b"ready\n"
            begin_rebase(daemon, directory)
            _, err = run.communicate(b"go\n", timeout=harness.PATIENCE)
            assert run.returncode == 0, err
        assert (directory / STEPS).exists()
        outside(daemon, directory, "rm -r .git/rebase-merge")


def test_what_is_begun_outside_after_its_first_change_stays(daemon, agent):
    name, directory = agent
    daemon.sh(name, "touch a").ok()
    with daemon.popen("exec", name, "--", "/bin/sh", "-c", "touch b; echo ready; read go") as run:
        assert run.stdout.readline() == b"ready\n"
        begin_rebase(daemon, directory)
        run.communicate(b"go\n", timeout=harness.PATIENCE)
    assert (directory / STEPS).exists()


def test_a_command_beside_one_that_changes_something(daemon, agent):
    """The one that ends first has changed nothing; what the other one leaves is found."""
    name, directory = agent
    daemon.sh(name, "touch a").ok()
    with daemon.popen("exec", name, "--", "/bin/sh", "-c", "echo ready; read go; "
                      f"mkdir -p .git/rebase-merge; echo 'exec ./evil' > {STEPS}; echo done; read end") as one:
        assert one.stdout.readline() == b"ready\n"
        daemon.sh(name, "true").ok()
        one.stdin.write(b"go\n")
        one.stdin.flush()
        assert one.stdout.readline() == b"done\n"
        daemon.sh(name, "true").ok()
        assert not (directory / STEPS).exists()
        one.communicate(b"end\n", timeout=harness.PATIENCE)


def test_changes_go_on_while_commands_end(daemon, agent):
    """What a command left running changes files meanwhile, by name and by what it has open; so do the tools."""
    name, directory = agent
    daemon.sh(name, "(i=0; while [ ! -e stop ]; do i=$((i+1)); echo $i > n; mv n count; done) >/dev/null 2>&1 &").ok()
    errors = []

    def use_tools(number):
        for i in range(15):
            said = daemon.tool(name, "sandbox_write_file", path=f"t{number}/{i}", content=f"{i}")
            ran = daemon.sh(name, f"echo {i} > s{number}-{i}; cat s{number}-{i}")
            if not said.get("ok") or ran.text != f"{i}\n":
                errors.append((said, str(ran)))

    threads = [threading.Thread(target=use_tools, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []

    def counts_on():
        before = (directory / "count").read_text()
        harness.wait_until(lambda: (directory / "count").read_text() not in ("", before), "it goes on")

    counts_on()
    outside(daemon, directory, "touch stop")
    for number in range(3):
        assert [(directory / f"t{number}/{i}").read_text() for i in range(15)] == [str(i) for i in range(15)]


def test_what_a_command_left_changes_files_between_the_tools(daemon, agent):
    """For each change of theirs the supervisor goes on, and waits again: a call that comes in between is answered."""
    name, directory = agent
    for i in range(100):
        daemon.sh(name, f"(echo > a{i}; sleep 0.01; echo > b{i}) >/dev/null 2>&1 &").ok()
        if i % 3 == 0:
            assert daemon.tool(name, "sandbox_write_file", path="t", content=f"{i}").get("ok")
    harness.wait_until(lambda: len(list(directory.glob("[ab]*"))) == 200, "all go on")


def test_a_policy_that_changes_meanwhile_holds(daemon, agent):
    name, directory = agent
    daemon.sh(name, "touch a b").ok()
    secret = directory / "secret"
    outside(daemon, directory, "echo words > secret")
    key = ("--scope", "default")
    try:
        daemon("config", "add", "filesystem.denyWrite", str(directory / "b"), *key).ok()
        daemon("config", "add", "filesystem.denyRead", str(secret), *key).ok()
        assert daemon.sh(name, "cat secret").code != 0
        assert daemon.sh(name, "echo x > b").code != 0
        daemon.sh(name, "echo x > a").ok()
    finally:
        daemon("config", "remove", "filesystem.denyWrite", str(directory / "b"), *key).ok()
        daemon("config", "remove", "filesystem.denyRead", str(secret), *key).ok()
    assert (directory / "b").read_text() == "" and (directory / "a").read_text() == "x\n"


def test_one_that_is_killed_meanwhile(daemon, agent):
    """Nothing can be changed any more, and nothing waits for it."""
    name, directory = agent
    others = set(supervisors(daemon))
    daemon.sh(name, "touch a; cat a").ok()
    daemon.sh(name, "true").ok()
    killed = [pid for pid in supervisors(daemon) if pid not in others]
    assert len(killed) == 1
    os.kill(killed[0], signal.SIGKILL)
    for script in ("touch b", "touch c", "mkdir d"):
        assert daemon.sh(name, script, timeout=harness.PATIENCE).code != 0
    daemon.sh(name, "cat a").ok()
    assert sorted(os.listdir(directory)) == [".git", "a"]
    daemon("agent", "stop", name).ok()
    daemon.sh(name, "touch b").ok()


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    status = pathlib.Path(f"/proc/{pid}/status")
    harness.wait_until(lambda: "State:\tT" in status.read_text(), "it is stopped")
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_one_that_hears_of_several_turns_at_once(daemon, agent):
    """That it goes on, for a call that it holds, and that it waits again, since the caller was killed meanwhile."""
    name, directory = agent
    others = set(supervisors(daemon))
    daemon.sh(name, "touch a").ok()
    daemon.sh(name, "true").ok()
    (supervisor,) = set(supervisors(daemon)) - others
    pid = daemon.pid()
    with daemon.popen("exec", name, "--", "/bin/sh", "-c",
                      "echo ready; while [ ! -e go ]; do sleep 0.01; done; exec touch b") as run:
        assert run.stdout.readline() == b"ready\n"
        with stopped(pid):
            outside(daemon, directory, "touch go")
            harness.wait_until(lambda: held_touch(pid), "its call is held")
            time.sleep(0.2)  # until the supervisor has asked
            (touch,) = held_touch(pid)
            os.kill(supervisor, signal.SIGSTOP)
        try:
            time.sleep(0.2)  # until hutch has answered
            os.kill(touch, signal.SIGKILL)
            time.sleep(0.2)
        finally:
            os.kill(supervisor, signal.SIGCONT)
        run.communicate(timeout=harness.PATIENCE)
    daemon.sh(name, "touch c", timeout=harness.PATIENCE).ok()
    assert (directory / "c").exists()


def held_touch(keeper):
    """The processes `touch b` of agents that wait for an answer."""
    def waits(pid):
        with contextlib.suppress(OSError):
            called = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() == b"touch\0b\0"
            return called and "seccomp" in pathlib.Path(f"/proc/{pid}/wchan").read_text()
        return False
    return [pid for pid in daemons.descendants(keeper) if waits(pid)]


# Kills the file server, and has a process of its own begin anew, with another number, each time that it is told to.
TAKE_ITS_PLACE = f"""
import os, signal, time
os.makedirs('.git/rebase-merge')
steps = os.open('{STEPS}', os.O_WRONLY | os.O_CREAT)
said = os.open('said', os.O_WRONLY | os.O_CREAT)
others = {{int(name) for name in os.listdir('/proc') if name.isdigit()}} - {{1, os.getpid(), os.getppid()}}
for other in others: os.kill(other, signal.SIGKILL)
os.write(said, b'killed\\n')
if os.fork():
    while not os.path.exists('end'): time.sleep(0.01)
    os._exit(0)
os.setsid(); [os.close(fd) for fd in range(3)]
told = ''
while not os.path.exists('write'):
    now = open('turn').read() if os.path.exists('turn') else ''
    if now != told:
        told = now
        if os.fork(): os._exit(0)
        os.write(said, ('turn ' + told + '\\n').encode())
    time.sleep(0.002)
os.write(steps, b'exec ./evil\\n')
os.write(said, b'written\\n')
time.sleep(1000)
"""


@pytest.mark.skipif(os.geteuid() != 0 or not NEXT_NUMBER.exists(), reason="cannot choose the next number of a process")
def test_a_process_with_the_number_of_a_file_server_that_was_killed(daemon, agent):
    name, directory = agent
    said = directory / "said"

    def hears(text):
        harness.wait_until(lambda: said.exists() and text in said.read_text(), text)

    def write():
        daemon.tool(name, "sandbox_write_file", path="a", content="b")

    def programs():
        return {pid for pid in daemons.descendants(daemon.pid()) if not daemons.is_supervisor(pid)}

    daemon.sh(name, "true").ok()
    before = programs()
    write()
    (server,) = programs() - before
    # By then hutch knows the server, and that nothing else runs: it looks once a second.
    outside(daemon, directory, "sleep 1.5")
    daemon.sh(name, "touch b").ok()
    with daemon.popen("exec", name, "--", "python3", "-c", TAKE_ITS_PLACE) as run:
        hears("killed\n")
        harness.wait_until(lambda: not daemons.is_running(server), "it is gone")
        for turn in range(1, 1000):  # until no other process has taken the number
            NEXT_NUMBER.write_text(str(server - 1))
            (directory / "turn").write_text(str(turn))
            hears(f"turn {turn}\n")
            if server in daemons.descendants(daemon.pid()):
                break
        (directory / "end").touch()
        run.communicate(timeout=harness.PATIENCE)
    (directory / "write").touch()
    hears("written\n")
    daemon("agent", "stop", name).ok()
    assert not (directory / STEPS).exists()


def test_what_the_user_does_right_after_the_tools_and_a_command_stays(daemon, agent):
    """Whoever looks once a second for what runs on meanwhile finds nothing of the sandbox's."""
    name, directory = agent
    for _ in range(2):
        daemon.tool(name, "sandbox_write_file", path="a", content="b")
    daemon.sh(name, "touch b").ok()
    begin_rebase(daemon, directory)
    outside(daemon, directory, "sleep 1.5")
    daemon.sh(name, "touch c").ok()
    daemon("agent", "stop", name).ok()
    assert (directory / STEPS).exists()
