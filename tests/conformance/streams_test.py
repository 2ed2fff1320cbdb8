# Standard streams: byte for byte, files only through a relay, order, ends.
import os
import socket
import subprocess

import pytest
from common import isolates

EVERY_BYTE = bytes(range(256)) * 2000


def test_input_and_output_are_byte_for_byte(hutch, backend):
    assert hutch.run("cat", stdin=EVERY_BYTE).ok().out == EVERY_BYTE


def test_standard_error_is_its_own(hutch, backend):
    result = hutch.sh("echo out; echo err >&2; exit 0").ok()
    assert result.out == b"out\n" and b"err\n" in result.err


def test_a_large_output_arrives_whole(hutch, backend):
    result = hutch.sh("head -c 20000000 /dev/zero | tr '\\0' y")
    assert result.ok().out == b"y" * 20000000


def test_input_from_a_file(hutch, backend, project, as_user):
    as_user.write(project / "input", EVERY_BYTE)
    with open(project / "input", "rb") as opened:
        assert hutch.run("cat", stdin=opened).ok().out == EVERY_BYTE


def test_what_was_not_read_of_a_file_is_given_back(hutch, backend, project, as_user):
    as_user.write(project / "input", b"".join(b"line %06d\n" % number for number in range(20000)))
    with open(project / "input", "rb", buffering=0) as opened:
        result = hutch.run("/usr/bin/head", "-c", "24", stdin=opened)
        assert result.ok().out == b"line 000000\nline 000001\n"
        assert opened.read(12) == b"line 000002\n"


def test_output_to_a_file(hutch, backend, project, base, as_user):
    with open(project / "output", "wb") as opened:
        hutch.sh("printf 'one\\ntwo\\n'", stdout=opened).ok()
    assert (project / "output").read_bytes() == b"one\ntwo\n"


def test_output_is_appended_where_the_file_is_open_for_that(hutch, backend, project, as_user):
    as_user.write(project / "output", "before\n")
    with open(project / "output", "ab") as opened:
        hutch.sh("echo after", stdout=opened).ok()
    assert (project / "output").read_bytes() == b"before\nafter\n"


def test_both_outputs_in_one_file_keep_their_order(hutch, backend, project):
    with open(project / "both", "wb") as opened:
        hutch.sh(
            "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done",
            stdout=opened,
            stderr=subprocess.STDOUT,
            options=[],
        ).ok()
    wanted = "".join(f"out {i}\nerr {i}\n" for i in range(1, 10))
    found = (project / "both").read_text()
    assert "".join(line + "\n" for line in found.splitlines() if not line.startswith("hutch:")) == wanted


def test_no_input_at_all(hutch, backend):
    assert hutch.run("cat", stdin=subprocess.DEVNULL).ok().out == b""


def test_a_closed_input_is_empty(hutch, backend):
    result = hutch("run", "--backend", backend, "--", "cat", wrap=["/bin/sh", "-c", 'exec "$0" "$@" <&-'])
    assert result.ok().out == b""


def test_a_closed_output_does_not_end_the_command(hutch, backend, project):
    result = hutch(
        "run",
        "--backend",
        backend,
        "--",
        "/bin/sh",
        "-c",
        "echo lost; echo kept > kept",
        wrap=["/bin/sh", "-c", 'exec "$0" "$@" >&-'],
    )
    assert result.code == 0, str(result)
    assert (project / "kept").read_text() == "kept\n"


def test_a_reader_that_goes_ends_the_writer(hutch, backend):
    result = hutch("run", "--backend", backend, "--", "yes", wrap=["/bin/sh", "-c", '"$0" "$@" | head -n 2; exit 0'])
    assert result.out == b"y\ny\n"


LOOK = """
import os, stat, sys
number = int(sys.argv[1])
with open('seen', 'w') as seen: seen.write(os.readlink(f'/proc/self/fd/{number}'))
assert stat.S_ISFIFO(os.fstat(number).st_mode)
"""


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_file_never_enters_as_a_descriptor(hutch, backend, project, as_user, number):
    as_user.write(project / "file", "content\n")
    opened = os.open(project / "file", os.O_RDONLY if number == 0 else os.O_RDWR)
    name = ["stdin", "stdout", "stderr"][number]
    try:
        result = hutch.run("/usr/bin/python3", "-c", LOOK, str(number), **{name: opened})
    finally:
        os.close(opened)
    assert result.code == 0, str(result)
    assert (project / "seen").read_text().startswith("pipe:")


def test_a_file_that_was_read_to_its_end_stays_there(hutch, backend, project, as_user):
    as_user.write(project / "input", "one\ntwo\n")
    with open(project / "input", "rb", buffering=0) as opened:
        assert hutch.sh("sleep 0.3; cat", stdin=opened).ok().out == b"one\ntwo\n"
        assert opened.read() == b""


def test_a_socket_as_input_is_relayed(hutch, backend):
    mine, its = socket.socketpair()
    with mine, its:
        mine.sendall(b"through a socket\n")
        mine.shutdown(socket.SHUT_WR)
        result = hutch.sh("cat; readlink /proc/self/fd/0", stdin=its)
    assert result.ok().out.startswith(b"through a socket\npipe:")


def test_no_other_descriptor_is_open(hutch, backend, project):
    with open(project / "secret", "w", encoding="utf-8") as extra:
        os.set_inheritable(extra.fileno(), True)
        result = hutch.run("ls", "/proc/self/fd", pass_fds=[extra.fileno()])
    # ls has the directory itself open as 3.
    assert result.ok().out.split() == [b"0", b"1", b"2", b"3"], str(result)


def test_a_full_disk_of_the_caller_is_not_the_commands_death(hutch, backend, project):
    if not isolates(backend):
        pytest.skip("/dev/full is the same device for all")
    with open("/dev/full", "wb", buffering=0) as full:
        result = hutch.sh("echo lost; echo done > done; exit 4", stdout=full)
    assert result.code in (4, 141), str(result)
