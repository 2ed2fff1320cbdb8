# Commands of people who are not root, as OS users that root has let them be.
import json
import os
import signal

import pytest

import harness


def entry(machine, name):
    lines = [line.split(":") for line in machine.file("/etc/passwd").read_text().splitlines()]
    return next((line for line in lines if line[0] == name), None)


def test_a_command_is_that_user_and_nobody_else(machine, carol):
    user = entry(machine, "hutch-carol")
    said = carol.sh("id -un; id -u; id -G; echo $HOME; umask; grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status").ok()
    lines = said.text.splitlines()
    assert lines[:5] == ["hutch-carol", user[2], user[3], "/var/lib/hutch-people/hutch-carol", "0002"]
    assert all(line.split()[1].strip("0") == "" for line in lines if line.startswith("Cap")), lines
    assert "NoNewPrivs:\t1" in lines and "Seccomp:\t2" in lines


def test_streams_exit_codes_and_time_limits(carol):
    assert carol.run("cat", stdin=b"through\0\xff").ok().out == b"through\0\xff"
    assert carol.sh("echo out; echo err >&2; exit 7").code == 7
    assert carol.run("no-such-program").code == 127
    assert carol.sh("kill -9 $$").code == 137
    late = carol.sh("echo before; sleep 60", options=["--timeout", "1s"])
    assert late.code == 124 and late.out == b"before\n"


def test_what_forked_twice_ends_with_the_command(carol):
    marker = f"left-{os.getpid()}"
    code = "import os, time\nfor _ in range(2):\n  if os.fork(): os._exit(0)\n  os.setsid()\ntime.sleep(600)  # "
    code += marker
    carol.run("/usr/bin/python3", "-c", code).ok()
    harness.wait_until(lambda: not harness.processes_with(marker), "nothing is left")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_who_asked(machine, carol, number):
    marker = f"owned-{os.getpid()}-{number}"
    with carol.popen("/usr/bin/python3", "-c", f"import time\ntime.sleep(600)  # {marker}") as run:
        inside = "import time\ntime.sleep(600)  # " + marker
        harness.wait_until(lambda: any(owner_of(pid) == int(entry(machine, "hutch-carol")[2])
                                       for pid in harness.processes_with(marker)), inside)
        os.kill(run.pid, number)
        run.wait(30)
    harness.wait_until(lambda: not harness.processes_with(marker), "nothing is left")
    harness.wait_until(lambda: not machine.helpers(), "no helper stays")


def owner_of(pid):
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


def test_it_ends_with_the_helper(machine, carol):
    marker = f"helped-{os.getpid()}"
    with carol.popen("/usr/bin/python3", "-c", f"import time\ntime.sleep(600)  # {marker}") as run:
        harness.wait_until(lambda: len(harness.processes_with(marker)) > 1 and machine.helpers(), "it runs")
        for helper in machine.helpers():
            helper.kill()
        assert run.wait(30) != 0
    harness.wait_until(lambda: not harness.processes_with(marker), "nothing is left")


def test_each_person_has_users_of_their_own(machine, carol):
    carol.sh("umask 077; echo private > ~/workspaces/note").ok()
    dave = machine.hutch("dave")
    assert dave.run("id", "-un").ok().text == "hutch-dave\n"
    assert b"denied" in dave.run("cat", "/var/lib/hutch-people/hutch-carol/workspaces/note").err
    assert b"denied" in dave.run("ls", "/var/lib/hutch-people").err


def test_limits_hold_and_what_hit_them_is_told(carol):
    code = "import os\nlast = 0\nfor _ in range(200):\n  try:\n    if not os.fork(): __import__('time').sleep(9)\n" \
           "  except BlockingIOError: print('full'); break"
    full = carol.run("/usr/bin/python3", "-c", code, options=["--pids", "20", "--json"])
    told = json.loads(full.text)
    assert told["stdout"] == "full\n" and told["pids_limit_hits"] >= 1 and told["limits"] == "hutch-helper", told
    eaten = carol.run("/usr/bin/python3", "-c", "x = bytearray(300 << 20)", options=["--memory", "64M", "--json"])
    assert "memory" in json.loads(eaten.text)["ended_by"], str(eaten)


def test_the_network_is_what_the_rules_allow(carol):
    code = "import socket; s = socket.create_connection(('192.0.2.1', 80), 5); print(s.recv(1))"
    refused = carol.run("/usr/bin/python3", "-c", code)
    assert refused.code != 0 and b"192.0.2.1:80 was refused" in refused.err, str(refused)
    inside = carol.run("readlink", "/proc/self/ns/net").ok().text.strip()
    assert inside != os.readlink("/proc/self/ns/net")


def test_a_person_whom_root_let_be_nobody_is_told_what_to_type(machine):
    person = harness.Person("erin", 61409, machine.directory)
    hutch = machine.hutch("carol")
    hutch.person = person
    result = hutch.run("true", cwd="/")
    assert result.code == 125 and "sudo hutch init --for 61409" in result.errors, str(result)


def test_dry_run_and_deinit_take_it_all_back(machine):
    before = machine.file("/etc/passwd").read_text(), machine.root("find", "/etc", "/var/lib", "-newer", "/mnt/lib")
    planned = machine.init("--for", "dave", "--agent", "later", "--dry-run")
    assert "useradd --system" in planned and machine.file("/etc/passwd").read_text() == before[0]
    machine.init("--for", "dave", "--agent", "later")
    made = [line.split(":")[0] for line in machine.file("/etc/passwd").read_text().splitlines()
            if line.startswith("hutch-dave-later-")]
    assert len(made) == 1 and len(made[0]) <= 32
    assert made[0] in machine.file("/etc/cron.deny").read_text()
    assert not machine.file("/etc/subuid").exists() or made[0] not in machine.file("/etc/subuid").read_text()
    machine.root(machine.base.bin / "hutch", "deinit", "--for", "dave", "--agent", "later", "--remove-homes")
    assert machine.file("/etc/passwd").read_text() == before[0]
    assert not machine.file(f"/var/lib/hutch-people/{made[0]}").exists()
    assert not machine.file(f"/etc/hutch-helper/people/61402/{made[0]}").exists()
    assert machine.file("/etc/hutch-helper/people/61402/hutch-dave").exists()


def test_agents_of_a_person_who_is_not_root(machine, carol):
    try:
        carol("agent", "create", "bob", "backend=user", "autonomousExec.enabled=true").ok()
        user = carol("exec", "bob", "--", "sh", "-c", "id -un; pwd; echo own > private").ok().text.splitlines()
        assert user[0].startswith("hutch-carol-bob-") and user[1] == f"/var/lib/hutch-people/{user[0]}"
        written = carol("tool", "call", "bob", "sandbox_write_file", '{"path": "by-tool", "content": "text"}').ok()
        assert "by-tool" in written.text
        home = machine.file(user[1])
        assert (home / "by-tool").read_text() == "text"
        assert (home / "by-tool").stat().st_uid == int(entry(machine, user[0])[2])
        other = carol.run("cat", f"{user[1]}/private")
        assert b"denied" in other.err, "carol's other user is another"
        carol("agent", "stop", "bob").ok()
        harness.wait_until(lambda: not machine.helpers(), "no helper stays")
        carol("agent", "remove", "bob").ok()
        assert (home / "private").exists(), "root alone removes it"
    finally:
        carol("daemon", "stop")
