# hutch exec and hutch shell: exit codes, streams, terminals, environment, timeouts, and what a command leaves behind.
import os
import pty
import signal

import pytest

import harness
from terminal import WATCHER, Terminal

MIB = 1 << 20


@pytest.mark.parametrize(
    "script, code",
    [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
        ("kill -SEGV $$", 139),
    ],
)
def test_exit_codes(daemon, any_agent, script, code):
    assert daemon.sh(any_agent, script).code == code


def test_what_cannot_be_executed(daemon, any_agent):
    absent = daemon.exec(any_agent, "no-such-command")
    assert absent.code == 127 and "no-such-command" in absent.errors, str(absent)
    assert daemon.exec(any_agent, "/no/such/file").code == 127
    refused = daemon.exec(any_agent, "/etc/passwd")
    assert refused.code == 126, str(refused)
    assert daemon.exec(any_agent, "/").code == 126


def test_hutch_own_failures(daemon, agent):
    nowhere = daemon.exec(agent, "true", options=["--cwd", "/no/such/place"])
    assert nowhere.code == 125 and "/no/such/place" in nowhere.errors, str(nowhere)
    for words in (
        ["exec"],
        ["exec", agent],
        ["exec", agent, "--"],
        ["exec", "--timeout", "soon", agent, "--", "true"],
        ["exec", "--env", "NOT_SET_HERE", agent, "--", "true"],
        ["exec", agent, "--", ""],
    ):
        assert daemon(*words).code == 125, words
    # None of that harmed the sandbox.
    assert daemon.status(agent) in ("running", "pending")
    daemon.exec(agent, "true").ok()


def test_more_arguments_than_a_message_may_have(daemon, agent):
    kept = daemon.detach(agent, "sleep 1000")
    result = daemon.exec(agent, "true", *["x"] * 120_000)
    assert result.code in (125, 126), str(result)[-500:]
    result = daemon.exec(agent, "true", *["y" * 100_000] * 15)
    assert result.code in (0, 125, 126), str(result)[-500:]
    assert daemon.processes(agent)[kept]["running"], "other commands go on"


def test_pipes(daemon, any_agent):
    data = bytes(range(256)) * 4096
    result = daemon.exec(any_agent, "cat", stdin=data).ok()
    assert result.out == data
    result = daemon.sh(any_agent, "echo out; echo err >&2").ok()
    assert (result.out, result.err) == (b"out\n", b"err\n")


def test_a_file_as_each_stream(daemon, agent):
    given = daemon.person.write(daemon.state / "given", "from a file\n" * 1000)
    taken = daemon.person.write(daemon.state / "taken", "old\n")
    with open(given, "rb") as stdin, open(taken, "ab") as stdout:
        process = daemon.popen("exec", agent, "--", "cat", stdin=stdin, stdout=stdout)
        process.communicate(timeout=harness.PATIENCE)
    assert process.returncode == 0
    assert taken.read_text() == "old\n" + "from a file\n" * 1000
    # A descriptor of the file is never the sandbox's own: it could be opened again for writing.
    with open(given, "rb") as stdin:
        result = daemon.sh(agent, "readlink /proc/self/fd/0; exec 3>>/proc/self/fd/0; echo bad >&3", stdin=stdin)
    assert str(given) not in result.text and "bad" not in given.read_text(), str(result)


def test_dev_null_and_closed_streams(daemon, agent):
    with open(os.devnull, "r+b") as null:
        process = daemon.popen("exec", agent, "--", "cat", stdin=null, stdout=null)
        assert process.wait(harness.PATIENCE) == 0
    closed = harness.run_in(
        daemon.person,
        ["/bin/sh", "-c", f'exec "{daemon.program}" exec {agent} -- echo x >&- <&-'],
        **daemon.options({}),
    )
    assert closed.code in (0, 1, 125), str(closed)


def test_a_large_output_is_whole(daemon, any_agent):
    result = daemon.sh(any_agent, f"head -c {64 * MIB} /dev/zero").ok()
    assert len(result.out) == 64 * MIB


