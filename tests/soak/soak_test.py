# Many runs one after another leave nothing behind: no process, mount, cgroup, namespace or file.
import os
import pathlib
import subprocess

import pytest
from harness import wait_until

QUICK, LONG = 300, 10_000
LOOP = 'i=0; while [ $i -lt "$0" ]; do "$@" || exit 99; i=$((i+1)); done'


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


def names_in(*directories):
    return {str(path) for directory in directories for path in pathlib.Path(directory).iterdir()}


def cgroups():
    found = subprocess.run(["find", "/sys/fs/cgroup", "-name", "hutch-run-*"], stdout=subprocess.PIPE, check=False)
    return set(found.stdout.decode().split())


def programs_of(hutch):
    """Processes that run a program of this test's hutch; each test has its own marker in the arguments of its runs."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.readlink(f"/proc/{name}/exe") in (str(hutch.program), str(hutch.guest)):
                found.append(int(name))
        except OSError:
            continue
    return found


def namespaces():
    """Those that some process is in, but for what other suites have running: their machines stay while they do."""
    found = set()
    for name in os.listdir("/proc"):
        if not name.isdigit() or is_of_another_suite(int(name)):
            continue
        for kind in ("net", "mnt", "pid", "user"):
            try:
                found.add(os.readlink(f"/proc/{name}/ns/{kind}"))
            except OSError:
                continue
    return found


def is_of_another_suite(pid):
    """Below another pytest. What a run leaves behind has no parent but this suite or the machine's init."""
    try:
        while pid > 1 and pid != os.getpid():
            if b"pytest" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                return True
            status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
            pid = int(status.split("PPid:")[1].split()[0])
    except (OSError, IndexError):
        pass  # it ended meanwhile
    return False


def leaves_nothing(hutch, project, as_user, count, options):
    scratch = ["/tmp", "/dev/shm", "/var/tmp", "/run", project, as_user.home]
    before = names_in(*scratch)
    mounts = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    known, groups = namespaces(), cgroups()
    # The rig puts hutch and its arguments after the wrapper: they are what the loop runs.
    result = hutch.run("true", options=options, wrap=["/bin/sh", "-c", LOOP, str(count)], timeout=count * 2 + 60)
    assert result.code == 0, str(result)[-2000:]
    wait_until(lambda: not programs_of(hutch), "no process is left")
    assert cgroups() <= groups
    assert pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8") == mounts
    # Others make namespaces all the time: those of now must go, and no later ones count.
    left = namespaces() - known
    wait_until(lambda: not left.intersection_update(namespaces()) and not left, "no namespace is left")
    # Other suites may run at the same time: their scratch directories are theirs.
    others = ("hutch-tests-", "hutch-arena-")
    made = {path for path in names_in(*scratch) - before if "hutch" in path or path.startswith(str(project))}
    made = {path for path in made if not path.rsplit("/", 1)[1].startswith(others)}
    assert made <= {str(as_user.home / name) for name in (".local", ".config")}, made


@pytest.mark.parametrize("options", [[], ["--pids", "50"]], ids=["plain", "limited"])
def test_some_runs(hutch, backend, project, as_user, options):
    leaves_nothing(hutch, project, as_user, QUICK if not options else QUICK // 6, options)


@pytest.mark.slow
def test_ten_thousand_runs(hutch, backend, project, as_user):
    leaves_nothing(hutch, project, as_user, LONG, [])
