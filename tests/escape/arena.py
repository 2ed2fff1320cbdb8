# What the attacks are let loose on: secrets, services and processes of the host, and a project with rules.
"""An Arena is one person's. Everything in it is the host's side: what an attack changed is seen from here."""

import contextlib
import ctypes
import os
import pathlib
import selectors
import shutil
import socket
import struct
import sys
import threading

import harness

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
FILES = (
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
)
# A bare repository, a module and a worktree: what is obeyed in them is held as well.
REPOSITORIES = (
    "bare/HEAD",
    "bare/objects/x",
    "bare/refs/x",
    "bare/hooks/pre-commit",
    "bare/config",
    ".git/modules/m/HEAD",
    ".git/modules/m/hooks/pre-commit",
    ".git/modules/m/config",
    ".git/worktrees/w/commondir",
)
HOME_FILES = (
    ".ssh/id_ed25519",
    ".ssh/authorized_keys",
    ".aws/credentials",
    ".docker/config.json",
    ".bash_history",
    ".profile",
    ".claude/.credentials.json",
    ".claude/settings.json",
    ".mozilla/firefox/x.default/logins.json",
    ".config/autostart/there.desktop",
    ".config/systemd/user/there.service",
    ".local/bin/there",
)
GUARDED = (
    "locked/file",
    "deep/er/locked/file",
    ".git/hooks/pre-commit",
    ".git/config",
    ".bashrc",
    "denied/secret",
    "denied-file",
)
SESSION = (
    "bus",
    "systemd/private",
    "ssh-agent",
    "gnupg/S.gpg-agent",
    "wayland-0",
    "pipewire-0",
    "docker.sock",
    "podman/podman.sock",
    "tmux",
    "hutch/daemon.sock",
)
IPC_CREAT, IPC_RMID = 0o1000, 0
# A queue, a piece of shared memory that holds the secret, and a semaphore, as whoever runs this.
OBJECTS = """
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
def make(secret):
    queue, memory, semaphore = libc.msgget(0, 0o1600), libc.shmget(0, 4096, 0o1600), libc.semget(0, 1, 0o1600)
    place = libc.shmat(memory, None, 0)
    ctypes.memmove(place, secret, len(secret))
    libc.shmdt(ctypes.c_void_p(place))
    return queue, memory, semaphore
"""


def objects_of(person):
    if person.uid == os.geteuid():
        known = {}
        exec(OBJECTS, known)  # the same text that another person's interpreter runs
        return known["make"](SECRET.encode())
    script = f"{OBJECTS}\nprint(*make({SECRET.encode()!r}))"
    made = harness.run_in(person, [sys.executable, "-c", script], cwd="/")
    return tuple(map(int, made.ok().text.split()))


def remove_objects(queue, memory, semaphore):
    libc = ctypes.CDLL(None)
    libc.msgctl(queue, IPC_RMID, None)
    libc.shmctl(memory, IPC_RMID, None)
    libc.semctl(semaphore, 0, IPC_RMID)


class Closing(contextlib.ExitStack):
    """What takes away what was made, also from another thread: nothing is made after its end."""

    def __init__(self):
        super().__init__()
        self.lock, self.ended = threading.Lock(), False

    @contextlib.contextmanager
    def making(self):
        """For what is there before it can be taken away."""
        with self.lock:
            if self.ended:
                raise OSError("the run ends")
            yield

    def close(self):
        # Whoever comes second waits: the process ends after it.
        with self.lock:
            self.ended = True
            super().close()