def test_a_reader_that_goes(daemon, agent):
    """SIGPIPE as anywhere else."""
    script = f'"{daemon.program}" exec {agent} -- yes | head -1; echo ${{PIPESTATUS[0]}}'
    result = harness.run_in(daemon.person, ["/bin/bash", "-c", script], **daemon.options({}))
    assert result.text.splitlines() in (["y", "141"], ["y", "1"]), str(result)


def test_output_that_cannot_be_written(daemon, agent):
    """A full disk is told, and is no success; a reader that has gone is none of that."""
    line = f'"{daemon.program}" exec {agent} --'
    script = f"{line} echo data >/dev/full; echo $?; {line} sh -c 'echo data >&2; exit 7' 2>/dev/full; echo $?"
    result = harness.run_in(daemon.person, ["/bin/sh", "-c", script], **daemon.options({}))
    assert result.text.split() == ["125", "7"], str(result)
    assert "standard output: No space left on device" in result.errors, str(result)
    kept = daemon.detach(agent, "echo data; sleep 1000")
    script = f'"{daemon.program}" logs {agent} {kept} >/dev/full; echo $?; {line} kill -9 {kept}'
    harness.wait_until(lambda: daemon("logs", agent, kept).text == "data\n", "the output")
    result = harness.run_in(daemon.person, ["/bin/sh", "-c", script], **daemon.options({}))
    assert result.text.split() == ["125"] and "No space left on device" in result.errors, str(result)


def test_a_terminal(daemon, any_agent):
    argv = [
        daemon.program,
        "exec",
        any_agent,
        "--",
        "sh",
        "-c",
        "test -t 0 && test -t 1 && stty size; read line; echo got:$line; exit 5",
    ]
    with Terminal(daemon.person, argv, rows=31, columns=97, **daemon.options({})) as terminal:
        terminal.read_until(b"31 97")
        terminal.send("hello\n")
        terminal.read_until(b"got:hello")
        assert terminal.wait() == 5


def test_keys_and_sizes_reach_a_terminal(daemon, agent):
    argv = [daemon.program, "exec", agent, "--", *WATCHER]
    with Terminal(daemon.person, argv, cwd="/", env={"HUTCH_STATE": str(daemon.state)}) as terminal:
        terminal.read_until(b"size:")
        terminal.resize(40, 100)
        terminal.read_until(b"size:40 100")
        terminal.send("\x03")
        terminal.read_until(b"interrupted")
        assert terminal.wait() == 3


def test_the_callers_terminal_is_given_back(daemon, agent):
    master, slave = pty.openpty()
    os.close(slave)
    os.close(master)
    argv = [
        "/bin/sh",
        "-c",
        f'stty -a > before; "{daemon.program}" exec {agent} -- stty raw -echo; stty -a > after; '
        "cmp before after && echo same",
    ]
    where = daemon.person.mkdir(daemon.state / f"terminal-{agent}")
    with Terminal(daemon.person, argv, cwd=where, env={"HUTCH_STATE": str(daemon.state)}) as terminal:
        terminal.read_until(b"same")


def test_a_login_shell(daemon, any_agent):
    argv = [daemon.program, "shell", any_agent]
    with Terminal(daemon.person, argv, cwd="/", env={"HUTCH_STATE": str(daemon.state)}) as terminal:
        terminal.send("shopt login_shell; echo home:$HOME; exit 9\n")
        terminal.read_until(b"login_shell")
        terminal.read_until(f"{any_agent}\r\n".encode())
        assert terminal.wait() == 9


def test_the_shell_has_the_status_line_above_its_prompt(daemon, any_agent):
    line = "Sandbox: disabled" if daemon.json("agent", "show", any_agent)["backend"] == "none" else "Sandbox: 0 domains"
    argv = [daemon.program, "shell", any_agent]
    with Terminal(daemon.person, argv, cwd="/", env={"HUTCH_STATE": str(daemon.state)}) as terminal:
        terminal.read_until(line.encode())
        terminal.seen = b""
        terminal.send("true\n")
        terminal.read_until(line.encode())  # above each of them
        terminal.send("exit\n")
        assert terminal.wait() == 0


