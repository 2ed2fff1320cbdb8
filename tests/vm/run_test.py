# One command in a virtual machine: what it is, sees, and leaves behind.
"""A machine takes some seconds to start without an accelerator, so each test looks at much."""

import json
import os
import platform
import signal
import time

import daemons
import harness
import pytest

from terminal import Terminal


def descendants(pid):
    found = daemons.children(pid)
    return found + [below for child in found for below in descendants(child)]


def command_line(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as words:
        return words.read().decode().split("\0")


LOOK = """
id; uname -r; pwd; echo "$HOME $USER $GREETING $PATH"; ls /sys/class/net | tr '\\n' ' '; echo; ls / | tr '\\n' ' '; echo
for device in /dev/vda /dev/vdb /dev/vport0p1 /dev/ttyS0 /dev/mem; do
  head -c 1 $device >/dev/null && echo "read $device"
done
su root -c id; mkdir /bin/new
mount -t tmpfs none /tmp; echo x > /proc/sys/kernel/hostname; ps | wc -l; cat /proc/1/comm
touch kept && echo wrote; exit 7
"""


def test_a_command_is_a_user_of_another_kernel(machines, as_user, project):
    as_user.write(project / "mine", "of this machine")
    result = machines.run("sh", "-c", LOOK, options=["--env", "GREETING=hello", "--network", "none"],
                          env={"PATH": f"{os.environ['PATH']}:/mine"}, timeout=120)
    lines = result.text.splitlines()
    assert result.code == 7, result
    assert lines[0] == "uid=1000(agent) gid=1000(agent)"
    assert lines[1] != platform.release()
    assert lines[2:4] == ["/workspace", "/workspace agent hello /usr/local/bin:/usr/bin:/bin"]
    assert lines[4].split() == ["lo"], "a card that nobody asked for"
    assert lines[5].split() == ["bin", "dev", "etc", "proc", "root", "run", "sys", "tmp", "usr", "workspace"]
    assert "read /dev" not in result.text, "the machine's own devices are root's"
    assert "uid=0" not in result.text
    errors = result.err.decode()
    for what in ("/dev/vport0p1", "/bin/new", "mount", "hostname"):
        assert what in errors, f"{what}: {errors}"
    assert lines[-1] == "wrote"
    assert machines.runs() == []


def test_streams_cross_whole(machines):
    sent = os.urandom(5 << 20)
    assert machines.run("cat", stdin=sent, timeout=120).ok().out == sent
    said = machines("run", "--backend", "vm", "--json", "--", "sh", "-c", "echo out; echo err >&2; exit 3", timeout=120)
    outcome = json.loads(said.out)
    assert (outcome["exit_code"], outcome["stdout"], outcome["stderr"]) == (3, "out\n", "err\n"), said


def test_limits_are_the_machines(machines):
    look = "grep MemTotal /proc/meminfo; grep -c ^processor /proc/cpuinfo; i=0; " \
           "while [ $i -lt 40 ]; do sleep 60 & i=$((i + 1)); done; echo forked"
    result = machines.run("sh", "-c", look, options=["--memory", "384M", "--pids", "20"], timeout=120)
    memory, processors = result.text.splitlines()[:2]
    assert 250_000 < int(memory.split()[1]) < 384 * 1024 and processors == "2", result
    assert "forked" not in result.text and "fork" in result.errors, result
    small = machines.run("true", options=["--memory", "100M"], timeout=120)
    assert small.code == 125 and "from 256M" in small.errors, small
    assert machines.runs() == []


def test_a_time_limit_ends_all_that_was_started(machines):
    script = "trap '' TERM; (sleep 1000 &); echo up; sleep 1000"
    result = machines.run("sh", "-c", script, options=["--timeout", "3s"], timeout=120)
    assert result.code == 124 and result.text == "up\n", result
    assert machines.run("nosuch", timeout=120).code == 127
    assert machines.run("sh", "-c", "kill -9 $$", timeout=120).code == 137


def test_a_terminal_has_its_size_and_its_keys(machines, as_user, project):
    script = "echo ready; read line; stty size; echo got $line; test -t 0 && echo tty"
    argv = [machines.program, "run", "--backend", "vm", "--", "sh", "-c", script]
    env = {"HUTCH_STATE": str(machines.state)}
    with Terminal(as_user, argv, cwd=project, env=env, rows=33, columns=99) as terminal:
        terminal.read_until(b"ready", seconds=120)
        terminal.send(b"word\n")
        shown = terminal.read_until(b"tty", seconds=120)
        assert terminal.wait() == 0
    assert b"33 99" in shown and b"got word" in shown, shown


def test_whoever_does_not_read_can_leave(machines):
    process = machines.popen("sh", "-c", "yes; echo never")
    with process:
        said = process.stdout.read(1 << 20)
        assert said[:2] == b"y\n", process.stderr.read()
        process.stdout.close()
        assert process.wait(timeout=120) != 0


@pytest.mark.parametrize("whom", ["hutch", "qemu", "relay"])
def test_what_is_killed_leaves_nothing(machines, whom):
    marker = f"{time.monotonic_ns()}"
    process = machines.popen("sh", "-c", f"echo up; sleep 1000 # {marker}")
    with process:
        assert process.stdout.readline() == b"up\n"
        (name,) = machines.runs()
        below = descendants(process.pid)
        found = {"hutch": process.pid}
        for pid in below:
            words = command_line(pid)
            if words and words[0].endswith("qemu-system-x86_64"):
                found["qemu"] = pid
            if words[1:2] == ["--relay"]:
                found["relay"] = pid
        os.kill(found[whom], signal.SIGKILL)
        code = process.wait(timeout=60)
        error = process.stderr.read().decode()
    if whom != "hutch":
        assert code == 125 and "hutch:" in error, (code, error)
        assert machines.runs() == []
    harness.wait_until(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in below), "nothing of it runs")
    assert machines.run("true", timeout=120).code == 0
    assert name not in machines.runs(), "the next one removes what was left"


