# A small internet for tests: two network namespaces, one in which hutch runs and one with the hosts that it reaches.
"""Nothing of it touches the machine's own network. Addresses are those of documentation (RFC 5737, RFC 3849)."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import harness

NEAR, FAR = "192.0.2.1", "192.0.2.2"
NEAR6, FAR6 = "2001:db8:1::1", "2001:db8:1::2"
DNS = "203.0.113.53"

# What the DNS of this internet knows.
NAMES = {
    "good.example": {"a": ["203.0.113.10"], "aaaa": ["2001:db8:2::10"]},
    "other.example": {"a": ["203.0.113.11"]},
    "api.good.example": {"a": ["203.0.113.12"]},
    "six.example": {"aaaa": ["2001:db8:2::16"]},
    "two.example": {"a": ["203.0.113.99", "203.0.113.10"]},  # nobody has the first
    "private.example": {"a": ["192.168.7.7"]},
    "loop.example": {"a": ["127.0.0.1"], "aaaa": ["::1"]},
    "meta.example": {"a": ["169.254.169.254"]},
    "mapped.example": {"aaaa": ["::ffff:192.168.7.7"]},
    "nat64.example": {"aaaa": ["64:ff9b::c0a8:707"]},
    "near.example": {"a": [NEAR]},  # the host's own address
    "xn--bcher-kva.example": {"a": ["203.0.113.13"]},
    "wrong.example": {"a": ["203.0.113.14"]},
}
UNCERTIFIED = {"wrong.example"}  # the certificate of its server is another host's
# The private addresses have a server as well: what is refused would otherwise work.
ADDRESSES = ["203.0.113.10/32", "203.0.113.11/32", "203.0.113.12/32", "203.0.113.13/32", "203.0.113.14/32",
             "203.0.113.53/32", "192.168.7.7/32", "169.254.169.254/32", "2001:db8:2::10/128", "2001:db8:2::16/128"]


def missing():
    """Why the network namespaces cannot be made here, or None."""
    if os.geteuid() != 0:
        return "making two connected network namespaces needs root"
    for program in ("ip", "nsenter", "unshare", "openssl"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    return None


class Internet:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir()
        self.directory.chmod(0o755)
        self.processes = []
        self.make_certificates()
        (self.directory / "world.json").write_text(json.dumps(NAMES))
        self.www = self.directory / "www"
        self.www.mkdir()
        self.near = self.namespace("--mount")
        self.far = self.namespace()
        self.connect()
        self.server = self.start_server()

    # --- what tests ask ---

    def enter(self, cwd="/"):
        """What goes before a command line that is to run in hutch's namespace, in that directory."""
        return ["nsenter", "--target", str(self.near.pid), "--net", "--mount", f"--wdns={cwd}", "--"]

    def log(self, what=None):
        """What the hosts saw, oldest first."""
        path = self.directory / "log"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [line for line in lines if what is None or line["what"] == what]

    def forget(self):
        """From here on the log is empty."""
        os.truncate(self.directory / "log", 0)

    def move(self, name, **addresses):
        """Another answer for a name from now on: move("x.example", a=["127.0.0.1"])."""
        (self.directory / f"name-{name}").write_text(json.dumps(addresses))

    def start(self, *argv, **options):
        """A program of the far side, as another host would run it; ends with the internet."""
        process = subprocess.Popen(["nsenter", "--target", str(self.far.pid), "--net", "--", *map(str, argv)],
                                   **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **options})
        self.processes.append(process)
        return process

    def listens(self, port, address="203.0.113.10"):
        """Whether something of the far side does, at that port."""
        probe = f"exec 3<>/dev/tcp/{address}/{port}"
        tried = subprocess.run([*self.enter(), "bash", "-c", probe], stderr=subprocess.DEVNULL, check=False)
        return tried.returncode == 0

    @property
    def ca(self):
        return self.directory / "ca.pem"

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    stream.close()

    # --- making it ---

    def namespace(self, *options):
        process = subprocess.Popen(["unshare", "--net", *options, "--", "sh", "-c", "echo made; exec sleep infinity"],
                                   stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        self.processes.append(process)
        assert process.stdout.readline() == b"made\n"
        return process

    def ip(self, where, *words):
        subprocess.run(["nsenter", "--target", str(where.pid), "--net", "--", "ip", *words], check=True)

    def connect(self):
        self.ip(self.near, "link", "add", "out", "type", "veth", "peer", "name", "in", "netns", str(self.far.pid))
        for where, link, address, address6 in [(self.near, "out", NEAR, NEAR6), (self.far, "in", FAR, FAR6)]:
            self.ip(where, "link", "set", "lo", "up")
            self.ip(where, "addr", "add", f"{address}/24", "dev", link)
            self.ip(where, "-6", "addr", "add", f"{address6}/64", "dev", link, "nodad")
            self.ip(where, "link", "set", link, "up")
        for address in ADDRESSES:
            # Else it is tentative for a moment, in which nobody can bind to it (RFC 4862, 5.4).
            self.ip(self.far, "addr", "add", address, "dev", "lo", *["nodad"] * (":" in address))
        self.ip(self.near, "route", "add", "default", "via", FAR)
        self.ip(self.near, "-6", "route", "add", "default", "via", FAR6)
        self.cover("resolv.conf", f"nameserver {DNS}\n")
        # ssh runs for nobody who has no name.
        people = pathlib.Path("/etc/passwd").read_text(encoding="utf-8")
        self.cover("passwd", f"{people}hutch-test:x:{harness.USER_ID}:{harness.USER_ID}::/nonexistent:/bin/sh\n")

    def lend(self, machine):
        """Its DNS to a machine of other tests, whose programs run in this network."""
        machine.file("/etc/resolv.conf").unlink(missing_ok=True)
        machine.file("/etc/resolv.conf").write_text((self.directory / "resolv.conf").read_text())

    def cover(self, name, text):
        """Another content of /etc/NAME, where hutch runs."""
        (self.directory / name).write_text(text)
        subprocess.run([*self.enter(), "mount", "--bind", str(self.directory / name),
                        os.path.realpath(f"/etc/{name}")], check=True)

    def start_server(self):
        script = pathlib.Path(__file__).resolve().parent / "internet_server.py"
        server = self.start(sys.executable, script, self.directory)
        assert server.stdout.readline() == b"ready\n"
        return server

    def make_certificates(self):
        """An authority, and one certificate for every name."""
        def openssl(*words):
            subprocess.run(["openssl", *words], cwd=self.directory, check=True, capture_output=True)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key",
                "-out", "ca.pem", "-subj", "/CN=Test Authority", "-days", "30")
        names = ",".join(f"DNS:{name}" for name in NAMES if name not in UNCERTIFIED)
        (self.directory / "ext").write_text(f"subjectAltName={names}\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "server.key",
                "-out", "server.csr", "-subj", "/CN=good.example")
        openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-out", "server.pem", "-days", "30", "-extfile", "ext")
        (self.directory / "ca.pem").chmod(0o644)


@contextlib.contextmanager
def running(directory):
    """An internet below that directory; the test is skipped where this machine cannot make one."""
    why = missing()
    if why:
        # The suite of attacks, which is shipped, asks missing() itself and has no pytest.
        import pytest

        pytest.skip(why)
    made = Internet(directory)
    yield made
    made.stop()


class NetHutch(harness.Hutch):
    """hutch in the internet's near namespace."""

    def __init__(self, internet, *args):
        super().__init__(*args)
        self.internet = internet

    def __call__(self, *args, **options):
        return super().__call__(*args, **{"outer": self.internet.enter(options.get("cwd", self.cwd)), **options})

    def popen(self, *command, **options):
        return super().popen(*command, **{"outer": self.internet.enter(options.get("cwd", self.cwd)), **options})