class Arena:
    def __init__(self, person, project, closing=None):
        """`closing` takes away what is made, also while only a part of it is."""
        self.person, self.project = person, project
        self.home = project.parents[1]
        self.closing = closing or Closing()
        self.listeners = []
        try:
            self.make_files()
            self.make_services()
        except BaseException:
            self.close()
            raise

    def make_files(self):
        write, project = self.person.write, self.project
        self.home_secret = self.home / "secret"
        write(self.home_secret, SECRET)
        for path in HOME_FILES:
            if not (self.home / path).exists():
                write(self.home / path, SECRET)
        self.sibling = write(project.with_name(f"{project.name}-beside") / "secret", SECRET)
        for path in FILES:
            write(project / path, f"{SECRET} in {path}\n")
        for path in REPOSITORIES:
            write(project / path)
        # By the name of the directory that all of a run is in, what a run has left can be told.
        self.abstract = f"hutch-arena-{project.parents[3].name}-{os.getpid()}-{id(self)}"
        self.shared = [pathlib.Path(top) / self.abstract for top in ("/dev/shm", "/tmp")]
        for path in self.shared:
            with self.closing.making():
                write_new(self.person, path, SECRET)
                self.closing.callback(path.unlink, missing_ok=True)
        self.stream = write(project.parent / f"{project.name}-stream", f"{SECRET}\n")
        self.guarded = [project / path for path in GUARDED] + [self.home / path for path in HOME_FILES]
        self.guarded += [self.home_secret, self.stream]
        self.before = self.state()

    def make_services(self):
        # An ordinary word in the environment: what /proc of a process of the host would give away.
        with self.closing.making():
            self.victim = harness.start_in(self.person, ["/usr/bin/sleep", "3600"], env={"VICTIM": SECRET})
            self.closing.callback(self.end_victim)
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.abstract)
        self.listen_at(self.project, "service.sock")
        self.listen_at(self.project, "datagram.sock", socket.SOCK_DGRAM)
        self.session = self.person.mkdir(self.home / "run" / self.project.name)
        for name in SESSION:
            if not (self.session / name).parent.exists():
                self.person.mkdir((self.session / name).parent)
            self.listen_at(self.session, name)
        self.port = self.listen(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 0)).getsockname()[1]
        self.datagram_port = self.listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)).getsockname()[1]
        with self.closing.making():
            self.objects = objects_of(self.person)
            self.closing.callback(remove_objects, *self.objects)
        self.stopped, ends = socket.socketpair()
        self.closing.callback(ends.close)
        self.thread = threading.Thread(target=self.serve, args=(ends,), daemon=True)
        self.thread.start()
        self.closing.callback(self.end_thread)

    def end_thread(self):
        self.stopped.close()
        self.thread.join()

    def end_victim(self):
        self.victim.kill()
        self.victim.wait()
        for stream in (self.victim.stdin, self.victim.stdout, self.victim.stderr):
            stream.close()

    def listen_at(self, directory, name, kind=socket.SOCK_STREAM):
        # A socket's path may not be long (unix(7)): bound beneath a descriptor, connected to by its bare name.
        opened = os.open(directory, os.O_PATH)
        self.listen(socket.AF_UNIX, kind, f"/proc/self/fd/{opened}/{name}")
        os.close(opened)
        (directory / name).chmod(0o777)

    def listen(self, family, kind, address):
        made = socket.socket(family, kind)
        made.bind(address)
        if kind == socket.SOCK_STREAM:
            made.listen(64)
        # The service ends only after its last answer: a client that has gone, or does not read, must not delay that.
        made.setblocking(False)
        self.closing.callback(made.close)
        if family == socket.AF_INET:
            self.listeners.append(made)
        return made

    def serve(self, ends):
        """The host's services answer with a word: a client that hears it has reached them."""
        with selectors.DefaultSelector() as waiting:
            for listener in [*self.listeners, ends]:
                waiting.register(listener, selectors.EVENT_READ)
            while True:
                for key, _ in waiting.select():
                    if key.fileobj is ends:
                        return
                    try:
                        self.answer(key.fileobj)
                    except OSError:
                        continue

    @staticmethod
    def answer(listener):
        if listener.type == socket.SOCK_DGRAM:
            _, sender = listener.recvfrom(2000)
            listener.sendto(b"host service", sender)
            return
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"host service")
            connection.shutdown(socket.SHUT_WR)
            # Without this the close is a reset, which takes the answer along.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 200_000))
            connection.recv(2000)

    def environment(self):
        queue, memory, semaphore = self.objects
        return {
            "SECRET_WORD": SECRET,
            "HOME_SECRET": self.home_secret,
            "SIBLING_SECRET": self.sibling,
            "ATTACKED_HOME": self.home,
            "PROJECT": self.project,
            "SESSION": self.session,
            "VICTIM_PID": self.victim.pid,
            "QUEUE_ID": queue,
            "MEMORY_ID": memory,
            "SEMAPHORE_ID": semaphore,
            "SOCKET_PATH": "service.sock",
            "DATAGRAM_PATH": "datagram.sock",
            "ABSTRACT_NAME": self.abstract,
            "LISTEN_PORT": self.port,
            "DATAGRAM_PORT": self.datagram_port,
            "SHM_PATH": self.shared[0],
            "TMP_PATH": self.shared[1],
        }

    def variables(self):
        """As options of hutch run."""
        return [word for name, value in self.environment().items() for word in ("--env", f"{name}={value}")]

    def options(self):
        return [*RULES, *self.variables()]

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
        changed += [str(path) for path in self.shared if not path.exists()]
        if self.victim.poll() is not None:
            changed.append("the host's process is gone")
        return changed

    def close(self):
        self.closing.close()


def write_new(person, path, content):
    """A file in a directory where others write too: nothing that is there already is opened, no link is followed."""
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with open(made, "w", encoding="utf-8") as file:
        file.write(content)
    return person.own(path)


def make_removable(top):
    """An attack may have closed directories; who owns them opens them again. By descriptors: what takes a directory's
    place meanwhile is not opened."""
    for _, folders, _, above in os.fwalk(top):
        for folder in folders:
            with contextlib.suppress(OSError):
                opened = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
                try:
                    os.chmod(f"/proc/self/fd/{opened}", 0o755)
                finally:
                    os.close(opened)


def remove_tree(top):
    make_removable(top)
    shutil.rmtree(top, ignore_errors=True)
