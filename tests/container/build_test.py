# A build of hutch's own image for an engine that has none: what ends it leaves nothing with the engine.
import contextlib
import os
import pathlib
import signal

import pytest

import api
import daemons
import harness
import rootfs

IMAGE = "hutch-sandbox:latest"
TESTS_IMAGE = "hutch-tests:latest"
# A part of an archive comes, which an engine may take for a whole one, and then nothing more.
MMDEBSTRAP = "#!/bin/sh\ncat '{archive}'\nmkdir \"$TMPDIR/mmdebstrap.begun\"\nexec sleep 3600\n"

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="takes the place of mmdebstrap"),
              pytest.mark.skipif(not pathlib.Path("/usr/bin/mmdebstrap").exists(), reason="no mmdebstrap")]


class Building(daemons.Daemon):
    """A daemon of root's whose mmdebstrap does not end, and an engine without the image."""

    def __init__(self, base, engine):
        super().__init__(base, base.person("root"))
        self.engine = engine
        archive = rootfs.Rootfs(self.state / "part.tar", self.person)
        archive.directory("./etc")
        archive.file("./etc/part", b"x" * 4096)
        program = self.person.write(self.state / "mmdebstrap", MMDEBSTRAP.format(archive=archive.close()), 0o755)
        self.mount = f"mount --bind '{program}' /usr/bin/mmdebstrap && exec \"$@\""

    def options(self, given):
        outer = ["unshare", "--mount", "/bin/sh", "-c", self.mount, "sh"]
        env = {"DOCKER_HOST": self.engine.host, **given.get("env", {})}
        return super().options({"outer": outer, **given, "env": env})

    def scratch(self):
        top = pathlib.Path("/var/tmp/hutch-build-0")
        return list(top.glob(f"*-{self.pid()}/mmdebstrap.begun")) if top.exists() else []

    def begins(self):
        harness.wait_until(self.scratch, "it builds")

    def expect_nothing_left(self):
        harness.wait_until(lambda: not self.scratch(), "nothing is left of the build")
        assert not self.has_image()

    def has_image(self):
        return self.engine.ask("GET", f"/v1.41/images/{IMAGE}/json")[0] == 200

    def remains(self):
        return [one for one in super().remains() if not one.startswith("cgroup ")]


@pytest.fixture
def building(loaded_engine, base):
    assert loaded_engine.ask("DELETE", f"/v1.41/images/{IMAGE}?force=1")[0] == 200
    made = Building(base, loaded_engine)
    made("agent", "create", "a", "backend=container", f"image={IMAGE}", "autonomousExec.enabled=true").ok()
    yield made
    made("agent", "remove", "a").ok()
    made.stop()
    status, text = loaded_engine.ask("POST", f"/v1.41/images/{TESTS_IMAGE}/tag?repo=hutch-sandbox&tag=latest")
    assert status == 201, text


def begin(building, *words):
    process = building.popen(*words)
    building.begins()
    return process


@pytest.mark.parametrize("verb", ["stop", "reset"])
def test_the_agent_is_stopped(building, verb):
    process = begin(building, "agent", "start", "a")
    building("agent", verb, "a")
    _, told = process.communicate(timeout=60)
    assert process.returncode != 0 and b"it was stopped" in told, told
    building.expect_nothing_left()


def test_the_client_leaves(building):
    """The start that it began is the agent's, whoever waits for it: that is what is stopped."""
    process = begin(building, "tool", "call", "a", "sandbox_install", '{"packages": ["tree"]}')
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    building("agent", "stop", "a")
    building.expect_nothing_left()


def test_the_daemon_ends(building):
    process = begin(building, "agent", "start", "a")
    pid = building.pid()
    building("daemon", "stop").ok()
    harness.wait_until(lambda: not daemons.is_running(pid), "the daemon has ended")
    process.communicate(timeout=60)
    assert process.returncode != 0 and not building.has_image()
    assert not list(pathlib.Path("/var/tmp/hutch-build-0").glob(f"*-{pid}"))


def test_the_daemon_ends_while_its_pool_builds(building):
    building("settings", "set", "sandbox.image", "hutch-sandbox").ok()
    with contextlib.closing(api.UnixConnection(building.socket)) as connection:
        connection.request("POST", "/v1/pool/sandboxes", body='{"trust": "sandboxed", "backend": "container"}',
                           headers={"Content-Type": "application/json"})
        building.begins()
        building("daemon", "stop").ok()
        assert connection.getresponse().status != 201
    assert not building.has_image()
