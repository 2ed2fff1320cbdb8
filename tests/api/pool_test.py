# The pool of containers on real sandboxes: the limit, what a new holder finds, what is left at the end.
import json
import os
import subprocess
import sys

import pytest

import harness
import places

CHECKS = ["seed", "timeout", "clean", "mistakes", "trust"]
PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]
PLACES = [("user", "namespace"), ("user", "bwrap")] + [("root", "namespace")] * ("root" in PEOPLE)
CYCLES = {"namespace": 1000, "bwrap": 200}


@pytest.fixture(scope="session")
def containers(surface):
    return surface.parent / "containers"


@pytest.fixture
def place(containers, as_user, project):
    """place(CHECK, BACKEND): how to run a check with a state directory of its own."""
    state = as_user.mkdir(project / "state")

    def options(check, backend, **env):
        return {"argv": [containers, check, backend], "cwd": project, "env": {"HUTCH_STATE": str(state), **env}}

    options.state = state
    return options


@pytest.mark.parametrize("as_user, backend", PLACES, indirect=True)
@pytest.mark.parametrize("name", CHECKS)
def test_containers(place, as_user, backend, name):
    harness.run_in(as_user, **place(name, backend), timeout=180).ok()


# Without a line in /etc/passwd the home is the one of the environment.
@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_no_mount_shows_a_credential(place, as_user):
    harness.run_in(as_user, **place("credentials", "namespace")).ok()


@pytest.mark.skipif(not os.path.exists("/usr/bin/mmdebstrap"), reason="no mmdebstrap")
@pytest.mark.skipif(os.geteuid() != 0, reason="takes the place of mmdebstrap")
@pytest.mark.parametrize("as_user", ["root"], indirect=True)
def test_a_build_of_an_image_is_ended(place, as_user):
    """With whoever asked for it, and with all of the pool's sandboxes."""
    program = as_user.write(place.state / "mmdebstrap", places.MMDEBSTRAP, 0o755)
    mount = f"mount --bind '{program}' /usr/bin/mmdebstrap && exec \"$@\""
    harness.run_in(as_user, **place("builds", "namespace"), outer=["unshare", "--mount", "sh", "-c", mount, "sh"]).ok()
    images = place.state / "data/images"
    assert not images.exists() or not [one for one in images.iterdir() if not one.name.endswith(".lock")]


def cgroups(pid):
    found = subprocess.run(["find", "/sys/fs/cgroup", "-name", f"hutch-run-{pid}-*"], stdout=subprocess.PIPE,
                           check=False)
    return found.stdout.split()


def children(pid):
    """Of any of its threads: a sandbox is the child of the thread that keeps it."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as listed:
                found += listed.read().split()
        except OSError:
            continue  # the thread has ended
    return found


# Made before the first change, and a process that is ended in a call may have been about to make one: so it may be
# there or not, with nothing in it.
MAY_BE_LEFT = {"data/running"}


def files_below(directory):
    return {str(path.relative_to(directory)) for path in directory.rglob("*")} - MAY_BE_LEFT


def own_mounts(pid, state):
    with open(f"/proc/{pid}/mountinfo", encoding="utf-8") as listed:
        return [line for line in listed if str(state) in line or " /workspace" in line]


@pytest.mark.parametrize("as_user, backend", PLACES, indirect=True)
def test_many_cycles_keep_the_limit_and_leave_nothing(place, as_user, backend, tmp_path):
    cycles, mark = CYCLES[backend], f"28{abs(hash(str(tmp_path))) % 10**9}"
    # What a pool writes down, whatever it does.
    harness.run_in(as_user, **place("churn", backend, CYCLES="3", MARK=mark), timeout=180)
    known = files_below(place.state)
    process = harness.start_in(as_user, **place("churn", backend, CYCLES=str(cycles), MARK=mark))
    try:
        said = process.stdout.readline().decode()
        assert process.stdout.readline() == b"over\n", process.stderr.read().decode()[-2000:]
        sys.stdout.write(said)
        assert said.startswith(f"cycles {cycles}, at most 3, "), said
        assert not harness.processes_with(mark)
        assert children(process.pid) == []
        assert cgroups(process.pid) == []
        assert own_mounts(process.pid, place.state) == []
        assert files_below(place.state) == known
        descriptors = os.listdir(f"/proc/{process.pid}/fd")
        assert len(descriptors) < 20, descriptors
    finally:
        process.communicate(b"\n", timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize("as_user, backend", PLACES, indirect=True)
@pytest.mark.parametrize("hard", [None, "1"])
def test_nothing_is_left_of_a_pool(place, as_user, backend, hard, tmp_path):
    """Neither where the program ends, nor where it is killed with some busy and some idle."""
    mark = f"29{abs(hash(str(tmp_path))) % 10**9}"
    ended = harness.run_in(as_user, **place("leave", backend, MARK=mark, HARD=hard))
    assert ended.text == "started\n" and ended.code == (134 if hard else 0), str(ended)
    harness.wait_until(lambda: not harness.processes_with(mark), "no process of a sandbox is left")


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_the_users_settings_are_the_pools(place, as_user):
    config = as_user.mkdir(place.state / "config")
    as_user.write(config / "config.json", json.dumps({"sandbox": {"defaults": {"memoryLimit": "1m"}}}))
    refused = harness.run_in(as_user, **place("seed", "namespace"))
    assert refused.code == 1 and "sandbox.defaults.memoryLimit" in refused.errors, str(refused)
