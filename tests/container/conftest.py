# Engines of the tests' own: dockerd and podman's service, each with its own data and its own socket.
import http.client
import itertools
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

import pytest

import daemons
import harness
import host_image

START_SECONDS = 40
IMAGE = "hutch-tests:latest"  # and hutch's own default
numbers = itertools.count(1)


class LocalConnection(http.client.HTTPConnection):
    """HTTP by a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=120)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Engine:
    """A service that runs until stop(); the socket is as the service makes it."""

    def __init__(self, name, command, place):
        self.name, self.command, self.place = name, command, place
        self.socket = place / "engine.sock"
        self.log = place / "log"
        self.process = None

    @property
    def host(self):
        return f"unix://{self.socket}"

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            if self.answers():
                return self.socket.chmod(0o666)
            time.sleep(0.05)
        self.stop()
        words = self.log.read_text(errors="replace").strip().splitlines()
        pytest.skip(f"{self.name} does not start here: {words[-1] if words else 'it says nothing'}")

    def answers(self):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(5)
            try:
                probe.connect(str(self.socket))
                probe.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
                return b" 200 " in probe.recv(64)
            except OSError:
                return False

    def ask(self, method, target, body=None, kind="application/json"):
        """The status and the text of its answer."""
        connection = LocalConnection(self.socket)
        try:
            connection.request(method, target, body, {"Content-Type": kind} if body else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")
        finally:
            connection.close()

    def load(self, archive, name=IMAGE):
        """The root file system becomes an image."""
        repository, tag = name.rsplit(":", 1)
        with open(archive, "rb") as body:
            status, text = self.ask("POST", f"/v1.41/images/create?fromSrc=-&repo={repository}&tag={tag}", body,
                                    "application/x-tar")
        assert status == 200, text

    def containers(self):
        """What `docker ps --all` lists, as the API has it."""
        # podman fails while one of them ends.
        for _ in range(5):
            status, text = self.ask("GET", "/v1.41/containers/json?all=1")
            if status == 200:
                return json.loads(text)
            time.sleep(0.1)
        raise AssertionError(text)

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


def docker(place):
    return Engine("dockerd", ["dockerd", "--data-root", place / "data", "--exec-root", place / "exec",
                              "--host", f"unix://{place}/engine.sock", "--pidfile", place / "pid",
                              "--bridge=none", "--iptables=false"], place)


def podman(place):
    return Engine("podman", ["podman", "--root", place / "data", "--runroot", place / "run", "system", "service",
                             "-t", "0", f"unix://{place}/engine.sock"], place)


PROGRAMS = {"docker": ("dockerd", docker), "podman": ("podman", podman)}


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def engine(request):
    """A real engine that runs; `request.param` is its name to hutch."""
    program, make = PROGRAMS[request.param]
    if os.geteuid() != 0:
        pytest.skip("an engine of the tests' own is started by root")
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    # Short: the name of a socket has 107 bytes at most.
    place = pathlib.Path(tempfile.mkdtemp(prefix="hutch-e"))
    made = make(place)
    made.kind = request.param
    try:
        made.start()
        # Whoever may use it is root of the machine: in these tests everybody.
        place.chmod(0o755)
        yield made
    finally:
        made.stop()
        # What an engine leaves mounted goes before its directory does.
        mounts = [line.split()[4] for line in open("/proc/self/mountinfo", encoding="utf-8")]
        for mount in sorted((m for m in mounts if m.startswith(f"{place}/")), reverse=True):
            subprocess.run(["umount", "-l", mount], check=False)
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def host_archive(base):
    """A root file system of this machine's own programs."""
    if not shutil.which("dpkg"):
        pytest.skip("the tests' image is made of the packages of a Debian")
    return host_image.archive(base.path / f"host-{next(numbers)}.tar")


@pytest.fixture(scope="module")
def loaded_engine(engine, host_archive):
    """One that has the image."""
    engine.load(host_archive)
    status, text = engine.ask("POST", f"/v1.41/images/{IMAGE}/tag?repo=hutch-sandbox&tag=latest")
    assert status == 201, text
    return engine


class ContainerDaemon(daemons.Daemon):
    """Whose agents are containers of that engine."""

    def __init__(self, base, person, engine):
        super().__init__(base, person)
        self.engine = engine

    def options(self, given):
        return super().options({**given, "env": {"DOCKER_HOST": self.engine.host, **given.get("env", {})}})

    def create(self, *settings, name=None):
        return super().create("backend=container", f"image={IMAGE}", *settings, name=name)

    def guests(self):
        return len(self.engine.containers())

    def remains(self):
        # The cgroups are the engine's.
        others = [one for one in super().remains() if not one.startswith("cgroup ")]
        return others + [f"container {one['Names']}" for one in self.engine.containers()]


@pytest.fixture(scope="module")
def daemon(loaded_engine, base):
    made = ContainerDaemon(base, base.person("root"), loaded_engine)
    yield made
    made.stop()


@pytest.fixture
def agent(daemon):
    """A new agent, removed at the end of the test."""
    name = daemon.create()
    yield name
    daemon("agent", "remove", name).ok()


any_agent = agent


class ContainerHutch(harness.Hutch):
    """hutch whose runs are containers of that engine."""

    def __init__(self, engine, state, *others):
        super().__init__(*others, "container")
        self.engine, self.state = engine, state

    def __call__(self, *args, **options):
        return super().__call__(*args, **self.with_engine(options))

    def popen(self, *command, **options):
        return super().popen(*command, **self.with_engine(options))

    def with_engine(self, options):
        environment = {"DOCKER_HOST": self.engine.host, "HUTCH_STATE": str(self.state), **(options.get("env") or {})}
        return {**options, "env": environment}

    def backend_option(self, backend):
        return ["--backend", "container", "--image", IMAGE]


@pytest.fixture
def backend(loaded_engine):
    return "container"


@pytest.fixture
def hutch(base, as_user, project, request):
    """As everywhere; a test that takes `backend` as well runs in containers, and leaves none."""
    if "backend" not in request.fixturenames:
        yield harness.Hutch(base, as_user, project)
        return
    engine = request.getfixturevalue("loaded_engine")
    yield ContainerHutch(engine, as_user.mkdir(as_user.home / f"state-{next(numbers)}"), base, as_user, project)
    harness.wait_until(lambda: not engine.containers(), "no container is left")
