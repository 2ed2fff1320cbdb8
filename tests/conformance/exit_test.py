# How a command's end comes back: exit codes, signals, not found, not executable.
import pytest
from common import outcome
from harness import processes_with, wait_until


@pytest.mark.parametrize("code", [0, 1, 7, 124, 125, 126, 127, 128, 255])
def test_the_exit_code_is_the_commands(hutch, backend, code):
    assert hutch.sh(f"exit {code}").code == code


@pytest.mark.parametrize(
    "name, number", [("TERM", 15), ("KILL", 9), ("SEGV", 11), ("INT", 2), ("ABRT", 6), ("USR1", 10)]
)
def test_a_signal_is_128_and_its_number(hutch, backend, name, number):
    result = hutch.sh(f"kill -{name} $$; sleep 30")
    assert result.code == 128 + number, str(result)


def test_a_command_that_is_not_there_is_127(hutch, backend):
    result = hutch.run("no-such-command-anywhere")
    assert result.code == 127
    assert b"no-such-command-anywhere: not found" in result.err


def test_an_absent_path_is_127(hutch, backend):
    assert hutch.run("/no/such/program").code == 127


def test_a_file_that_is_no_program_is_126(hutch, backend, project, as_user):
    as_user.write(project / "data", "no program", mode=0o644)
    result = hutch.run("./data")
    assert result.code == 126
    assert b"./data" in result.err and b"Permission denied" in result.err


def test_a_directory_is_126(hutch, backend):
    assert hutch.run("/usr").code == 126


def test_a_script_without_an_interpreter_line_runs_in_sh(hutch, backend, project, as_user):
    as_user.write(project / "script", "echo from the script $1\n", mode=0o755)
    assert hutch.run("./script", "word").ok().out == b"from the script word\n"


def test_the_command_is_looked_up_in_path(hutch, backend, project, as_user):
    as_user.write(project / "bin/tool", "#!/bin/sh\necho found\n", mode=0o755)
    result = hutch.run("tool", options=["--env", f"PATH={project}/bin:/usr/bin:/bin"])
    assert result.ok().out == b"found\n"


def test_a_shell_string(hutch, backend):
    result = hutch("run", "--backend", backend, "-c", "echo one; echo two | tr t T")
    assert result.ok().out == b"one\nTwo\n"


def test_arguments_arrive_as_they_are(hutch, backend):
    words = ["", " ", "a b", "*", "$HOME", "'", '"', "\\", "-x", "--", "é", "a\nb"]
    result = hutch.run("/usr/bin/printf", "[%s]", *words)
    assert result.ok().out.decode() == "".join(f"[{word}]" for word in words)


def test_many_long_arguments(hutch, backend):
    words = ["x" * 1000 for _ in range(1000)]
    result = hutch.run("/bin/sh", "-c", "echo $#", "sh", *words)
    assert result.ok().out == b"1000\n"


def test_json_tells_the_outcome(hutch, backend):
    told, result = outcome(hutch, "/bin/sh", "-c", "echo out; echo err >&2; exit 3")
    assert result.code == 3
    assert told["exit_code"] == 3 and told["signal"] is None
    assert told["timed_out"] is False and told["killed"] is False
    assert told["stdout"] == "out\n" and told["stderr"] == "err\n"
    assert told["stdout_omitted_bytes"] == 0
    assert told["backend"] == backend
    assert told["duration_ms"] >= 0


def test_json_tells_a_signal(hutch, backend):
    told, result = outcome(hutch, "/bin/sh", "-c", "kill -SEGV $$")
    assert result.code == 139
    assert told["signal"] == 11 and told["exit_code"] == 139 and told["killed"] is False


def test_json_keeps_the_first_and_the_last_of_a_long_output(hutch, backend):
    told, _ = outcome(hutch, "/bin/sh", "-c", "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last")
    assert told["stdout"].startswith("first\n") and told["stdout"].endswith("\nlast\n")
    assert told["stdout_bytes"] == 5000000 + len("first\n\nlast\n")
    assert told["stdout_omitted_bytes"] == told["stdout_bytes"] - 2 * 1024 * 1024
    assert len(told["stdout"]) < 2 * 1024 * 1024 + 100


def test_json_survives_output_that_is_no_text(hutch, backend):
    told, _ = outcome(hutch, "/usr/bin/printf", r"a\377\000b")
    assert told["stdout"] == "a\ufffd\0b" and told["stdout_bytes"] == 4


def test_what_the_command_left_running_ends_with_it(hutch, backend):
    marker = f"7{abs(hash(str(hutch.cwd))) % 10**8}.5"
    result = hutch.sh(f"setsid sleep {marker} & (sleep {marker} &) ; nohup sleep {marker} >/dev/null 2>&1 & exit 5")
    assert result.code == 5
    wait_until(lambda: not processes_with(marker), "all that the command started is gone")
