# Terminals: a command in the background that has one, attaching to it and leaving it, --tty where there is none.
import os
import pathlib
import signal

import pytest

import daemons
import frames
import harness
from terminal import WATCHER, Terminal


def detach(daemon, agent, script, *options, **kw):
    return daemon("exec", "-d", "-t", *options, agent, "--", "/bin/sh", "-c", script, **kw).ok().text.strip()


def attached(daemon, agent, process, **kw):
    argv = [daemon.program, "attach", agent, process]
    return Terminal(daemon.person, argv, **daemon.options({}), **kw)


def at_a_shell(daemon, agent, script):
    """A script of the caller's own shell on a terminal, in a directory of its own."""
    where = daemon.person.mkdir(daemon.state / f"shell-{agent}")
    return Terminal(daemon.person, ["/bin/sh", "-c", script], cwd=where, env={"HUTCH_STATE": str(daemon.state)})


def logged(daemon, agent, process, wanted):
    return harness.wait_until(lambda: wanted in daemon("logs", agent, process).ok().out, f"{wanted!r} in its output")


READER = "test -t 0 && test -t 1 && test -t 2 && stty size; while read line; do echo got:$line; done"


def test_a_command_in_the_background_has_a_terminal(daemon, any_agent):
    process = detach(daemon, any_agent, "test -t 0 && test -t 1 && test -t 2 && tty && stty size; exit 4")
    assert daemon("wait", any_agent, process).code == 4
    out = daemon("logs", any_agent, process).ok().out
    assert out.startswith(b"/dev/") and out.endswith(b"24 80\r\n"), out
    assert daemon.processes(any_agent)[process]["terminal"] is True
    other = daemon.detach(any_agent, "true")
    assert daemon.processes(any_agent)[other]["terminal"] is False


def test_its_terminal_is_as_large_as_the_callers(daemon, agent):
    argv = [daemon.program, "exec", "-d", "-t", agent, "--", "stty", "size"]
    with Terminal(daemon.person, argv, rows=33, columns=111, **daemon.options({})) as terminal:
        assert terminal.wait() == 0
        process = terminal.seen.decode().strip()
    daemon("wait", agent, process).ok()
    assert daemon("logs", agent, process).ok().out == b"33 111\r\n"


def test_all_output_is_kept_though_it_ends_at_once(daemon, agent):
    for _ in range(20):
        process = detach(daemon, agent, "seq 1 2000; printf END")
        following = daemon("logs", "-f", agent, process).ok()
        assert following.out.endswith(b"\r\n2000\r\nEND") and following.out.count(b"\r\n") == 2000


def test_attach_gives_the_terminal(daemon, any_agent):
    process = detach(daemon, any_agent, READER)
    logged(daemon, any_agent, process, b"24 80")
    with attached(daemon, any_agent, process, rows=30, columns=90) as terminal:
        terminal.read_until(b"ctrl-p ctrl-q")
        terminal.send("hello\r")
        terminal.read_until(b"got:hello")
        assert terminal.seen.count(b"hello") == 2, "one echo, by its own terminal"
        terminal.send("\x04")
        assert terminal.wait() == 0
    assert daemon("wait", any_agent, process).code == 0


def test_keys_and_sizes_reach_it(daemon, agent):
    process = daemon("exec", "-d", "-t", agent, "--", *WATCHER).ok().text.strip()
    with attached(daemon, agent, process, rows=30, columns=90) as terminal:
        terminal.read_until(b"size:30 90")
        terminal.resize(40, 100)
        terminal.read_until(b"size:40 100")
        terminal.send("\x03")
        terminal.read_until(b"interrupted")
        assert terminal.wait() == 3


def test_leaving_it_and_coming_back(daemon, agent):
    process = detach(daemon, agent, "printf 'name? '; read a; echo hello $a; printf 'more? '; read b; exit 7")
    with attached(daemon, agent, process) as terminal:
        terminal.read_until(b"name? ")
        terminal.send("ann\r")
        terminal.read_until(b"more? ")
        before = terminal.attributes()
        terminal.send("\x10")
        terminal.send("\x11")
        terminal.read_until(b"left it")
        assert terminal.wait() == 0
        assert terminal.attributes() != before, "no longer raw"
    assert daemon.processes(agent)[process]["running"] is True
    with attached(daemon, agent, process) as terminal:
        terminal.read_until(b"more? ")
        assert b"hello" not in terminal.seen, "only the line that the cursor is in"
        terminal.send("bob\r")
        assert terminal.wait() == 7


