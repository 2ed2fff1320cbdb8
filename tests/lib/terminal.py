# A terminal with hutch in it: what a person would see and type.
"""Terminal(person, argv) starts a program on a new PTY of which it is the session's leader; with room="none" on one
that nobody has read for long."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import harness


# Tells its terminal's size over and over, and exits with 3 at SIGINT. Not a shell: its trap is lost when the signal
# comes while a substitution is being forked, or another trap runs. It waits before it says so: with the signal,
# the kernel drops what was printed and not yet read (stty(1), noflsh), and maybe what comes just after it.
WATCHER = [
    "python3",
    "-c",
    """
import os, signal, time

def interrupted(*_):
    time.sleep(0.2)
    os.write(1, b"interrupted\\n")
    os._exit(3)

signal.signal(signal.SIGINT, interrupted)
while True:
    size = os.get_terminal_size()
    os.write(1, f"size:{size.lines} {size.columns}\\n".encode())
    time.sleep(0.1)
""",
]


def fill(slave):
    """Leaves no room, as where nobody reads for long. The kernel moves what was written on, which makes room again."""
    own = os.open(os.ttyname(slave), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        while select.select([], [own], [], 0.5)[1]:
            with contextlib.suppress(BlockingIOError):
                os.write(own, b"." * 256)
    finally:
        os.close(own)


class Terminal:
    """Use as a context manager; everything printed so far is in `seen`."""

    def __init__(self, person, argv, cwd=None, env=None, rows=24, columns=80, outer=(), room="there is"):
        self.master, slave = pty.openpty()
        if room == "none":
            fill(slave)
        self.seen = b""
        self.resize(rows, columns)
        self.found = self.attributes()  # before anything runs there
        self.process = harness.start_in(
            person,
            ["/usr/bin/setsid", "--ctty", "--wait", *argv],
            cwd=cwd,
            env=env,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            outer=outer,
        )
        os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.master)  # hangs up: the programs on it get SIGHUP
        try:
            self.process.wait(harness.PATIENCE)
        finally:
            if self.process.poll() is None:
                harness.kill_group(self.process)
                self.process.wait()

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, data):
        os.write(self.master, data if isinstance(data, bytes) else data.encode())

    def attributes(self):
        """termios attributes, to compare from before and after a run."""
        return termios.tcgetattr(self.master)

    def read_until(self, wanted, seconds=45.0):
        """Reads until `wanted` (bytes) has been printed; fails with all that was seen."""
        deadline = time.monotonic() + seconds
        while wanted not in self.seen:
            assert time.monotonic() < deadline, f"never printed {wanted!r}; seen: {self.seen[-4000:]!r}"
            assert (
                self.read_some(0.2) is not None or wanted in self.seen
            ), f"ended before {wanted!r}; seen: {self.seen[-4000:]!r}"
        return self.seen

    def read_some(self, seconds):
        """What comes within that time: b"" for nothing, None once the other side is closed."""
        if not select.select([self.master], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return None  # EIO: the last slave is closed
        self.seen += data
        return data or None

    def running(self, program):
        """The pid of the first process of that name that was started here, or None."""
        descendants = [self.process.pid]
        for pid in descendants:
            with contextlib.suppress(OSError):
                if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == program:
                    return pid
                with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
                    descendants += [int(child) for child in children.read().split()]
        return None

    def end_unread(self, program):
        """Tells the program to end, as kill(1) does, and waits until it has; reads nothing. What started it may wait
        for a reader."""
        os.kill(harness.wait_until(lambda: self.running(program), f"{program} runs"), signal.SIGTERM)
        harness.wait_until(lambda: self.running(program) is None, f"{program} has ended")

    def wait(self, seconds=45.0):
        """Reads to the end; the exit code as a shell says it."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"no end after {seconds} s; seen: {self.seen[-4000:]!r}"
            self.read_some(0.05)
        while self.read_some(0.05):
            pass
        return harness.shell_code(self.process.returncode)
