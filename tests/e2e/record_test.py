# The record of runs: log, why and audit after real runs, and what must never be in it.
import json
import os
import signal
import subprocess

import pytest

import harness

UNIX_SOCKET = "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)"


@pytest.fixture(params=["user"])
def as_user(request, base):
    """The ordinary user alone: root's record is one for the whole machine."""
    return base.person(request.param)


@pytest.fixture(autouse=True)
def fresh_record(as_user):
    """Nothing on record before each test."""
    for path in data_directory(as_user).glob("spool*.jsonl"):
        path.unlink()


def data_directory(person):
    return person.home / ".local/share/hutch"


def lines(result):
    return [json.loads(line) for line in result.ok().text.splitlines()]


def test_nothing_yet(hutch):
    assert hutch("log").ok().out == b""
    assert hutch("audit").ok().out == b""
    assert "nothing was refused" in hutch("why").ok().text
    assert hutch("log", "--json").ok().out == hutch("why", "--json").ok().out == b""


def test_log_has_each_run(hutch, backend, project):
    hutch.run("/bin/sh", "-c", "exit 3")
    hutch.run("/bin/true").ok()
    runs = lines(hutch("log", "--json"))
    assert [run["exit_code"] for run in runs] == [3, 0]
    assert runs[0]["command"] == ["/bin/sh", "-c", "exit 3"]
    assert {run["backend"] for run in runs} == {backend}
    assert {run["cwd"] for run in runs} == {os.fspath(project)}
    assert all(run["duration_ms"] >= 0 and run["ended_by"] == "itself" for run in runs)
    text = hutch("log").ok().text.splitlines()
    assert len(text) == 2 and "exit 3" in text[0] and "/bin/true" in text[1]
    assert lines(hutch("log", "-n", "1", "--json")) == runs[1:]


def test_why_names_what_was_refused(hutch):
    hutch.run("python3", "-c", UNIX_SOCKET, backend="namespace")
    hutch.run("/bin/true", backend="namespace").ok()
    text = hutch("why").ok().text
    assert "refused:" in text and "AF_UNIX" in text
    run = lines(hutch("why", "--json"))[0]
    assert [refusal["rule"] for refusal in run["refusals"]] == ["built in"] and run["command"][0] == "python3"
    assert hutch("why", run["run"][:6]).ok().text == text
    absent = hutch("why", "ffffffffffffffff")
    assert absent.code == 125 and b"ffffffffffffffff" in absent.err


def test_the_rule_that_hides_a_command_is_named(hutch, as_user):
    tool = str(as_user.home / "tools" / "hidden-tool")
    as_user.write(tool, "#!/bin/sh\n", mode=0o755)
    outcome = json.loads(hutch.run(tool, options=["--json"], backend="namespace").out)
    rule = json.loads(hutch("check", "--json", "read", tool).out)["rule"]
    assert outcome["exit_code"] == 127 and rule
    assert [refusal["rule"] for refusal in outcome["refusals"]] == [rule]
    assert f"by: {rule}" in hutch("why").ok().text
    # Nothing hides what is nowhere.
    absent = json.loads(hutch.run("/usr/bin/no-such-tool", options=["--json"], backend="namespace").out)
    assert [refusal["rule"] for refusal in absent["refusals"]] == [""]


def test_audit_filters(hutch):
    hutch.run("python3", "-c", UNIX_SOCKET, backend="namespace")
    hutch.run("/bin/true", backend="none").ok()
    records = lines(hutch("audit", "--json"))
    assert [record["type"] for record in records] == ["start", "refusal", "end", "start", "end"]
    for option in ("--kind", "--type"):
        assert lines(hutch("audit", "--json", option, "refusal")) == [records[1]]
    assert lines(hutch("audit", "--json", "--run", records[0]["run"])) == records[:3]
    assert lines(hutch("audit", "--json", "--type", "start", "--type", "end", "-n", "2")) == records[3:]
    assert lines(hutch("audit", "--json", "--since", "1h")) == records
    assert len(hutch("audit").ok().text.splitlines()) == 5