def test_a_ctrl_p_that_means_something_else(daemon, agent):
    script = "stty raw -echo; printf ready; head -c 3 | od -An -tx1"
    process = detach(daemon, agent, script)
    logged(daemon, agent, process, b"ready")
    with attached(daemon, agent, process) as terminal:
        terminal.read_until(b"ctrl-p ctrl-q")
        terminal.send("\x10a\x11")
        terminal.read_until(b"10 61 11")
        assert terminal.wait() == 0


def typed_until(sender, reader, word):
    def is_seen():
        sender.send(f"{word}\r")
        reader.read_some(1.0)
        return f"got:{word}".encode() in reader.seen
    harness.wait_until(is_seen, f"{word} is seen")


def test_two_at_one_terminal(daemon, agent):
    process = detach(daemon, agent, READER)
    with attached(daemon, agent, process) as one, attached(daemon, agent, process) as two:
        for terminal in (one, two):
            terminal.read_until(b"ctrl-p ctrl-q")
        # What is printed before the daemon has heard of a client is not shown to it.
        for sender, reader, word in ((one, two, "from-one"), (two, one, "from-two")):
            typed_until(sender, reader, word)
    assert daemon.processes(agent)[process]["running"] is True, "whoever hangs up ends nothing"
    daemon("kill", agent, process).ok()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_the_client_gives_the_terminal_back(daemon, agent, end):
    process = detach(daemon, agent, READER)
    script = (
        f'stty -a > before; "{daemon.program}" attach {agent} {process}; echo code:$?; '
        "stty -a > after; cmp before after && echo same"
    )
    with at_a_shell(daemon, agent, script) as terminal:
        terminal.read_until(b"ctrl-p ctrl-q")
        client = [pid for pid, command in daemon.own_processes().items() if b"attach\0" + agent.encode() in command]
        clients = [pid for pid in client if b"/bin/sh" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
        os.kill(clients[0], end)
        terminal.read_until(b"same")
        assert f"code:{128 + end}".encode() in terminal.seen
    assert daemon.processes(agent)[process]["running"] is True
    daemon("kill", agent, process).ok()


def test_a_screen_that_a_program_took_is_given_back(daemon, agent):
    process = detach(daemon, agent, "printf '\\033[?1049h\\033[?25l'; read a")
    logged(daemon, agent, process, b"\x1b[?25l")
    with attached(daemon, agent, process) as terminal:
        terminal.read_until(b"\x1b[?25l")
        terminal.send("\x10\x11")
        terminal.read_until(b"left it")
    assert b"\x1b[?1049l" in terminal.seen and b"\x1b[?25h" in terminal.seen
    daemon("kill", agent, process).ok()


def test_what_would_make_the_terminal_answer_is_not_shown_again(daemon, agent):
    process = detach(daemon, agent, "printf 'name\\033[6n'; read a; echo got:$a")
    logged(daemon, agent, process, b"name")
    with attached(daemon, agent, process) as terminal:
        terminal.read_until(b"ctrl-p ctrl-q")
        terminal.send("ann\r")
        terminal.read_until(b"got:ann")
        assert b"\x1b[6n" not in terminal.seen
        assert terminal.wait() == 0


def test_attach_from_a_script(daemon, agent):
    """What comes on a pipe is typed; the pipe's end is none of the terminal's."""
    process = detach(daemon, agent, "read a; read b; echo $a-$b; exit 5")
    result = daemon("attach", agent, process, stdin=b"one\ntwo\n")
    assert result.code == 5 and b"one-two\r\n" in result.out, str(result)
    process = detach(daemon, agent, "read a; echo first $a; exec sleep 1000")
    following = daemon.popen("attach", agent, process)
    following.stdin.write(b"word\n")
    following.stdin.close()
    logged(daemon, agent, process, b"first word")
    assert daemon.processes(agent)[process]["running"] is True
    daemon("kill", agent, process).ok()
    following.wait(harness.PATIENCE)


def test_typing_more_than_it_reads(daemon, agent):
    """The terminal is full: output still comes, and the keys to leave are heard."""
    process = detach(daemon, agent, "stty raw -echo; printf ready; while :; do printf x; sleep 0.2; done")
    logged(daemon, agent, process, b"ready")
    with attached(daemon, agent, process) as terminal:
        terminal.read_until(b"ctrl-p ctrl-q")
        for _ in range(20):
            terminal.send(b"y" * 1000)
        seen = terminal.seen.count(b"x")
        harness.wait_until(lambda: terminal.read_some(0.1) and terminal.seen.count(b"x") > seen + 3, "output")
        terminal.send("\x10\x11")
        terminal.read_until(b"left it")
    daemon("kill", agent, process).ok()


def test_a_shell_with_jobs(daemon, agent):
    process = daemon("exec", "-d", "-t", agent, "--", "bash", "--norc").ok().text.strip()
    with attached(daemon, agent, process) as terminal:
        terminal.send("sleep 1000\r")
        terminal.read_until(b"sleep 1000")
        sleeps = lambda: any(b"sleep\x001000" in one for one in daemon.own_processes().values())
        harness.wait_until(sleeps, "sleep runs")
        terminal.send("\x1a")
        terminal.read_until(b"Stopped")
        terminal.send("fg\r")
        harness.wait_until(lambda: terminal.read_some(0.1) and terminal.seen.endswith(b"sleep 1000\r\n"), "it goes on")
        terminal.send("\x03")
        harness.wait_until(lambda: not sleeps(), "sleep has ended")  # ^C itself may be dropped: stty(1), noflsh
        terminal.send("exit 6\r")
        assert terminal.wait() == 6


def test_the_terminal_goes_with_its_process(daemon, agent):
    """What is left in the background hears of it, and the daemon keeps no descriptor."""
    daemon.sh(agent, "touch x").ok()  # with the supervisor of its files, which stays
    before = daemons.descriptors(daemon.pid())
    for _ in range(10):
        process = detach(daemon, agent, "echo hi; sleep 1000 & exit 0")
        daemon("wait", agent, process).ok()
    harness.wait_until(lambda: daemons.descriptors(daemon.pid()) <= before, "its descriptors are closed")


def test_tty_where_the_caller_has_none(daemon, any_agent):
    script = "tty > /dev/null && stty size && cat; exit 3"
    result = daemon("exec", "-t", any_agent, "--", "sh", "-c", script, stdin=b"a\nb")
    assert result.code == 3, str(result)
    assert b"24 80\r\n" in result.out and result.out.count(b"b") == 2 and result.err == b"", str(result)


def test_tty_with_output_to_a_pipe(daemon, agent):
    script = f'"{daemon.program}" exec -t {agent} -- sh -c "test -t 1 && echo yes" | cat > out; cat out'
    with at_a_shell(daemon, agent, script) as terminal:
        terminal.read_until(b"yes")


@pytest.mark.parametrize("rows, columns", [(0, 80), (24, 65536), (-1, 1), (None, None)])
def test_sizes_that_are_none(own_daemon, rows, columns):
    wrong = {"rows": rows, "columns": columns}
    daemon, agent = own_daemon, own_daemon.create()
    process = detach(daemon, agent, "exec sleep 1000")
    wire = frames.connect(daemon.socket)

    def refused(verb, **arguments):
        kind, message = frames.call(wire, verb, agent=agent, **arguments)
        return message if kind == "failed" else ""

    assert "rows and columns" in refused("process.resize", pid=process, **wrong)
    assert "rows and columns" in refused("process.spawn", arguments=["true"], terminal=True, **wrong)
    pipes = frames.call(wire, "process.spawn", agent=agent, arguments=["sleep", "1000"])[1]["pid"]
    assert "no terminal" in refused("process.resize", pid=pipes, rows=24, columns=80)
    wire.close()


def test_the_end_of_an_input_that_is_no_terminal_is_typed(daemon, any_agent):
    """Also within a line, where the first Ctrl-D ends the line alone."""
    for typed, printed in ((b"one\ntwo\n", b"2 "), (b"one\ntwo", b"1 ")):
        process = detach(daemon, any_agent, "stty -echo; printf ready; wc -lc; exit 5")
        logged(daemon, any_agent, process, b"ready")
        result = daemon("attach", any_agent, process, stdin=typed)
        assert result.code == 5 and printed in result.out, str(result)
