# What covers places of /proc is watched, while mounts come and go as well.
import os
import pathlib
import subprocess
import sys

import caller
import harness
import pytest


pytestmark = [
    pytest.mark.usefixtures("backend"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root takes a mount off in somebody else's namespace"),
]

# In the namespaces of the process: as who set that sandbox up could.
TAKE_OFF = r"""
import ctypes, os, sys
pid, place = sys.argv[1], sys.argv[2].encode()
libc = ctypes.CDLL(None, use_errno=True)
spaces = [os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY) for name in ("user", "mnt")]
for space in spaces:
    if libc.setns(space, 0) != 0:
        sys.exit(f"setns: {os.strerror(ctypes.get_errno())}")
if libc.umount2(place, 2) != 0:
    sys.exit(f"umount2: {os.strerror(ctypes.get_errno())}")
"""


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have mounts of their own."""
    return request.param


def text_of(path):
    """Nothing of a process that has gone."""
    try:
        return path.read_text()
    except OSError:
        return ""


def descendants(pid):
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:
        return
    for task in tasks:
        for child in text_of(task).split():
            yield int(child)
            yield from descendants(int(child))


def process_of(run, name):
    """Of those that the run has started, the one that is called so."""
    def look():
        return [pid for pid in descendants(run.pid) if text_of(pathlib.Path(f"/proc/{pid}/comm")) == f"{name}\n"]

    return harness.wait_until(look, f"{name} runs")[0]


def take_off(run, place):
    try:
        pid = process_of(run, "sleep")
        subprocess.run([sys.executable, "-c", TAKE_OFF, str(pid), place], check=True, timeout=harness.PATIENCE)
    except BaseException:
        run.kill()  # whoever waits for it waits for ever
        raise


def places(as_user):
    of_root = ["/proc/keys", "/proc/sysrq-trigger"] if as_user.is_root else []
    return ["/proc/sys", *(place for place in of_root if os.path.exists(place))]


def test_it_ends_where_nobody_is_asked(hutch, as_user):
    for place in places(as_user):
        run = hutch.popen("sleep", "1000")
        take_off(run, place)
        _, err = run.communicate(timeout=harness.PATIENCE)
        assert run.returncode == 125 and place.encode() in err, err


def test_it_ends_where_mounts_may_change(hutch, as_user, home):
    for place in places(as_user):
        with caller.running(hutch, f"cat {home}/one; exec sleep 1000") as (outside, run):
            question = outside.line("question")
            outside.say(type="answer", id=question["id"], choice="session")
            assert run.stdout.read(11) == b"first words"
            take_off(run, place)
            _, err = run.communicate(timeout=harness.PATIENCE)
            assert run.returncode == 125 and place.encode() in err, err


def test_a_mount_of_the_machines_own_may_go(hutch, as_user, project):
    """Its place too: such are disks that are taken out, and what an engine mounts for a container that ends."""
    as_user.write(project / "secret", "words")
    hutch("config", "add", "filesystem.denyRead", str(project / "secret")).ok()
    place = as_user.mkdir(project / "disk")
    subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
    try:
        (place / "file").write_text("here")
        run = hutch.popen("sh", "-c", "cat disk/file; echo; read line; ls -d disk; cat secret; exec sleep 1000")
        harness.wait_until(lambda: run.stdout.readline() == b"here\n", "it sees the mount")
    finally:
        subprocess.run(["umount", place], check=True)
    place.rmdir()
    run.stdin.write(b"\n")
    run.stdin.flush()
    process_of(run, "sleep")
    assert run.poll() is None
    as_user.write(project / "other", "other words").rename(project / "secret")
    out, err = run.communicate(timeout=harness.PATIENCE)
    assert run.returncode == 125 and b"secret was replaced" in err, "what protects is still watched"
    assert out == b"", out