def test_values_of_the_environment_are_not_recorded(hutch, as_user):
    hutch.run("/bin/true", options=["--env", "TOKEN=hunter2", "--env", "OTHER"], env={"OTHER": "hunter3"}).ok()
    for path in [one for one in data_directory(as_user).rglob("*") if one.is_file()]:
        assert b"hunter" not in path.read_bytes(), path
    assert data_directory(as_user).stat().st_mode & 0o777 == 0o700
    assert (data_directory(as_user) / "spool.jsonl").stat().st_mode & 0o777 == 0o600


def test_hostile_names_cannot_move_the_cursor(hutch):
    hutch.run("/bin/echo", "\x1b]0;owned\x07\x1b[2J\u202e\nline", backend="none").ok()
    hutch.run("no-such-\x1b[31m", backend="none")
    for verb in ("log", "why", "audit"):
        shown = hutch(verb).ok().text
        assert shown.isprintable() or all(letter.isprintable() or letter == "\n" for letter in shown), repr(shown)


def test_kill_leaves_the_start(hutch):
    with hutch.popen("/bin/sleep", "1000", backend="namespace") as running:
        harness.wait_until(lambda: lines(hutch("audit", "--json", "--type", "start")), "the start is on record")
        os.kill(running.pid, signal.SIGKILL)
        running.communicate(timeout=60)
    assert "no end" in hutch("log").ok().text
    hutch.run("/bin/true").ok()
    assert len(lines(hutch("log", "--json"))) == 2


def test_runs_at_once_are_all_recorded(hutch):
    running = [hutch.popen("/bin/true", backend="none", stdin=subprocess.DEVNULL) for _ in range(20)]
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0
    runs = lines(hutch("log", "--json"))
    assert len(runs) == 20 and all(run["exit_code"] == 0 for run in runs)


def test_a_record_that_cannot_be_kept_is_told_and_stops_nothing(hutch, as_user):
    directory = data_directory(as_user)
    moved = directory.with_name("hutch-aside")
    if directory.exists():
        directory.rename(moved)
    as_user.write(directory, "not a directory")
    try:
        result = hutch.run("/bin/echo", "ran", backend="none").ok()
    finally:
        directory.unlink()
        if moved.exists():
            moved.rename(directory)
    assert result.out == b"ran\n" and b"not recorded" in result.err


def test_follow(hutch, as_user, project):
    hutch.run("/bin/true", backend="none").ok()
    path = project / "followed"
    with open(path, "wb") as out:
        process = harness.start_in(as_user, [hutch.program, "log", "--follow", "--json"], cwd=project, stdout=out)
        try:
            harness.wait_until(lambda: path.read_text().count("\n") == 1, "the runs of the past are printed")
            hutch.run("/bin/echo", "news", backend="none").ok()
            harness.wait_until(lambda: path.read_text().count("\n") == 3, "start and end are printed")
        finally:
            process.terminate()
            process.communicate(timeout=60)
    news = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert [record["type"] for record in news] == ["start", "end"] and news[0]["command"] == ["/bin/echo", "news"]


def test_audit_follows_what_passes(hutch, as_user, project):
    hutch.run("/bin/true", backend="none").ok()
    path = project / "followed"
    with open(path, "wb") as out:
        argv = [hutch.program, "audit", "-f", "--kind", "end", "-n", "1", "--json"]
        process = harness.start_in(as_user, argv, cwd=project, stdout=out)
        try:
            for count in (1, 2, 3):
                harness.wait_until(lambda: path.read_text().count("\n") == count, "the ends alone are printed")
                hutch.run("/bin/true", backend="none").ok()
        finally:
            process.terminate()
            process.communicate(timeout=60)
    assert {json.loads(line)["type"] for line in path.read_text().splitlines()} == {"end"}


def test_output_that_cannot_be_written(hutch):
    """A full disk is told, and is no success."""
    with open("/dev/full", "wb") as full:
        done = hutch.run("/bin/echo", "data", backend="none", stdout=full)
        assert done.code == 125 and "standard output: No space left on device" in done.errors, str(done)
        failed = hutch.run("/bin/sh", "-c", "echo data; exit 7", backend="none", stdout=full)
        assert failed.code == 7 and "No space left on device" in failed.errors, str(failed)