def test_environment_and_working_directory(daemon, any_agent):
    backend = daemon.json("agent", "show", any_agent)["backend"]
    places = daemon.sh(any_agent, 'echo "$HOME|$HUTCH_HOME|$HUTCH_SHARED|$HUTCH_OUTPUT|$HUTCH_AGENT|$USER|$PWD"').ok()
    home, own, shared, output, name, user, cwd = places.text.strip().split("|")
    assert (name, user) == (any_agent, f"agent-{any_agent}") and home == own == cwd
    if backend == "none":
        assert home == f"{daemon.data}/workspace/agents/{any_agent}"
    else:
        assert (home, shared, output) == (f"/workspace/agents/{any_agent}", "/workspace/shared", "/output")
        assert daemon.exec(any_agent, "whoami").ok().text == f"agent-{any_agent}\n"
    given = daemon.sh(
        any_agent,
        'echo "$ONE|$TWO|$HOME"; pwd',
        options=["--env", "ONE=1 = 1", "--env", "TWO", "--env", "HOME=/tmp", "--cwd", "/usr"],
        env={"TWO": "2"},
    )
    assert given.ok().text == "1 = 1|2|/tmp\n/usr\n"
    hidden = daemon.sh(any_agent, "env", env={"SECRET_WORD": "shh"}).ok()
    assert "SECRET_WORD" not in hidden.text and "HUTCH_STATE" not in hidden.text


def test_a_relative_working_directory_begins_where_commands_do(daemon, any_agent):
    base = daemon.sh(any_agent, "mkdir -p sub/deep; pwd").ok().text.strip()
    for options in (["--cwd", "sub/deep"], ["--cwd", "./sub/../sub/deep"]):
        assert daemon.exec(any_agent, "/bin/pwd", "-P", options=options).ok().text == f"{base}/sub/deep\n"
    kept = daemon.detach(any_agent, "pwd", "--cwd", "sub")
    daemon("wait", any_agent, kept).ok()
    assert daemon("logs", any_agent, kept).ok().text == f"{base}/sub\n"
    nowhere = daemon.exec(any_agent, "true", options=["--cwd", "nowhere"])
    assert nowhere.code == 125 and f"chdir({base}/nowhere)" in nowhere.errors, str(nowhere)


def test_own_programs_are_found(daemon, agent):
    """Where pip install --user puts them, whatever the system's profile says of PATH."""
    make = "mkdir -p ~/.local/bin && cd ~/.local/bin && printf '#!/bin/sh\\necho mine\\n' > mine && chmod +x mine"
    daemon.sh(agent, make).ok()
    assert daemon.exec(agent, "mine").ok().text == "mine\n"


def test_the_login_environment_is_found_once(daemon, agent):
    daemon.sh(agent, "echo 'echo x >> ~/logins; export FROM_PROFILE=yes' > ~/.profile; cp ~/.profile ~/.bash_profile")
    daemon("agent", "stop", agent).ok()
    for _ in range(3):
        assert daemon.sh(agent, "echo $FROM_PROFILE; wc -l < ~/logins").ok().text == "yes\n1\n"
    daemon("agent", "stop", agent).ok()
    assert daemon.sh(agent, "echo $FROM_PROFILE; wc -l < ~/logins").ok().text == "yes\n2\n"


@pytest.mark.parametrize(
    "profile",
    [
        "exit 3",
        "kill -9 $$",
        "echo noise; echo more noise >&2",
        "set -e; false",
        "head -c 5000000 /dev/zero | tr '\\0' 'A='",
    ],
)
def test_a_profile_that_misbehaves(daemon, agent, profile):
    daemon.sh(agent, f"echo {shell_word(profile)} > ~/.profile; cp ~/.profile ~/.bash_profile").ok()
    daemon("agent", "stop", agent).ok()
    assert daemon.sh(agent, "echo $HOME").ok().text == f"/workspace/agents/{agent}\n"


