# Timeouts, signals to hutch, limits: everything is gone afterwards, and partial output is kept.
import os
import signal
import subprocess

import pytest
from common import isolates, outcome
from harness import processes_with, shell_code, wait_until

STUBBORN = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT): signal.signal(number, signal.SIG_IGN)
print('partial', flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(600)
    os._exit(0)
time.sleep(600)
"""


def marker_of(hutch):
    return f"marker-{abs(hash((str(hutch.cwd), os.getpid())))}"


def stubborn(hutch):
    return ["/usr/bin/python3", "-c", STUBBORN, marker_of(hutch)]


def gone(hutch):
    wait_until(lambda: not processes_with(marker_of(hutch)), "all that the command started is gone")


def test_a_timeout_is_124_and_keeps_the_output(hutch, backend):
    result = hutch.run(*stubborn(hutch), options=["--timeout", "3s"])
    assert result.code == 124, str(result)
    assert result.out == b"partial\n" and b"timeout" in result.err
    gone(hutch)


def test_json_tells_a_timeout(hutch, backend):
    told, result = outcome(hutch, *stubborn(hutch), options=["--timeout", "3s"])
    assert result.code == 124 and told["timed_out"] is True and told["killed"] is True
    assert told["stdout"] == "partial\n" and told["exit_code"] == 124
    gone(hutch)


def test_a_command_that_obeys_ends_at_once(hutch, backend):
    result = hutch.sh(
        "trap 'echo told; exit 9' TERM; echo started; while :; do sleep 0.1; done", options=["--timeout", "3s"]
    )
    assert result.code == 124 and result.out == b"started\ntold\n"


def test_an_idle_timeout(hutch, backend):
    result = hutch.sh("for i in 1 2 3; do echo $i; sleep 0.5; done; sleep 600", options=["--idle-timeout", "4s"])
    assert result.code == 124 and result.out == b"1\n2\n3\n"
    assert b"idle" in result.err


def test_no_timeout_for_a_command_that_ends_in_time(hutch, backend):
    assert hutch.sh("exit 3", options=["--timeout", "60s", "--idle-timeout", "60s"]).code == 3


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
def test_a_signal_to_hutch_ends_everything(hutch, backend, name):
    with hutch.popen(*stubborn(hutch)) as process:
        assert process.stdout.readline() == b"partial\n"
        process.send_signal(getattr(signal, f"SIG{name}"))
        process.communicate(timeout=60)
    assert shell_code(process.returncode) in (128 + 9, 128 + getattr(signal, f"SIG{name}"))
    gone(hutch)


def test_a_signal_reaches_the_command(hutch, backend):
    with hutch.popen(
        "/bin/sh", "-c", "trap 'echo caught; exit 6' INT; echo ready; while :; do sleep 0.1; done"
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert out == b"caught\n" and process.returncode == 6


def test_kill_9_of_hutch_leaves_no_process(hutch, backend):
    with hutch.popen(*stubborn(hutch)) as process:
        assert process.stdout.readline() == b"partial\n"
        process.kill()
        gone(hutch)
        process.communicate(timeout=60)


def test_stopping_and_going_on(hutch, backend, project):
    with hutch.popen("/bin/sh", "-c", "echo ready; read word; echo got $word") as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTSTP)
        wait_until(lambda: state_of(process.pid) == "T", "hutch is stopped")
        process.send_signal(signal.SIGCONT)
        wait_until(lambda: state_of(process.pid) != "T", "hutch goes on")
        out, _ = process.communicate(b"word\n", timeout=60)
    assert out == b"got word\n" and process.returncode == 0


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def has_cgroup(hutch, backend):
    told, _ = outcome(hutch, "true", options=["--pids", "100"])
    return told["limits"] not in (None, "rlimits")


# It gives up at twice what there is by default.
BOMB = (
    "import os, time\nn = 0\ntry:\n  while n < 8200:\n    os.fork() or time.sleep(600)\n    n += 1\n"
    "except OSError: print('refused', n)\nelse: print('made', n)"
)


# Threads count as processes do, and thousands of them take seconds where as many processes take minutes.
THREADS = """
import _thread, os
_thread.stack_size(65536)
held = _thread.allocate_lock()
held.acquire()
count = 0
try:
    while count < 8200:
        _thread.start_new_thread(held.acquire, ())
        count += 1
except RuntimeError:
    print("refused", count, flush=True)
else:
    print("made", count, flush=True)
os._exit(0)
"""


def test_a_fork_bomb_stays_inside(hutch, backend):
    if not has_cgroup(hutch, backend) and not isolates(backend):
        pytest.skip("RLIMIT_NPROC counts all processes of the user, this test's own among them")
    result = hutch.run("/usr/bin/python3", "-c", BOMB, options=["--pids", "20", "--timeout", "120s"])
    refused, count = result.ok().out.split()
    assert refused == b"refused" and int(count) < 25


def test_processes_are_limited_by_default(hutch, backend, as_user):
    if as_user.uid == 0 or backend == "user" or not isolates(backend):
        pytest.skip("one command that root starts, or of none, has no limit of its own")
    result = hutch.run("/usr/bin/python3", "-c", THREADS, options=["--timeout", "240s"], timeout=300)
    refused, count = result.ok().out.split()
    assert refused == b"refused" and 4000 < int(count) <= 4096, str(result)


def test_a_memory_hog_is_killed(hutch, backend):
    hog = "x = bytearray(1 << 30); print(len(x))"
    result = hutch.run("/usr/bin/python3", "-c", hog, options=["--memory", "100M"])
    assert result.code != 0 and result.out == b"", str(result)
    if has_cgroup(hutch, backend):
        assert b"killed for the memory limit" in result.err, str(result)


def test_json_says_how_limits_are_held(hutch, backend):
    told, _ = outcome(hutch, "true", options=["--memory", "200M"])
    assert told["limits"] in ("cgroup v1", "cgroup v2", "systemd scope", "rlimits", "hutch-helper")
    told, _ = outcome(hutch, "true")
    assert told["limits"] is None


def test_cpus_are_held_or_refused(hutch, backend, project):
    result = hutch.run("touch", "ran", options=["--cpus", "0.5"])
    if result.code == 125:
        assert b"cpu" in result.err and not (project / "ran").exists()
    else:
        assert result.code == 0, str(result)


def test_a_full_tmp_stays_inside(hutch, backend):
    if not isolates(backend):
        pytest.skip("none has the host's /tmp")
    result = hutch.sh("head -c 100000000 /dev/zero > /tmp/big; wc -c < /tmp/big", options=["--tmp-size", "4M"])
    assert b"No space left" in result.err and int(result.out) <= 4 << 20


def test_no_cgroup_is_left(hutch, backend):
    if not has_cgroup(hutch, backend):
        pytest.skip("no cgroup here for this user")
    found = subprocess.run(["find", "/sys/fs/cgroup", "-name", "hutch-run-*"], stdout=subprocess.PIPE, check=False)
    for line in found.stdout.decode().split():
        pid = line.rsplit("-", 2)[1]
        assert os.path.exists(f"/proc/{pid}"), f"{line} is left"
