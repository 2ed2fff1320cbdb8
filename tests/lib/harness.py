# The rig under the suites that run the real programs: who runs them, where, and what came out.
"""Fixtures built on this are in tests/conftest.py. Nothing here knows what a single suite asserts."""

import dataclasses
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
USER_ID = 61234  # an ordinary user; it needs no line in /etc/passwd
BACKENDS = ["none", "bwrap", "namespace"]  # that everybody has
PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]
PATIENCE = 60.0  # seconds that one run may take on a slow, busy machine
POLL = 0.05


@dataclasses.dataclass(frozen=True)
class Person:
    """Who runs hutch: root, or an ordinary user with a home of its own."""

    name: str
    uid: int
    home: pathlib.Path
    groups: str = dataclasses.field(default="", kw_only=True)  # supplementary ones, as numbers with commas

    @property
    def is_root(self):
        return self.uid == 0

    @property
    def gid(self):
        return self.uid

    @property
    def runner(self):
        """Whose state and record are those of hutch: not always whose the files are."""
        return self

    def command(self, argv):
        """`argv` as this person: the process keeps its pid, setpriv execs."""
        if os.geteuid() == self.uid:
            return [str(word) for word in argv]
        drop = ["/usr/bin/setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), *self.group_options()]
        return drop + [str(word) for word in argv]

    def group_options(self):
        return ["--groups", self.groups] if self.groups else ["--clear-groups"]

    def environment(self, extra=None):
        """A small, fixed environment; `extra` adds to it, and a value of None takes away."""
        base = {"PATH": PATH, "HOME": str(self.home), "USER": self.name, "LOGNAME": self.name, "LANG": "C.UTF-8",
                "TERM": "xterm", "XDG_CONFIG_HOME": str(self.home / ".config"),
                "XDG_DATA_HOME": str(self.home / ".local/share")}
        if self.is_root:
            # Its own places are the machine's: what one test takes back or answers there would be another's.
            base["HUTCH_STATE"] = str(self.home.parents[1] / "state-of-root")
        # Where a sanitizer writes to: what the daemon says goes to a file that is gone with the test.
        base.update({name: value for name, value in os.environ.items() if name == "TSAN_OPTIONS"})
        base.update(extra or {})
        return {key: value for key, value in base.items() if value is not None}

    def own(self, path):
        """Gives `path` to this person."""
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)
        return path

    def mkdir(self, path, mode=0o755):
        """A directory of this person's, its parents too where they are lacking."""
        path = pathlib.Path(path)
        if not path.parent.exists():
            self.mkdir(path.parent)
        path.mkdir()
        path.chmod(mode)
        return self.own(path)

    def write(self, path, content="", mode=0o644):
        """A file of this person's, with its directory."""
        path = pathlib.Path(path)
        if not path.parent.exists():
            self.mkdir(path.parent)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return self.own(path)


@dataclasses.dataclass(frozen=True)
class Result:
    """How a program ended: `code` as the shell would say it (128+n for a signal), `out` and `err` as bytes."""

    argv: list
    code: int
    out: bytes
    err: bytes
    seconds: float

    @property
    def text(self):
        return self.out.decode(errors="replace")

    @property
    def errors(self):
        return self.err.decode(errors="replace")

    def ok(self):
        """Itself, after asserting exit code 0."""
        assert self.code == 0, str(self)
        return self

    def __str__(self):
        command = " ".join(self.argv)
        return f"$ {command}\nexit code {self.code}\nstdout: {self.out[-4000:]!r}\nstderr: {self.err[-4000:]!r}"


