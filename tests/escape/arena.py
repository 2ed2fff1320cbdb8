# What the attacks are let loose on: secrets, services and processes of the host, and a project with rules.
"""An Arena is one person's. Everything in it is the host's side: what an attack changed is seen from here."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import harness

ATTACKS = pathlib.Path(__file__).parent / "attacks"
SECRET = "the-secret-word-of-the-arena"
RULES = [
    "--deny-read",
    "denied",
    "--deny-read",
    "denied-file",
    "--deny-write",
    "locked",
    "--deny-write",
    "deep/er/locked",
]
QUEUE = "import ctypes; print(ctypes.CDLL(None).msgget(0, 0o1600))"  # IPC_PRIVATE, IPC_CREAT | 0600
REMOVE_QUEUE = "import ctypes, sys; ctypes.CDLL(None).msgctl(int(sys.argv[1]), 0, None)"


def header(attack):
    """The lines `// key: value` at the head of an attack."""
    text = (ATTACKS / f"{attack}.c").read_text(encoding="utf-8")
    return dict(re.findall(r"^// (none|stdin|stdout|machine): (.+)$", text, re.MULTILINE))


def works_unprotected(attack, person):
    """Whether the attack succeeds on the backend none, as its head says."""
    said = header(attack)["none"].split(";")[0]
    return said == "succeeds" or said == f"succeeds as {person.name}"


class Arena:
    def __init__(self, person, project):
        self.person, self.project = person, project
        self.closing = []
        self.make_files()
        self.make_services()

    def make_files(self):
        write, project = self.person.write, self.project
        self.home_secret = project.parents[1] / "secret"
        write(self.home_secret, SECRET)
        for path in (
            "denied/secret",
            "denied-file",
            "locked/file",
            "deep/er/locked/file",
            ".git/hooks/pre-commit",
            ".git/config",
            ".bashrc",
            ".mcp.json",
            ".vscode/tasks.json",
            "nested/.git/hooks/pre-commit",
            "nested/.git/config",
        ):
            write(project / path, f"{SECRET} in {path}\n")
        shutil.copy("/usr/bin/id", project / "suid-id")
        (project / "suid-id").chmod(0o4755)
        self.shared = [pathlib.Path(top) / f"hutch-arena-{os.getpid()}-{id(self)}" for top in ("/dev/shm", "/tmp")]
        for path in self.shared:
            write(path, SECRET)
        self.stream = write(project.parent / f"{project.name}-stream", f"{SECRET}\n")
        self.guarded = [
            project / path
            for path in (
                "locked/file",
                "deep/er/locked/file",
                ".git/hooks/pre-commit",
                ".git/config",
                ".bashrc",
                "denied/secret",
                "denied-file",
            )
        ] + [self.home_secret, self.stream]
        self.before = self.state()

    def make_services(self):
        # An ordinary word in the environment: what /proc of a process of the host would give away.
        self.victim = harness.start_in(self.person, ["/usr/bin/sleep", "3600"], env={"VICTIM": SECRET})
        self.closing.append(lambda: (self.victim.kill(), self.victim.wait()))
        self.abstract = f"hutch-arena-{os.getpid()}-{id(self)}"
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.abstract)
        # A socket's path may not be long (unix(7)): bound beneath a descriptor, connected to by its bare name.
        directory = os.open(self.project, os.O_PATH)
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, f"/proc/self/fd/{directory}/service.sock")
        self.listen(socket.AF_UNIX, socket.SOCK_DGRAM, f"/proc/self/fd/{directory}/datagram.sock")
        os.close(directory)
        for name in ("service.sock", "datagram.sock"):
            (self.project / name).chmod(0o777)
        self.port = self.listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)).getsockname()[1]
        made = harness.run_in(self.person, [sys.executable, "-c", QUEUE], cwd="/")
        self.queue = int(made.ok().out)
        self.closing.append(lambda: subprocess.run([sys.executable, "-c", REMOVE_QUEUE, str(self.queue)], check=False))

    def listen(self, family, kind, address):
        made = socket.socket(family, kind)
        made.bind(address)
        if kind == socket.SOCK_STREAM:
            made.listen(64)
        self.closing.append(made.close)
        return made

    def environment(self):
        return {
            "SECRET_WORD": SECRET,
            "HOME_SECRET": self.home_secret,
            "VICTIM_PID": self.victim.pid,
            "QUEUE_ID": self.queue,
            "SOCKET_PATH": "service.sock",
            "DATAGRAM_PATH": "datagram.sock",
            "ABSTRACT_NAME": self.abstract,
            "LISTEN_PORT": self.port,
            "SHM_PATH": self.shared[0],
            "TMP_PATH": self.shared[1],
        }

    def options(self):
        options = list(RULES)
        for name, value in self.environment().items():
            options += ["--env", f"{name}={value}"]
        return options

    def state(self):
        """What must not change: content, mode, owner and times of everything that is guarded."""
        found = {}
        for path in self.guarded:
            try:
                info = path.lstat()
                found[str(path)] = (info.st_ino, info.st_mode, info.st_uid, info.st_mtime_ns, path.read_bytes())
            except OSError as error:
                found[str(path)] = error.errno
        return found

    def changes(self):
        now = self.state()
        changed = [path for path, was in self.before.items() if now[path] != was]
        if self.victim.poll() is not None:
            changed.append("the host's process is gone")
        return changed

    def close(self):
        for close in reversed(self.closing):
            close()
        for path in self.shared:
            path.unlink(missing_ok=True)
