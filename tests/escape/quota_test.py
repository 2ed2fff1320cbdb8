# One sandbox fills what the kernel counts for its user or the machine: others, the daemon and the person go on.
"""By a user of this suite's own: the counts are kept by uid, and other tests are other people's."""

import contextlib
import fcntl
import json
import os
import pathlib
import socketserver
import sys
import threading

import pytest

import daemons
import harness

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import quotas  # noqa: E402

PYTHON = "/usr/bin/python3"
FILLER = 61290
NAMES = [quota.name for quota in quotas.QUOTAS]
ISOLATING = [name for name in harness.BACKENDS if name != "none"]


@pytest.fixture(params=["filler", "root"] if os.geteuid() == 0 else ["filler"], scope="module")
def person(request, base):
    if request.param == "root":
        return base.person("root")
    if os.geteuid() != 0:
        return base.person("user")
    made = harness.Person("filler", FILLER, base.unused("home-of-filler"))
    made.mkdir(made.home, 0o755)
    return made


@pytest.fixture(autouse=True)
def alone(base):
    """The counts are one user's: of the processes that run these tests, one fills them at a time."""
    with open(base.path.parent / "hutch-tests-quotas.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def place(base, person):
    """Two projects of that person's, and a daemon with an agent of each backend."""
    made = Place(base, person)
    yield made
    made.daemon.stop()


class Place:
    def __init__(self, base, person):
        self.person = person
        self.ours, self.others = (person.mkdir(person.home / "quotas" / name) for name in ("ours", "others"))
        self.base, self.agents = base, {}
        self.daemon = daemons.Daemon(base, person)

    def hutch(self, directory, backend):
        return harness.Hutch(self.base, self.person, directory, backend)

    def agent(self, backend):
        if backend not in self.agents:
            self.agents[backend] = self.daemon.create(f"backend={backend}", "autonomousExec.enabled=true")
            self.daemon.exec(self.agents[backend], "/bin/true").ok()
        return self.agents[backend]

    @contextlib.contextmanager
    def filled(self, quota, backend, options=()):
        """While one sandbox holds all that it can get: how much that is."""
        with self.hutch(self.ours, backend).popen(PYTHON, "-c", quota.fill, options=options) as process:
            line = process.stdout.readline()
            assert line.strip().isdigit(), (line, process.stderr.read() if not line else b"")
            yield int(line)
            process.communicate(b"", timeout=harness.PATIENCE)

    def neighbours(self, quota, backend):
        """What becomes of those who need a little of it at the same time."""
        inside = [PYTHON, "-c", quota.use] if quota.inside else ["/bin/true"]
        return {
            "another sandbox": self.hutch(self.others, backend).run(*inside),
            "the daemon": self.daemon.exec(self.agent(backend), *inside),
            "a file of the agent's": self.daemon("tool", "call", self.agent(backend), "sandbox_write_file",
                                                 '{"path": "f", "content": "x"}'),
            "the person": harness.run_in(self.person, [PYTHON, "-c", quota.use]),
        }


@pytest.mark.parametrize("quota", quotas.QUOTAS, ids=NAMES)
@pytest.mark.parametrize("backend", ISOLATING)
def test_what_one_sandbox_fills_others_still_have(place, backend, quota):
    place.agent(backend)
    with place.filled(quota, backend) as held:
        results = place.neighbours(quota, backend)
    failed = {who: (result.out + result.err)[-300:] for who, result in results.items() if result.code != 0}
    assert not failed, failed
    assert held <= quota.most(quota.limit()), f"{held} of {quota.limit()}"


@pytest.mark.parametrize("quota", [one for one in quotas.QUOTAS if one.falls],
                         ids=[one.name for one in quotas.QUOTAS if one.falls])
def test_where_nothing_isolates_one_takes_all(place, quota):
    if place.person.is_root and quota.name not in ("inotify instances", "inotify watches", "fanotify groups"):
        pytest.skip("root is asked for no limit of its own here")
    with place.filled(quota, "none") as held:
        person = harness.run_in(place.person, [PYTHON, "-c", quota.use])
    assert held > quota.most(quota.limit()) and person.code != 0, (held, str(person))


FILL_FILES = """
import os
total = 0
for directory in {directories}:
    try:
        with open(os.path.join(directory, "large"), "wb", buffering=0) as file:
            for _ in range(300):
                total += file.write(bytes(1 << 20))
    except OSError:
        pass
print(total)
"""


def private_directories(hutch):
    """Those that are memory, as the sandbox itself sees them."""
    mounts = hutch.run("/bin/cat", "/proc/self/mounts").ok().text
    return [line.split()[1] for line in mounts.splitlines() if line.split()[2] == "tmpfs" and ",ro" not in line
            and not line.split()[3].startswith("ro")]


@pytest.mark.parametrize("backend", ISOLATING)
def test_private_directories_together_hold_no_more_than_the_limit_of_memory(place, backend):
    hutch = place.hutch(place.ours, backend)
    directories = private_directories(hutch)
    assert "/tmp" in directories and len(directories) >= 4, directories
    script = FILL_FILES.format(directories=repr(directories))
    result = hutch.run(PYTHON, "-c", script, options=["--memory", "256M"])
    # A cgroup ends what goes beyond.
    assert result.code == 137 or 0 < int(result.ok().text) <= 256 << 20, str(result)


@pytest.mark.parametrize("backend", ISOLATING)
def test_private_directories_are_a_half_of_the_memory_by_default(place, backend):
    hutch = place.hutch(place.ours, backend)
    sizes = "import os, sys\nprint(sum(os.statvfs(d).f_blocks * os.statvfs(d).f_frsize for d in sys.argv[1:]))"
    total = int(hutch.run(PYTHON, "-c", sizes, *private_directories(hutch)).ok().text)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert memory // 4 < total <= memory // 2


MEMORY_FILES = """
import ctypes, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
taken = 0
try:
    for number in range(8):
        descriptor = os.memfd_create("m%d" % number)
        for _ in range(64):
            taken += os.write(descriptor, bytes(1 << 20))
except OSError:
    pass
for number in range(8):
    if libc.shmget(number + 7, ctypes.c_size_t(64 << 20), 0o1600) >= 0:
        taken += 64 << 20
print(taken, libc.shmget(0, ctypes.c_size_t(56), 0o1600) >= 0)
"""


@pytest.mark.parametrize("backend", ISOLATING)
def test_files_of_memory_hold_no_more_than_the_limit_of_memory(place, backend):
    hutch = place.hutch(place.ours, backend)
    result = hutch.run(PYTHON, "-c", MEMORY_FILES, options=["--memory", "128M"])
    if result.code != 137:
        taken, small = result.ok().text.split()
        assert int(taken) <= 128 << 20 and small == "True", str(result)
    free = hutch.run(PYTHON, "-c", "import os; os.memfd_create('x')")
    assert free.code == 0, str(free)


@pytest.mark.parametrize("backend", ISOLATING)
def test_where_rlimits_hold_memory_it_is_said(place, backend):
    hutch = place.hutch(place.ours, backend)
    told = hutch.run("/bin/true", options=["--memory", "128M"]).ok().errors
    by_rlimits = "memory per process" in hutch("doctor").text
    assert ("for each process" in told) == by_rlimits, told
    assert "for each process" not in hutch.run("/bin/true").ok().errors


EMPTY_FILES = """
import os
count = 0
try:
    for count in range(40000):
        os.close(os.open("/tmp/%d" % count, os.O_CREAT | os.O_WRONLY))
except OSError:
    pass
print(count)
"""


def test_empty_files_are_counted(place):
    """By the backend namespace: bubblewrap has no option for the number of files of a tmpfs."""
    hutch = place.hutch(place.ours, "namespace")
    made = int(hutch.run(PYTHON, "-c", EMPTY_FILES, options=["--memory", "64M"]).ok().text)
    assert 16000 < made < 16400


@pytest.mark.parametrize("backend", ISOLATING)
def test_a_command_has_the_soft_limit_of_descriptors_of_whoever_starts_it(place, backend):
    hutch = place.hutch(place.ours, backend)
    limits = "import resource; print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    soft, hard = map(int, hutch.run(PYTHON, "-c", limits, wrap=["prlimit", "--nofile=1000:8000"]).ok().text.split())
    assert (soft, hard) == (1000, 4000)
    outside = harness.run_in(place.person, [PYTHON, "-c", limits], wrap=["prlimit", "--nofile=1000:8000"]).ok().text
    none = place.hutch(place.ours, "none").run(PYTHON, "-c", limits, wrap=["prlimit", "--nofile=1000:8000"]).ok().text
    assert none == outside


CONNECTIONS = """
import socket, sys
kept = []
for _ in range(700):
    try:
        kept.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5))
        kept[-1].sendall(b"x")
        kept[-1].recv(1)
    except OSError:
        kept.pop() if kept and kept[-1].fileno() < 0 else None
alive = 0
for one in kept:
    try:
        one.sendall(b"x")
        alive += one.recv(1) == b"x"
    except OSError:
        pass
print(alive, flush=True)
sys.stdin.read()
"""


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(100):
            self.request.sendall(data)


class EchoServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 512


@pytest.fixture
def small_daemon(base, person):
    """One that has few descriptors, and an echo of the host's that its sandboxes reach."""
    made = daemons.Daemon(base, person)
    server = EchoServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    network = {"hostPorts": [server.server_address[1]]}
    policy = person.write(made.state / "policy.json", json.dumps({"network": network}))
    made("agent", "list", wrap=["prlimit", "--nofile=1200:1200"]).ok()
    yield made, policy, server.server_address[1]
    server.shutdown()
    server.server_close()
    made.stop()


@pytest.mark.parametrize("backend", ISOLATING)
def test_connections_of_one_agent_leave_descriptors_for_others(small_daemon, backend):
    daemon, policy, port = small_daemon
    greedy, other = (daemon.create(f"backend={backend}", f"policy={policy}") for _ in range(2))
    with daemon.popen("exec", greedy, "--", PYTHON, "-c", CONNECTIONS, str(port)) as process:
        alive = process.stdout.readline()
        for _ in range(20):
            daemon.exec(other, "/bin/true").ok()
        assert alive.strip() and 20 <= int(alive) <= 50, (alive, process.stderr)
        process.communicate(b"", timeout=harness.PATIENCE)
