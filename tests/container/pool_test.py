# The pool, of containers: by the C++ library, with the checks that it has on every backend.
import importlib.util
import json
import os
import pathlib

import pytest

import daemons
import harness

API = pathlib.Path(__file__).resolve().parent.parent / "api"
spec = importlib.util.spec_from_file_location("conftest_of_api", API / "conftest.py")
of_api = importlib.util.module_from_spec(spec)
spec.loader.exec_module(of_api)

prefix, surface = of_api.prefix, of_api.surface
# podman takes seconds for what takes dockerd 0.3 s.
CYCLES = {"docker": 1000, "podman": 60} if os.environ.get("HUTCH_TEST_ALL") == "1" else {"docker": 24, "podman": 24}


@pytest.fixture
def place(surface, base, loaded_engine, as_user, project):
    """place(CHECK): how to run a check with a state directory of its own, and that engine."""
    state = as_user.mkdir(project / "state")

    def options(check, **env):
        found = {"HUTCH_STATE": str(state), "DOCKER_HOST": loaded_engine.host, **env}
        return {"argv": [surface.parent / "containers", check, "container"], "cwd": project, "env": found}

    options.state = state
    yield options
    harness.wait_until(lambda: not loaded_engine.containers(), "no container is left")


@pytest.mark.parametrize("name", ["seed", "timeout", "clean", "mistakes", "trust"])
@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_containers(place, as_user, name):
    harness.run_in(as_user, **place(name), timeout=180).ok()


@pytest.mark.parametrize("as_user", ["root", "user"], indirect=True)
def test_cycles_keep_the_limit_and_leave_nothing(place, as_user, loaded_engine):
    cycles, mark = CYCLES[loaded_engine.kind], f"28{os.getpid()}"
    process = harness.start_in(as_user, **place("churn", CYCLES=str(cycles), MARK=mark))
    try:
        said = process.stdout.readline().decode()
        assert process.stdout.readline() == b"over\n", process.stderr.read().decode()[-2000:]
        assert said.startswith(f"cycles {cycles}, at most 3, "), said
        assert not harness.processes_with(mark)
        assert loaded_engine.containers() == []
        assert os.listdir(place.state / "data/containers") == []
    finally:
        process.communicate(b"\n", timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize("hard", [None, "1"])
@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_nothing_is_left_of_a_pool(place, as_user, hard):
    """Neither where the program ends, nor where it is killed with some busy and some idle."""
    mark = f"29{os.getpid()}"
    ended = harness.run_in(as_user, **place("leave", MARK=mark, HARD=hard))
    assert ended.text == "started\n" and ended.code == (134 if hard else 0), str(ended)
    harness.wait_until(lambda: not harness.processes_with(mark), "no process of a sandbox is left")


@pytest.mark.parametrize("who", harness.PEOPLE)
def test_the_engine_holds_the_usual_limits_for_everybody(loaded_engine, base, who):
    """hutch's own cgroup does not matter: a user who has none gets them as well."""
    status, text = loaded_engine.ask("GET", "/v1.41/info")
    assert status == 200, text
    able = json.loads(text)
    daemon = daemons.Daemon(base, base.person(who))
    env = {"DOCKER_HOST": loaded_engine.host}
    daemon("pool", "fill", "--backend", "container", env=env, timeout=120).ok()
    try:
        [container] = loaded_engine.containers()
        host = json.loads(loaded_engine.ask("GET", f"/v1.41/containers/{container['Id']}/json")[1])["HostConfig"]
        assert host["Memory"] == (512 << 20 if able.get("MemoryLimit", True) else 0)
        assert host["NanoCpus"] == (10**9 if able.get("CpuCfsQuota", True) else 0)
    finally:
        daemon("daemon", "stop", env=env).ok()
    harness.wait_until(lambda: not loaded_engine.containers(), "no container is left")
