# A daemon of a test's own: its state directory, its agents, and what must be gone when it is.
"""Daemon(base, person) runs hutch with HUTCH_STATE; the daemon starts by itself with the first command."""

import itertools
import json
import os
import pathlib
import signal

import harness

NUMBERS = itertools.count(1)
# What one daemon left is told once: the daemons that come after it have not left it.
TOLD = set()


class Daemon:
    def __init__(self, base, person, program=None):
        self.base, self.person = base, person
        self.program = pathlib.Path(program or base.bin / "hutch")
        top = base.path / "state"
        if not top.exists():
            top.mkdir()
            top.chmod(0o755)
        self.state = person.mkdir(top / str(next(NUMBERS)))
        self.socket = self.state / "run/hutch.sock"
        self.data = self.state / "data"
        self.names = itertools.count(1)
        self.pids = set()

    def __call__(self, *args, **options):
        """`hutch ARGS` to its end."""
        return harness.run_in(self.person, [self.program, *args], **self.options(options))

    def popen(self, *args, **options):
        return harness.start_in(self.person, [self.program, *args], **self.options(options))

    def options(self, given):
        environment = {"HUTCH_STATE": str(self.state), **given.pop("env", {})}
        return {"cwd": "/", "env": environment, **given}

    def json(self, *args, **options):
        return json.loads(self(*args, "--json", **options).ok().out)

    # --- agents ---

    def create(self, *settings, name=None):
        """A new agent's name."""
        name = name or f"a{next(self.names)}"
        if "backend=none" in settings:
            self("settings", "set", "security.sandboxOnly", "false").ok()
        self("agent", "create", name, *settings).ok()
        return name

    def status(self, name):
        return self.json("agent", "show", name)["status"]

    def exec(self, name, *command, options=(), **kw):
        return self("exec", *options, name, "--", *command, **kw)

    def sh(self, name, script, **kw):
        return self.exec(name, "/bin/sh", "-c", script, **kw)

    def detach(self, name, script, *options):
        """The id of a command in the background."""
        return self("exec", "-d", *options, name, "--", "/bin/sh", "-c", script).ok().text.strip()

    def processes(self, name):
        return {one["pid"]: one for one in self.json("ps", name)}

    def tool(self, name, tool, **arguments):
        """The envelope."""
        return json.loads(self("tool", "call", name, tool, json.dumps(arguments)).out)

    # --- the daemon itself ---

    def guests(self):
        """How many sandboxes it has: each has one process that is its child, and a supervisor beside it."""
        beside = [child for child in children(self.pid()) if is_supervisor(child)]
        return len(children(self.pid())) - len(beside)

    def pid(self):
        """Of the daemon, None where none runs."""
        pid = self.json("daemon", "status").get("pid")
        self.pids.add(pid)
        return pid

    def kill(self):
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        harness.wait_until(lambda: not is_running(pid), "the daemon is gone")

    def log(self):
        path = self.data / "daemon.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def stop(self):
        """Ends it, and asserts that nothing of it is left."""
        pid = self.pid()
        self("daemon", "stop").ok()
        if pid:
            harness.wait_until(lambda: not is_running(pid), "the daemon has ended")
        self.expect_nothing_left()

    def expect_nothing_left(self):
        try:
            harness.wait_until(lambda: not self.remains(), "nothing is left")
        except AssertionError as error:
            left = self.remains()
            TOLD.update(left)
            raise AssertionError(f"left behind: {left}") from error

    def remains(self):
        """Processes, mounts, cgroups and sockets that are this daemon's."""
        found = [f"process {pid}: {command}" for pid, command in self.own_processes().items()]
        mounts = pathlib.Path("/proc/self/mounts").read_text()
        found += [line for line in mounts.splitlines() if str(self.state) in line]
        found += [f"cgroup {name}" for name in cgroups() if self.is_own(name)]
        if self.socket.exists():
            found.append(str(self.socket))
        return [one for one in found if one not in TOLD]

    def is_own(self, cgroup):
        """The number of whoever made it is in its name. One that another test's hutch left is not this one's."""
        return int(cgroup.rsplit("-", 2)[1]) in self.pids

    def own_processes(self):
        """By pid: whoever has this state directory in its environment, or an agent's home in it."""
        found = {}
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                environment = pathlib.Path(f"/proc/{name}/environ").read_bytes()
                if str(self.state).encode() + b"\0" in environment or self.is_of_sandbox(name, environment):
                    found[int(name)] = pathlib.Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
        return found

    def is_of_sandbox(self, pid, environment):
        """A program's environment is its own to change: what it has mounted is not."""
        if f"={self.data}/".encode() in environment:
            return True
        mounts = pathlib.Path(f"/proc/{pid}/mountinfo").read_text()
        return f"{self.data}/workspace" in mounts or self.is_lost_guest(pid)

    def is_lost_guest(self, pid):
        """The guest of a sandbox without isolation that nobody's daemon has any more."""
        name = os.readlink(f"/proc/{pid}/exe")
        return name == str(self.program.parent / "hutch-guest") and parent(pid) == 1


def cgroups():
    """The cgroups that hutch made for sandboxes."""
    # os.walk goes on where one goes away meanwhile.
    return {f"{top}/{name}" for top, names, _ in os.walk("/sys/fs/cgroup") for name in names
            if name.startswith("hutch-run-")}


def parent(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def is_supervisor(pid):
    try:
        return b"--access" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def children(pid):
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and parent(name) == pid:
                found.append(int(name))
        except OSError:
            continue
    return found


def is_running(pid):
    """Also while threads of one whose first thread has ended still hold its sockets open (proc(5), stat)."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z" or threads(pid) > 1
    except OSError:
        return False


def descendants(pid):
    found = children(pid)
    return found + [below for child in found for below in descendants(child)]


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def memory(pid):
    """Bytes of its own that are in memory."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss_Anon:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no Pss_Anon")
