# A build of an image that the daemon does for an agent ends with whoever asked for it, with the agent and the daemon.
import contextlib
import json
import os
import pathlib
import shlex
import signal

import api
import daemons
import harness
import places
import pytest
import rootfs

IMAGE = "hutch-sandbox:latest"
CALL = ["sandbox_install", '{"packages": ["hutch-hello"]}']

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="takes the place of mmdebstrap"),
              pytest.mark.skipif(not pathlib.Path("/usr/bin/mmdebstrap").exists(), reason="no mmdebstrap")]


class Building:
    """A daemon whose mmdebstrap does not end, and an agent that gets an image with its first installation."""

    def __init__(self, base, person):
        self.place = places.Place(base, person, f"cancel-{next(daemons.NUMBERS)}")
        self.person = person
        program = person.write(self.place.state / "mmdebstrap", places.MMDEBSTRAP, 0o755)
        self.place.state.chmod(0o755)
        self.place.over("/usr/bin/mmdebstrap", program)
        self.ok("agent", "create", "a", "image=auto", "autonomousExec.enabled=true")
        self.pid = json.loads(self.ok("daemon", "status", "--json").out)["pid"]

    def ok(self, *words):
        return self.place(*words).ok()

    def begins(self):
        harness.wait_until(self.scratch, "it builds")

    def scratch(self):
        top = pathlib.Path(f"/var/tmp/hutch-build-{self.person.uid}")
        return list(top.glob(f"*-{self.pid}/mmdebstrap.begun")) if top.exists() else []

    def expect_nothing_left(self):
        harness.wait_until(lambda: not self.scratch() and not self.made(), "nothing is left of the build")

    def made(self):
        images = self.place.state / "data/images"
        return [one for one in images.iterdir() if not one.name.endswith(".lock")] if images.exists() else []

    def state(self):
        return json.loads(self.ok("agent", "show", "a", "--json").out)["status"]

    def image(self):
        return json.loads(self.ok("agent", "show", "a", "--json").out)["image"]


@pytest.fixture(params=["root", "owner"])
def building(request, base):
    made = Building(base, rootfs.owner(base, request.param))
    yield made
    made.place("agent", "remove", "a")
    made.place("daemon", "stop")


def begin(building, *words):
    process = building.place.popen(*words)
    building.begins()
    return process


@pytest.mark.parametrize("words", [["tool", "call", "a", *CALL], ["agent", "install", "a", "hutch-hello"]])
def test_the_client_leaves(building, words):
    process = begin(building, *words)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    building.expect_nothing_left()
    assert building.image() == "auto"
    # Nothing holds the agent, nor the image.
    building.ok("exec", "a", "--", "true")
    again = begin(building, *words)
    os.killpg(again.pid, signal.SIGKILL)
    again.communicate(timeout=60)
    building.expect_nothing_left()


@pytest.mark.parametrize("verb", ["stop", "reset", "remove"])
def test_the_agent_is_stopped(building, verb):
    process = begin(building, "tool", "call", "a", *CALL)
    building.ok("agent", verb, "a")
    out, _ = process.communicate(timeout=60)
    answer = json.loads(out)
    assert not answer["ok"] and "interrupted" in answer["message"], answer
    building.expect_nothing_left()
    if verb != "remove":
        assert building.image() == "auto"
        building.ok("exec", "a", "--", "true")


def test_the_daemon_ends(building):
    process = begin(building, "agent", "install", "a", "hutch-hello")
    building.ok("daemon", "stop")
    harness.wait_until(lambda: not daemons.is_running(building.pid), "the daemon has ended")
    process.communicate(timeout=60)
    assert process.returncode != 0
    building.expect_nothing_left()


def test_the_daemon_ends_while_its_pool_builds(building):
    building.ok("settings", "set", "sandbox.image", "hutch-sandbox")
    with contextlib.closing(api.UnixConnection(building.place.state / "run/hutch.sock")) as connection:
        connection.request("POST", "/v1/pool/sandboxes", body='{"trust": "sandboxed"}',
                           headers={"Content-Type": "application/json"})
        building.begins()
        building.ok("daemon", "stop")
        assert connection.getresponse().status != 201
    harness.wait_until(lambda: not daemons.is_running(building.pid), "the daemon has ended")
    building.expect_nothing_left()


def test_a_start_that_builds_is_stopped(building):
    building.ok("agent", "set", "a", f"image={IMAGE}")
    process = begin(building, "agent", "start", "a")
    building.ok("agent", "stop", "a")
    process.communicate(timeout=60)
    assert process.returncode != 0
    building.expect_nothing_left()
    assert building.image() == IMAGE


EXEC = json.dumps({"command": "true"})


@pytest.mark.parametrize("words", [["agent", "start", "a"], ["exec", "a", "--", "true"]])
def test_the_client_of_a_start_that_builds_leaves(building, words):
    building.ok("agent", "set", "a", f"image={IMAGE}")
    process = begin(building, *words)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    building.expect_nothing_left()
    harness.wait_until(lambda: building.state() == "stopped", "the start has ended")
    # The next one begins anew.
    again = begin(building, *words)
    building.ok("agent", "stop", "a")
    again.communicate(timeout=60)
    building.expect_nothing_left()


@pytest.mark.parametrize("path", ["start", "exec", "processes"])
def test_the_client_of_a_start_that_builds_leaves_http(building, path):
    building.ok("agent", "set", "a", f"image={IMAGE}")
    with contextlib.closing(api.UnixConnection(building.place.state / "run/hutch.sock")) as connection:
        body = None if path == "start" else EXEC
        connection.request("POST", f"/v1/agents/a/{path}", body=body, headers={"Content-Type": "application/json"})
        building.begins()
    building.expect_nothing_left()
    harness.wait_until(lambda: building.state() == "stopped", "the start has ended")


def test_a_start_that_another_waits_for_goes_on(building):
    building.ok("agent", "set", "a", f"image={IMAGE}")
    first = begin(building, "agent", "start", "a")
    with contextlib.closing(api.UnixConnection(building.place.state / "run/hutch.sock")) as connection:
        connection.request("POST", "/v1/agents/a/start", headers={"Content-Type": "application/json"})
        # Calls that the daemon answers after it has heard of the other client, and then of the first one's end.
        for _ in range(10):
            building.ok("agent", "list")
        begun = building.scratch()[0].stat().st_ino
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate(timeout=60)
        for _ in range(10):
            building.ok("agent", "list")
        assert [one.stat().st_ino for one in building.scratch()] == [begun] and building.state() == "starting"
    building.expect_nothing_left()


def test_who_waits_for_another_build_can_leave_as_well(building):
    first = begin(building, "tool", "call", "a", *CALL)
    building.ok("agent", "create", "b", "image=auto", "autonomousExec.enabled=true")
    second = building.place.popen("agent", "install", "b", "hutch-hello")
    waits = b"is being made already"
    assert waits in second.stderr.readline() + second.stderr.readline(), shlex.join(map(str, second.args))
    building.ok("agent", "stop", "b")
    second.communicate(timeout=60)
    assert second.returncode != 0 and building.scratch()
    building.ok("agent", "remove", "b")
    building.ok("agent", "stop", "a")
    first.communicate(timeout=60)
    building.expect_nothing_left()
