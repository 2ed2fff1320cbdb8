# Commands in the background: hutch exec -d, ps, logs, attach, wait, kill.
import os
import time

import pytest

import harness

MIB = 1 << 20


def test_a_process_in_the_background(daemon, any_agent):
    process = daemon.detach(any_agent, "echo one; echo two >&2; exit 6")
    assert daemon("wait", any_agent, process).code == 6
    logs = daemon("logs", any_agent, process).ok()
    assert (logs.out, logs.err) == (b"one\n", b"two\n")
    shown = daemon.processes(any_agent)[process]
    assert shown["running"] is False and shown["end"]["exit_code"] == 6 and shown["end"]["ended_by"]
    assert "exit 6" in daemon("ps", any_agent).ok().text


def test_a_line_of_the_list_has_an_end(daemon, agent):
    process = daemon("exec", "-d", agent, "--", "sleep", "1000", *["0"] * 5000).ok().text.strip()
    listed = daemon("ps", agent).ok().text
    assert "sleep 1000 0 0" in listed and max(map(len, listed.splitlines())) <= 200
    assert listed.splitlines()[1].endswith("…")
    assert len(daemon.processes(agent)[process]["arguments"]) == 5002
    daemon("kill", agent, process).ok()


def test_it_outlives_its_client_and_is_killed(daemon, any_agent):
    process = daemon.detach(any_agent, "setsid sleep 5000 & sleep 5000")
    assert daemon.processes(any_agent)[process]["running"] is True
    daemon("kill", any_agent, process).ok()
    assert daemon("wait", any_agent, process).code == 143
    assert not any(b"sleep\0" + b"5000" in command for command in daemon.own_processes().values())
    daemon("kill", any_agent, process).ok()
    assert daemon.processes(any_agent)[process]["end"]["killed"] is True


@pytest.mark.parametrize("name, code", [("KILL", 137), ("SIGTERM", 143), ("10", 138)])
def test_kill_with_a_signal(daemon, agent, name, code):
    process = daemon.detach(agent, "exec sleep 5000")
    daemon("kill", "-s", name, agent, process).ok()
    assert daemon("wait", agent, process).code == code


def test_kill_of_one_that_ignores_term(daemon, agent):
    process = daemon.detach(agent, "trap '' TERM; echo ready; while :; do sleep 1; done")
    harness.wait_until(lambda: daemon("logs", agent, process).out == b"ready\n", "its trap is set")
    daemon("kill", agent, process).ok()
    assert daemon("wait", agent, process).code == 137
    for signal in ("nonsense", "0"):
        assert daemon("kill", "-s", signal, agent, process).code == 125


def test_a_timeout_in_the_background(daemon, agent):
    process = daemon.detach(agent, "echo before; sleep 1000", "--timeout", "500ms")
    assert daemon("wait", agent, process).code == 124
    shown = daemon.processes(agent)[process]
    assert shown["end"]["timed_out"] is True
    assert daemon("logs", agent, process).ok().text == "before\n"


def test_logs_follow_until_the_end(daemon, agent):
    go = daemon.data / "workspace/agents" / agent / "go"
    process = daemon.detach(agent, "echo first; while ! test -e ~/go; do sleep 0.05; done; echo last")
    following = daemon.popen("logs", "-f", agent, process)
    assert following.stdout.readline() == b"first\n"
    daemon.person.write(go)
    assert following.stdout.read() == b"last\n"
    assert following.wait(harness.PATIENCE) == 0


def test_the_exit_code_of_logs_is_not_the_processs(daemon, agent):
    process = daemon.detach(agent, "echo out; exit 7")
    daemon("logs", "-f", agent, process).ok()
    assert daemon("wait", agent, process).code == 7 and daemon("attach", agent, process).code == 7


def test_logs_do_not_wait_without_follow(daemon, agent):
    process = daemon.detach(agent, "echo first; exec sleep 1000")
    harness.wait_until(lambda: daemon("logs", agent, process).ok().out == b"first\n", "its output")
    daemon("kill", agent, process).ok()


def test_the_first_and_the_last_mib_are_kept(daemon, any_agent):
    process = daemon.detach(any_agent, f"yes 123456789 | head -c {5 * MIB}; printf END")
    daemon("wait", any_agent, process).ok()
    logs = daemon("logs", any_agent, process).ok()
    assert logs.out.startswith(b"123456789\n" * 100_000) and logs.out.endswith(b"END")
    assert 2 * MIB - 8 <= len(logs.out) <= 2 * MIB, len(logs.out)
    assert f"{5 * MIB + 3 - len(logs.out)} bytes" in logs.errors, logs.errors