def limits(pid):
    """By their names, the hard ones."""
    with open(f"/proc/{pid}/limits", encoding="ascii") as lines:
        return {line[:26].strip(): line[47:68].strip() for line in lines}


def test_whoever_takes_qemu_over_exhausts_nothing_of_the_user(machines):
    process = machines.popen("sh", "-c", "echo up; sleep 1000")
    with process:
        assert process.stdout.readline() == b"up\n"
        qemu = limits(next(pid for pid in descendants(process.pid) if "qemu-system-x86_64" in command_line(pid)[0]))
        mine = limits(process.pid)
        process.terminate()
        process.wait(timeout=60)
    for name, share in {"Max pending signals": 4, "Max msgqueue size": 2, "Max open files": 2}.items():
        assert int(qemu[name]) <= int(mine[name]) // share, (name, qemu, mine)


WEAKER = {
    "a socket": (["--allow-socket", "/run/x.sock"], "reaches none of this one's Unix sockets"),
    "a path to read": (["--allow-read", "/etc"], "nothing of this machine's files"),
    "a path to write": (["--allow-write", "."], "nothing of this machine's files"),
    "an image": (["--image", "x"], "nothing of this machine's files"),
}


@pytest.mark.parametrize("what", WEAKER)
def test_what_it_cannot_give_is_refused(machines, what):
    options, why = WEAKER[what]
    result = machines.run("true", options=options)
    assert result.code == 125 and why in result.err.decode(), result


def test_explain_says_what_it_is(machines):
    said = machines("explain", "--backend", "vm").ok().text
    assert "nothing of this machine's is there" in said and "1000" in said
    assert machines("explain", "--backend", "vm", "/etc/passwd").code == 125


def test_only_what_was_provisioned_is_started(machines):
    files = machines.state / "data" / "vm" / "files"
    for name in ("kernel", "system"):
        path = files / name
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        result = machines.run("true")
        assert result.code == 125 and f"{name}: is not what was provisioned" in result.err.decode(), result
        path.write_bytes(whole)
    assert machines.run("true", timeout=120).code == 0


def test_without_files_it_says_how_to_make_them(hutch, base, as_user):
    env = {"HUTCH_STATE": str(as_user.mkdir(base.path / f"no-vm-{as_user.name}", 0o700))}
    result = hutch("run", "--backend", "vm", "--", "true", env=env)
    assert result.code == 125 and "hutch vm provision" in result.err.decode(), result
    assert "nothing is provisioned" in hutch("vm", "status", env=env).ok().text
    assert json.loads(hutch("vm", "status", "--json", env=env).ok().out)["provisioned"] is False
    assert hutch("vm", "remove", env=env).code == 0
