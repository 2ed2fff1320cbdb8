# Nothing that a command does stalls or ends the supervisor.
"""As in an ordinary directory: the same program says the same there."""

import pathlib


PROGRAM = pathlib.Path(__file__).parent / "steady.py"


def test_steady(hutch, as_user, project, backend):
    as_user.write(project / "steady.py", PROGRAM.read_text(encoding="utf-8"))
    result = hutch.sh("mkdir w && cd w && exec python3 -B ../steady.py")
    assert result.code == 0, str(result)
    assert result.text.splitlines() == [
        "lease None",
        "fifo None",
        "crowd 500",
        "killed None",
        "replaced None",
        "leaderless True",
        "unreadable 0",
        "own_directory (0, '0o100600')",
        "made_meanwhile []",
        "many_calls None",
    ], str(result)
