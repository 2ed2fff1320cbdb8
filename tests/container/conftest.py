# Engines of the tests' own: dockerd and podman's service, each with its own data and its own socket.
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

import pytest

START_SECONDS = 40


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
                return
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
        yield made
    finally:
        made.stop()
        # What an engine leaves mounted goes before its directory does.
        mounts = [line.split()[4] for line in open("/proc/self/mountinfo", encoding="utf-8")]
        for mount in sorted((m for m in mounts if m.startswith(f"{place}/")), reverse=True):
            subprocess.run(["umount", "-l", mount], check=False)
        shutil.rmtree(place, ignore_errors=True)