def shell_word(text):
    return "'" + text.replace("'", "'\\''") + "'"


STUBBORN = {
    "simple": "sleep 1000",
    "ignores TERM": "trap '' TERM; while :; do sleep 1; done",
    "setsid": "setsid sleep 1000 & wait",
    "double fork": "( setsid sh -c \"trap '' TERM INT HUP; sleep 1000\" & ) ; sleep 1000",
    "stopped": "kill -STOP $$",
    "many": "for i in $(seq 30); do sleep 1000 & done; wait",
}


@pytest.mark.parametrize("kind", STUBBORN)
def test_a_timeout_ends_the_whole_tree(daemon, any_agent, kind):
    result = daemon.sh(any_agent, f"echo partial; {STUBBORN[kind]}", options=["--timeout", "700ms"])
    assert result.code == 124 and result.text == "partial\n" and "timeout" in result.errors, str(result)
    left = daemon.sh(any_agent, "ps ax -o pid,args | grep '[s]leep 1000'")
    if daemon.json("agent", "show", any_agent)["backend"] != "none":
        assert left.text == "", str(left)
    assert not any(b"sleep\0" + b"1000" in command for command in daemon.own_processes().values())


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_client_that_ends_takes_its_command_along(daemon, any_agent, end):
    process = daemon.popen("exec", any_agent, "--", "sh", "-c", "setsid sleep 2000 & echo begun; sleep 2000")
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(end)
    process.communicate(timeout=harness.PATIENCE)
    harness.wait_until(
        lambda: not any(b"sleep\0" + b"2000" in command for command in daemon.own_processes().values()),
        "the tree of the command has ended",
    )
    if end != signal.SIGKILL:
        assert process.returncode in (128 + end, -end), process.returncode


def test_a_signal_is_the_commands_to_handle(daemon, agent):
    # By dash: bash 5.2 sends itself SIGINT for ever when one arrives just as it begins to wait for a child.
    process = daemon.popen(
        "exec", agent, "--", "sh", "-c", "trap 'echo caught; exit 4' INT; echo begun; while :; do sleep 0.1; done"
    )
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=harness.PATIENCE)
    assert (process.returncode, out) == (4, b"caught\n"), err


def test_what_a_command_leaves_running_goes_on(daemon, any_agent):
    daemon.sh(any_agent, "setsid sleep 3000 > /dev/null 2>&1 < /dev/null & sleep 3001 > /dev/null 2>&1 &").ok()
    seen = daemon.exec(any_agent, "ps", "ax", "-o", "args").ok().text
    assert "sleep 3000" in seen and "sleep 3001" in seen
    daemon("agent", "stop", any_agent).ok()
    harness.wait_until(
        lambda: not any(b"sleep\0" + b"300" in command for command in daemon.own_processes().values()),
        "stop ends everything",
    )


def test_commands_see_each_other(daemon, agent):
    daemon.detach(agent, "sleep 4000")
    assert "sleep 4000" in daemon.exec(agent, "ps", "aux").ok().text
    assert daemon.sh(agent, "kill $(pidof sleep)").ok()


def test_shared_and_output(daemon):
    one, two = daemon.create(), daemon.create()
    daemon.sh(one, "echo of-one > /workspace/shared/word; echo mine > /output/result").ok()
    script = "cat /workspace/shared/word; ls -A /output; echo more >> /workspace/shared/word"
    assert daemon.sh(two, script).ok().text == "of-one\n"
    assert daemon.sh(one, "cat /workspace/shared/word").ok().text == "of-one\nmore\n"
    assert (daemon.data / "output" / one / "result").read_text() == "mine\n"
    for name in (one, two):
        daemon("agent", "remove", name).ok()


def test_many_at_once(daemon, agent):
    running = [daemon.popen("exec", agent, "--", "sh", "-c", f"cat; exit {number}") for number in range(40)]
    for number, process in enumerate(running):
        out, err = process.communicate(str(number).encode(), timeout=harness.PATIENCE)
        assert (process.returncode, out) == (number, str(number).encode()), err