class Base:
    """The session's scratch directory, which every person can walk through, with a copy of the programs.

    It is not below /tmp: a sandbox's own /tmp would hide it, and with it how the rest of a home is hidden.
    """

    def __init__(self):
        parent = os.environ.get("HUTCH_TEST_BASE", "/var/tmp")
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="hutch-tests-", dir=parent)).resolve()
        self.path.chmod(0o755)
        self.taken = {}
        self.bin = self.copy_programs(pathlib.Path(os.environ.get("HUTCH_BIN", ROOT / "build/release/bin")))

    def unused(self, name):
        """A path for a fixture of many tests, which is set up again where tests of two engines take turns."""
        self.taken[name] = self.taken.get(name, 0) + 1
        return self.path / (name if self.taken[name] == 1 else f"{self.taken[name]}-{name}")

    def copy_programs(self, built):
        """The checkout may lie where an ordinary user cannot reach."""
        target = self.path / "bin"
        target.mkdir()
        for name in ("hutch", "hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack"):
            if (built / name).exists():
                shutil.copy(built / name, target / name)
                (target / name).chmod(0o755)
        if (built / "attacks").exists():
            shutil.copytree(built / "attacks", target / "attacks")
        return target

    def person(self, name):
        uid = 0 if name == "root" else USER_ID if os.geteuid() == 0 else os.geteuid()
        home = self.path / "home" / name
        person = Person(name, uid, home)
        if not home.exists():
            home.parent.mkdir(exist_ok=True)
            home.parent.chmod(0o755)
            person.mkdir(home, 0o755)
        return person

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Hutch:
    """Runs the hutch program as one person in one directory. Call it with hutch's own arguments."""

    def __init__(self, base, person, cwd, backend=None):
        self.program = base.bin / "hutch"
        self.guest = base.bin / "hutch-guest"
        self.person, self.cwd, self.backend = person, cwd, backend

    def __call__(self, *args, **options):
        """`hutch ARGS`. Options: stdin (bytes, or an open file), env, cwd, timeout, wrap, pass_fds."""
        return run_in(self.person, [self.program, *args], **{"cwd": self.cwd, **options})

    def run(self, *command, options=(), backend=None, **kw):
        """`hutch run --backend B OPTIONS -- COMMAND`; B is the test's backend unless it says otherwise."""
        return self("run", *self.backend_option(backend), *options, "--", *command, **kw)

    def sh(self, script, **kw):
        """The same for a shell script."""
        return self.run("/bin/sh", "-c", script, **kw)

    def popen(self, *command, options=(), backend=None, **kw):
        """`hutch run ...` started and not waited for; its pid is hutch's own. Use as a context manager."""
        argv = [self.program, "run", *self.backend_option(backend), *options, "--", *command]
        return start_in(self.person, argv, **{"cwd": self.cwd, **kw})

    def variables(self):
        """What its environment has to have besides."""
        return {}

    def backend_option(self, backend):
        chosen = backend or self.backend
        return ["--backend", chosen] if chosen else []


class Started(subprocess.Popen):
    """A program that ends when a failure leaves its block: Popen waits for it, and the failure would not be told."""
    def __exit__(self, exc_type, value, traceback):
        if exc_type:
            kill_group(self)
        super().__exit__(exc_type, value, traceback)


def start_in(person, argv, cwd=None, env=None, wrap=(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
             stderr=subprocess.PIPE, outer=(), **options):
    """Starts a program, outside of any sandbox, as `person`; `wrap` goes before it (strace and its options), `outer`
    before the change to that person (nsenter)."""
    command = [*outer, *person.command([*wrap, *argv])]
    return Started(command, cwd=cwd or person.home, env=person.environment(env), stdin=stdin, stdout=stdout,
                   stderr=stderr, start_new_session=True, umask=0o022, **options)


def run_in(person, argv, stdin=b"", timeout=PATIENCE, **options):
    """Runs a program as `person` to its end. A timeout is a failure that shows what was printed until then."""
    began = time.monotonic()
    given = {"stdin": subprocess.PIPE} if isinstance(stdin, bytes) else {"stdin": stdin}
    process = start_in(person, argv, **given, **options)
    try:
        out, err = process.communicate(stdin if isinstance(stdin, bytes) else None, timeout=timeout)
    except subprocess.TimeoutExpired:
        kill_group(process)
        out, err = process.communicate()
        raise AssertionError(f"no end after {timeout} s: {process.args}\nstdout: {out!r}\nstderr: {err!r}") from None
    return Result(process.args, shell_code(process.returncode), out or b"", err or b"", time.monotonic() - began)


def shell_code(returncode):
    return 128 - returncode if returncode < 0 else returncode


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def wait_until(holds, what, seconds=45.0):
    """Polls until `holds()` is true and returns what it answered; otherwise fails, naming `what`."""
    deadline = time.monotonic() + seconds
    while True:
        answer = holds()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"not so after {seconds} s: {what}"
        time.sleep(POLL)


def processes_with(marker):
    """The pids whose command line contains `marker`: give a sandboxed command a unique word to find what it left."""
    wanted, found = marker.encode(), []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as cmdline:
                if wanted in cmdline.read():
                    found.append(int(name))
        except OSError:
            continue  # it ended meanwhile
    return found


class Compiler:
    """Static C programs, compiled once each and copied to where a sandbox can run them."""

    def __init__(self, base):
        self.cache = base.path / "compiled"
        self.cache.mkdir()

    def build(self, source, flags=()):
        digest = hashlib.sha256("\0".join([source, *flags]).encode()).hexdigest()[:16]
        program = self.cache / digest
        if not program.exists():
            command = ["gcc", "-static", "-O1", "-w", "-D_GNU_SOURCE", "-x", "c", "-", "-o", str(program), *flags]
            made = subprocess.run(command, input=source.encode(), stderr=subprocess.PIPE, check=False)
            assert made.returncode == 0, made.stderr.decode()
        return program

    def install(self, source, directory, person, name, flags=()):
        target = pathlib.Path(directory) / name
        shutil.copy(self.build(source, flags), target)
        target.chmod(0o755)
        return person.own(target)
