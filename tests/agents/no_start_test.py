# A daemon that cannot start: whoever typed the command hears why, and what to do.
import fcntl
import json
import os
import subprocess

import pytest

import daemons
import harness

# Root is refused nothing by modes.
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs mount(2) and a second user")


@pytest.fixture
def daemon(base):
    """Never up: its state is spoilt before the first command. Of an ordinary user's."""
    return daemons.Daemon(base, base.person("user"))


@pytest.fixture
def mounted(daemon):
    """Its state on a small file system of its own."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=777", "tmpfs", daemon.state], check=True)
    for name in ("data", "run", "config"):
        daemon.person.mkdir(daemon.state / name)
    yield daemon.state
    # A daemon that says why it does not start may be ending still.
    harness.wait_until(lambda: subprocess.run(["umount", daemon.state], check=False).returncode == 0, "it is unmounted")


def refused(daemon):
    result = daemon("agent", "list")
    assert result.code == 125 and not result.out, str(result)
    assert result.errors.count("\n") == 1, result.errors
    return result.errors


def expect_mcp_to_answer(daemon, reason):
    """Each request, in both revisions; a notification has no answer."""
    asked = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": {}},
    ]
    result = daemon("mcp", stdin="".join(json.dumps(one) + "\n" for one in asked).encode() + b"no JSON\n")
    answers = [json.loads(line) for line in result.text.splitlines()]
    assert result.code == 125 and [one["id"] for one in answers] == [7, "d"], str(result)
    for one in answers:
        assert one["error"]["code"] == -32603 and reason in one["error"]["message"], one
        assert one["error"]["message"] + "\n" == result.errors


@needs_root
def test_no_room(daemon, mounted):
    with open(mounted / "ballast", "wb", buffering=0) as file, pytest.raises(OSError):
        while True:
            file.write(b"x" * 4096)
    for _ in range(2):
        said = refused(daemon)
        assert "full" in said and "make room" in said and str(daemon.data) in said, said
    expect_mcp_to_answer(daemon, "make room")
    (mounted / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", mounted], check=True)
    assert daemon.json("agent", "list") == []
    daemon("daemon", "stop").ok()


@needs_root
def test_read_only(daemon, mounted):
    subprocess.run(["mount", "-o", "remount,ro", mounted], check=True)
    said = refused(daemon)
    assert "Read-only file system" in said and "can be written" in said, said
    expect_mcp_to_answer(daemon, "Read-only file system")


@needs_root
@pytest.mark.parametrize("name", ["data", "run"])
def test_a_directory_of_another_user(daemon, name):
    (daemon.state / name).mkdir(mode=0o700)
    said = refused(daemon)
    assert "Permission denied" in said and "of this user's own" in said and "HUTCH_STATE" in said, said
    expect_mcp_to_answer(daemon, "Permission denied")


@pytest.mark.parametrize("name", ["data", "run"])
def test_a_file_where_a_directory_has_to_be(daemon, name):
    daemon.person.write(daemon.state / name, "")
    said = refused(daemon)
    assert "Not a directory" in said and "move away" in said, said
    expect_mcp_to_answer(daemon, "Not a directory")


def test_a_lock_that_something_else_holds(daemon):
    """It is named; nobody waits for it."""
    lock = daemon.person.write(daemon.person.mkdir(daemon.state / "run") / "daemon.lock", "")
    with open(lock, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said = refused(daemon)
        assert f"process {os.getpid()} (" in said and "holds the daemon's lock" in said, said
        expect_mcp_to_answer(daemon, "holds the daemon's lock")
    assert daemon.json("agent", "list") == []
    daemon.stop()


def test_settings_that_are_wrong(daemon):
    daemon.person.write(daemon.person.mkdir(daemon.state / "config") / "config.json", '{"daemon": 1}')
    assert "config.json" in refused(daemon)
    expect_mcp_to_answer(daemon, "config.json")
    listen = '{"daemon": {"listen": "192.0.2.1:9"}}'
    daemon.person.write(daemon.state / "config/config.json", listen)
    assert "192.0.2.1" in refused(daemon)


def test_serve_itself_says_the_same(daemon):
    daemon.person.write(daemon.state / "run", "")
    result = daemon("serve")
    assert result.code == 125 and "Not a directory" in result.errors and "move away" in result.errors, str(result)
    harness.wait_until(lambda: not daemon.own_processes(), "nothing is left")