def test_logs_of_one_that_never_stops_writing_end(daemon, agent):
    process = daemon.detach(agent, "exec cat /dev/zero")
    for options in ([], ["--json"]):
        daemon("logs", *options, agent, process, timeout=harness.PATIENCE).ok()
    daemon("kill", agent, process).ok()


def test_logs_as_json(daemon, any_agent):
    process = daemon.detach(any_agent, "printf 'one\\n'; printf 'tw\\377o' >&2; exit 3")
    shown = daemon.json("logs", "-f", "--json", any_agent, process)
    assert (shown["stdout"], shown["stderr"]) == ("one\n", "tw\ufffdo")
    assert (shown["stdout_bytes"], shown["stderr_bytes"]) == (4, 4)
    assert shown["stdout_omitted_bytes"] == shown["stderr_omitted_bytes"] == 0
    assert shown["pid"] == process and shown["running"] is False and shown["end"]["exit_code"] == 3


def test_logs_as_json_of_one_that_runs(daemon, agent):
    process = daemon.detach(agent, "echo first; exec sleep 1000")
    logs = lambda: daemon.json("logs", "--json", agent, process)
    harness.wait_until(lambda: logs()["stdout"] == "first\n", "its output")
    assert logs()["running"] is True and "end" not in logs()
    daemon("kill", agent, process).ok()


# Whichever of its three bytes the limits fall on.
@pytest.mark.parametrize("before", ["", "x", "xx"])
def test_no_character_is_cut_where_output_is_left_out(daemon, agent, before):
    write = f"import sys; sys.stdout.write('{before}' + '\u20ac' * 1_500_000 + '|'); sys.stderr.write('\u00e9')"
    process = daemon("exec", "-d", agent, "--", "python3", "-X", "utf8", "-c", write).ok().text.strip()
    shown = daemon.json("logs", "-f", "--json", agent, process)
    head, gap, tail = shown["stdout"].partition(f"\n[... {shown['stdout_omitted_bytes']} bytes left out ...]\n")
    assert gap and "\ufffd" not in head + tail and tail.endswith("\u20ac|")
    assert head == before + "\u20ac" * (len(head) - len(before)) and tail == "\u20ac" * (len(tail) - 1) + "|"
    assert shown["stdout_bytes"] == 4_500_001 + len(before)
    assert shown["stdout_bytes"] - shown["stdout_omitted_bytes"] == len((head + tail).encode())
    assert 2 * MIB - 6 <= len((head + tail).encode()) <= 2 * MIB
    assert shown["stderr"] == "\u00e9" and shown["stderr_omitted_bytes"] == 0
    daemon("logs", agent, process).ok().out.decode()


def test_binary_output(daemon, any_agent):
    every = "import os; os.write(1, bytes(range(256)) * 100); os.write(2, bytes([255, 254, 0, 128]) * 100)"
    process = daemon("exec", "-d", any_agent, "--", "python3", "-c", every).ok().text.strip()
    daemon("wait", any_agent, process).ok()
    logs = daemon("logs", any_agent, process).ok()
    assert logs.out == bytes(range(256)) * 100 and logs.err == bytes([255, 254, 0, 128]) * 100


def test_attach_writes_and_reads(daemon, any_agent):
    process = daemon.detach(any_agent, "while read line; do echo got:$line; done; exit 8")
    result = daemon("attach", any_agent, process, stdin=b"one\ntwo\n")
    assert result.code == 8 and result.out == b"got:one\ngot:two\n", str(result)


def test_attach_twice(daemon, agent):
    process = daemon.detach(agent, "read a; echo $a; read b; echo $b")
    first = daemon.popen("attach", agent, process)
    second = daemon.popen("attach", agent, process)
    first.stdin.write(b"from one\n")
    first.stdin.flush()
    assert second.stdout.readline() == b"from one\n"
    second.stdin.write(b"from two\n")
    second.stdin.flush()
    assert first.stdout.readline() == b"from one\n" and first.stdout.readline() == b"from two\n"
    for one in (first, second):
        one.communicate(timeout=harness.PATIENCE)
        assert one.returncode == 0


