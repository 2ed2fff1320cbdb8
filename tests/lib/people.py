# A machine of the tests' own for people who are not root: an /etc, a /var/lib, a /run, in which `hutch init` ran.
"""In a mount namespace: the machine that the tests run on keeps its users. What systemd would do is done by
`Machine.listen`, from the unit files that hutch init wrote: one hutch-helper for each connection, with it as standard
input (systemd.socket(5), Accept=yes)."""

import contextlib
import dataclasses
import itertools
import os
import pathlib
import socket
import subprocess
import threading

import harness
from numbers_of_users import last_number

PEOPLE = {"carol": 61401, "dave": 61402, "frank": 61403}

MACHINES = itertools.count()

# systemctl is asked by hutch init; here somebody else listens.
SYSTEMCTL = "#!/bin/sh\necho \"$@\" >> /run/systemctl.log\n"
MAKE = """set -e
mount -t tmpfs -o mode=755 none /mnt
cp -a /etc /mnt/etc && mkdir /mnt/lib /mnt/run && printf '%s' "$0" > /mnt/systemctl && chmod 755 /mnt/systemctl
mount --bind /mnt/etc /etc
mount --bind /mnt/lib /var/lib
mount --bind /mnt/run /run
mount --bind /mnt/systemctl /usr/bin/systemctl
mkdir -p /run/lock /etc/systemd/system "$1"
sed -i "/^#*SYS_UID_M/d" /etc/login.defs
printf 'SYS_UID_MIN 200\\nSYS_UID_MAX %s\\n' "$2" >> /etc/login.defs
rm -f /etc/cron.allow /etc/at.allow; touch /etc/debian_version
echo made; exec sleep infinity
"""


def numbers():
    """The highest of a machine's users."""
    return last_number() - 30 * next(MACHINES)


class Machine:
    def __init__(self, base, directory, namespaces=("--mount",), starter="/run/systemd/system"):
        self.base, self.directory, self.namespaces = base, pathlib.Path(directory), namespaces
        self.directory.mkdir()
        self.directory.chmod(0o755)
        self.started = []
        self.holder = subprocess.Popen(["unshare", *namespaces, "sh", "-c", MAKE, SYSTEMCTL, starter, str(numbers())],
                                       stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        assert self.holder.stdout.readline() == b"made\n"
        for name, uid in PEOPLE.items():
            home = self.directory / name
            harness.Person(name, uid, home).mkdir(home, 0o755)
            self.root("useradd", "--uid", str(uid), "--user-group", "--no-create-home", "--home-dir", home, name)

    def enter(self, cwd="/"):
        return ["nsenter", "--target", str(self.holder.pid), *self.namespaces, f"--wdns={cwd}", "--"]

    def root(self, *argv):
        done = subprocess.run([*self.enter(), *map(str, argv)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done
        return done.stdout

    def person(self, name):
        return harness.Person(name, PEOPLE[name], self.directory / name)

    def hutch(self, name, cwd=None, backend="user"):
        person = self.person(name)
        return MachineHutch(self, person, cwd or person.home, backend)

    def init(self, *words):
        return self.root(self.base.bin / "hutch", "init", *words)

    def file(self, path):
        """A file of that machine, by this one's name for it."""
        return pathlib.Path(f"/proc/{self.holder.pid}/root{path}")

    def listen(self):
        """As the units say."""
        units = {name: dict(line.split("=", 1) for line in self.file(f"/etc/systemd/system/{name}").read_text()
                            .splitlines() if "=" in line and not line.startswith("#"))
                 for name in ("hutch-helper.socket", "hutch-helper@.service")}
        path, mode = units["hutch-helper.socket"]["ListenStream"], int(units["hutch-helper.socket"]["SocketMode"], 8)
        self.helper = units["hutch-helper@.service"]["ExecStart"]
        self.root("install", "-d", "-m", units["hutch-helper.socket"]["DirectoryMode"], str(pathlib.Path(path).parent))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.file(path)))
        self.file(path).chmod(mode)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.serve(connection)

    def serve(self, connection, env=None):
        """A helper for that connection. The process is the helper's own: nsenter execs."""
        process = subprocess.Popen([*self.enter(), self.helper], stdin=connection, env=env or {},
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        connection.close()
        self.started.append(process)
        return process

    def helpers(self):
        return [process for process in self.started if process.poll() is None]

    def stop(self):
        if hasattr(self, "listener"):
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
        for process in self.started:
            process.kill()
            process.wait()
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()


@dataclasses.dataclass(frozen=True)
class Keeper(harness.Person):
    """A person of that machine, whose sandboxes are another user. Files that tests make are that user's."""

    machine: Machine = None
    person: harness.Person = None
    group: int = 0

    @property
    def gid(self):
        return self.group

    @property
    def runner(self):
        return self.person

    def command(self, argv):
        # Another mount namespace has another working directory.
        enter = 'exec nsenter --target "$0" --mount --wdns="$PWD" -- "$@"'
        return ["/bin/sh", "-c", enter, str(self.machine.holder.pid), *self.person.command(argv)]

    def environment(self, extra=None):
        return self.person.environment(extra)


def keeper(machine, name):
    """For suites whose files lie in the home of who runs hutch: here in a home that everybody may look into."""
    line = next(line.split(":") for line in machine.file("/etc/passwd").read_text().splitlines()
                if line.startswith(f"hutch-{name}:"))
    home = machine.directory / f"keeper-{name}"
    user = harness.Person(line[0], int(line[2]), home)
    if not home.exists():
        user.mkdir(home, 0o755)
        machine.root("usermod", "--home", home, line[0])
    return Keeper(line[0], int(line[2]), home, machine, machine.person(name), int(line[3]))


class MachineHutch(harness.Hutch):
    """hutch as a person of that machine."""

    def __init__(self, machine, person, cwd, backend):
        super().__init__(machine.base, person, cwd, backend)
        self.machine = machine

    def outer(self, options):
        return {"outer": self.machine.enter(options.get("cwd", self.cwd)), **options}

    def __call__(self, *args, **options):
        return super().__call__(*args, **self.outer(options))

    def popen(self, *command, **options):
        return super().popen(*command, **self.outer(options))


@contextlib.contextmanager
def running(base):
    """A machine with a user for each person, and one for carol's bob."""
    machine = Machine(base, base.path / "machine")
    try:
        for words in (["--for", "carol"], ["--for", "dave"], ["--for", "frank"], ["--for", "carol", "--agent", "bob"]):
            machine.init(*words)
        machine.listen()
        yield machine
    finally:
        machine.stop()


def missing():
    """Why there can be no such machine here, or None."""
    return None if os.geteuid() == 0 else "a machine of the tests' own takes root"
