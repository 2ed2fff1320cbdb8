# Engines of the tests' own: dockerd and podman's service, each with its own data and its own socket.
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

START_SECONDS = 40


class NotHere(Exception):
    """Why no engine can be had."""


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
        # podman 4.3 leaves there what it was given to import; conmon notes an OOM in its working directory.
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, cwd=self.place,
                                            env={**os.environ, "TMPDIR": str(self.place)})
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            if self.answers():
                return self.socket.chmod(0o666)
            time.sleep(0.05)
        self.stop()
        words = self.log.read_text(errors="replace").strip().splitlines()
        raise NotHere(f"{self.name} does not start here: {words[-1] if words else 'it says nothing'}")

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

    def load(self, archive, name):
        """The root file system becomes an image."""
        repository, tag = name.rsplit(":", 1)
        with open(archive, "rb") as body:
            status, text = self.ask("POST", f"/v1.41/images/create?fromSrc=-&repo={repository}&tag={tag}", body,
                                    "application/x-tar")
        assert status == 200, text

    def check_starts(self, image):
        """NotHere with the engine's own words where it starts no container at all, whoever asks: the plainest one.
        Kernels, cgroups and limits of some machines are not what an engine takes for granted."""
        try:
            said = self.start_plainest(image)
        except OSError as error:
            said = str(error)
        if said:
            raise NotHere(f"{self.name} starts no container here: {said}")

    def start_plainest(self, image):
        """What went wrong, or nothing."""
        body = {"Image": image, "Cmd": ["/bin/true"], "HostConfig": {
            "NetworkMode": "none", "Ulimits": [{"Name": name, "Soft": 1024, "Hard": 1024}
                                               for name in ("nofile", "nproc")]}}
        status, text = self.ask("POST", "/v1.41/containers/create", json.dumps(body))
        if status == 201:
            place = f"/v1.41/containers/{json.loads(text)['Id']}"
            try:
                status, text = self.ask("POST", f"{place}/start")
                if status == 204:
                    status, text = self.ask("POST", f"{place}/wait")
                    if status == 200 and json.loads(text)["StatusCode"] == 0:
                        return ""
            finally:
                self.ask("DELETE", f"{place}?force=true")
        return f"{status} {text.strip()}"

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


@contextlib.contextmanager
def running(kind):
    """A real engine that runs, "docker" or "podman"; NotHere where none can."""
    program, make = PROGRAMS[kind]
    if os.geteuid() != 0:
        raise NotHere("an engine of the tests' own is started by root")
    if not shutil.which(program):
        raise NotHere(f"{program} is not installed")
    # Short: the name of a socket has 107 bytes at most.
    place = pathlib.Path(tempfile.mkdtemp(prefix="hutch-e"))
    made = make(place)
    made.kind = kind
    try:
        made.start()
        # Whoever may use it is root of the machine: in these tests everybody.
        place.chmod(0o755)
        yield made
    finally:
        made.stop()
        # podman cleans up after its last containers by processes of their own, which mount its storage once more.
        for _ in range(20):
            remove(place)
            if not place.exists():
                break
            time.sleep(0.25)


def remove(place):
    """What an engine leaves mounted goes before its directory does."""
    mounts = [line.split()[4] for line in open("/proc/self/mountinfo", encoding="utf-8")]
    for mount in sorted((m for m in mounts if m.startswith(f"{place}/")), reverse=True):
        subprocess.run(["umount", "-l", mount], check=False)
    shutil.rmtree(place, ignore_errors=True)