def test_a_client_of_logs_that_goes_ends_nothing(daemon, agent):
    process = daemon.detach(agent, "while :; do echo x; sleep 0.05; done")
    for action in (["logs", "-f"], ["attach"], ["wait"]):
        client = daemon.popen(*action, agent, process)
        if action[0] != "wait":
            client.stdout.readline()
        client.kill()
        client.communicate()
        assert daemon.processes(agent)[process]["running"] is True
    daemon("kill", agent, process).ok()


def test_an_id_means_nothing_to_another_agent(daemon, agent):
    other = daemon.create()
    mine = daemon.detach(agent, "exec sleep 1000")
    for _ in range(5):
        theirs = daemon.detach(other, "exec sleep 1000")
        assert theirs not in daemon.processes(agent)
    for words in (["logs"], ["wait"], ["kill"], ["attach"]):
        result = daemon(*words, other, mine)
        assert result.code == 125 and "no process" in result.errors, str(result)
        assert "sleep" not in result.text + result.errors
    assert daemon.processes(agent)[mine]["running"] is True
    daemon("agent", "remove", other).ok()


def test_an_id_of_an_earlier_start_means_nothing(daemon, agent):
    before = daemon.detach(agent, "exec sleep 1000")
    daemon("agent", "stop", agent).ok()
    assert daemon("logs", agent, before).code == 125
    assert daemon.status(agent) == "stopped", "asking for a process starts nothing"
    for _ in range(4):
        daemon.detach(agent, "exec sleep 1000")
    assert before not in daemon.processes(agent)
    assert daemon("kill", agent, before).code == 125


@pytest.mark.parametrize("wrong", ["0", "-1", "999999999999999999999", "x", "1 ", "../1", "", "\n"])
def test_ids_that_are_none(daemon, agent, wrong):
    daemon.exec(agent, "true").ok()
    for verb in ("logs", "wait", "kill"):
        result = daemon(verb, agent, wrong)
        assert result.code == 125, str(result)


def test_a_process_is_remembered_however_many_commands_follow(daemon, agent):
    """It ends after all of them, and it is the first that was started."""
    process = daemon.detach(agent, "while ! test -e ~/go; do sleep 0.05; done; echo done; exit 3")
    for _ in range(80):
        daemon.exec(agent, "true").ok()
    daemon.sh(agent, "touch ~/go").ok()
    assert daemon("wait", agent, process).code == 3
    for _ in range(70):
        daemon.exec(agent, "true").ok()
    assert daemon("wait", agent, process).code == 3
    assert daemon("logs", agent, process).ok().text == "done\n"
    assert len(daemon.processes(agent)) < 200


def test_memory_of_what_is_kept_is_bounded(own_daemon):
    agent = own_daemon.create()
    for _ in range(100):
        process = own_daemon.detach(agent, f"head -c {3 * MIB} /dev/zero; head -c {3 * MIB} /dev/zero >&2")
        own_daemon("wait", agent, process).ok()
    import daemons

    assert daemons.memory(own_daemon.pid()) < 320 * MIB


def test_stdin_of_a_process_in_the_background_stays_open(daemon, agent):
    process = daemon.detach(agent, "cat; echo over")
    time.sleep(0.2)
    assert daemon.processes(agent)[process]["running"] is True
    result = daemon("attach", agent, process, stdin=os.urandom(300_000).hex().encode())
    assert result.code == 0 and result.out.endswith(b"over\n")
    assert len(result.out) == 600_000 + 5


def test_it_gets_the_callers_input_where_that_is_asked_for(daemon, agent):
    given = os.urandom(200_000).hex().encode() + b"\nlast"
    process = daemon("exec", "-d", "-i", agent, "--", "/bin/cat", stdin=given).ok().text.strip()
    assert daemon("wait", agent, process).code == 0
    assert daemon("logs", agent, process).ok().out == given


def test_the_end_of_an_input_is_typed_on_a_terminal(daemon, agent):
    process = daemon("exec", "-dit", agent, "--", "/bin/cat", stdin=b"one\ntwo").ok().text.strip()
    assert daemon("wait", agent, process).code == 0
    assert daemon("logs", agent, process).ok().out.replace(b"\r\n", b"\n") == b"one\ntwoone\ntwo"


@pytest.mark.parametrize("command", [["/bin/true"], ["/usr/bin/head", "-c", "1"]])
def test_one_that_does_not_read_it_all_is_no_failure(daemon, agent, command):
    process = daemon("exec", "-d", "-i", agent, "--", *command, stdin=b"x" * 3_000_000).ok().text.strip()
    assert daemon("wait", agent, process).code == 0
