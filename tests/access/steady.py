# What could stall, end or wear out the supervisor; afterwards a file is made as before.
"""Runs in an empty directory. Prints a line of what each came to."""

import ctypes
import errno
import fcntl
import os
import shutil
import signal
import threading
import time

LIBC = ctypes.CDLL(None)
PR_SET_DUMPABLE, SYS_EXIT, CLONE_FS, CLONE_FILES = 4, 60, 0x200, 0x400


def make(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))


def change(path):
    os.close(os.open(path, os.O_WRONLY))


def in_child(call):
    """Whether a child process came to its end by itself."""
    pid = os.fork()
    if pid == 0:
        try:
            call()
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1]


def lease():
    """Who opens a leased file waits for it or is sent away; others do not wait."""
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    make("leased")
    fd = os.open("leased", os.O_RDWR)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except PermissionError:
        return  # in a sandbox, a lease would hold who opens the file outside

    def cut():
        os.close(fd)
        os.truncate("leased", 0)

    opener = threading.Thread(target=in_child, args=(cut,))
    opener.start()
    time.sleep(0.1)
    make("beside-a-lease")
    os.close(fd)
    opener.join()


def fifo():
    os.mkfifo("fifo")
    waits = threading.Thread(target=lambda: os.close(os.open("fifo", os.O_WRONLY | os.O_CREAT)))
    waits.start()
    time.sleep(0.1)
    make("beside-a-fifo")
    os.close(os.open("fifo", os.O_RDONLY))
    waits.join()


def crowd():
    threading.stack_size(65536)
    threads = [threading.Thread(target=make, args=(f"crowd-{i}",)) for i in range(500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(os.path.exists(f"crowd-{i}") for i in range(500))


def killed():
    for turn in range(60):
        pid = os.fork()
        while pid == 0:
            make("killed")
            os.unlink("killed")
        time.sleep(0.001 * (turn % 3))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def replaced():
    """Another thread starts a program during a call."""
    for _ in range(20):

        def start():
            def again():
                while True:
                    make("replaced")

            threading.Thread(target=again, daemon=True).start()
            time.sleep(0.002)
            os.execv("/bin/true", ["true"])

        assert in_child(start) == 0


def leaderless():
    def run():
        def late():
            time.sleep(0.2)
            make("leaderless")
            os._exit(0)

        threading.Thread(target=late).start()
        LIBC.syscall(SYS_EXIT, 0)

    assert in_child(run) == 0
    return os.path.exists("leaderless")


def unreadable():
    def run():
        LIBC.prctl(PR_SET_DUMPABLE, 0)
        make("unreadable")
        os._exit(0)

    return in_child(run)


def own_directory():
    """A thread with a current directory and descriptors of its own."""

    def run():
        def apart():
            LIBC.unshare(CLONE_FS)
            LIBC.unshare(CLONE_FILES)
            os.mkdir("apart")
            os.chdir("apart")
            make("inside")
            os.fchmod(os.open("inside", os.O_RDONLY), 0o600)
            os._exit(0)

        threading.Thread(target=apart).start()
        time.sleep(45)

    return in_child(run), oct(os.stat("apart/inside").st_mode)


def made_meanwhile():
    """What one thread makes and removes, others make things in: it is there or not, and never read-only."""
    seen, end = set(), time.monotonic() + 1.5

    def coming_and_going():
        while time.monotonic() < end:
            os.makedirs("meanwhile/in", exist_ok=True)
            shutil.rmtree("meanwhile", ignore_errors=True)

    def tried(call, *words):
        try:
            call(*words)
        except OSError as error:
            seen.add(errno.errorcode[error.errno])

    def trying():
        while time.monotonic() < end:
            tried(os.mkdir, "meanwhile/in/directory")
            tried(make, "meanwhile/in/file")
            tried(os.chmod, "meanwhile/in", 0o700)
            tried(os.rename, "meanwhile/in/file", "meanwhile/in/other")
            tried(os.symlink, "x", "meanwhile/in/link")
            tried(change, "meanwhile/in/other")
            tried(os.utime, "meanwhile/in/directory")

    threads = [threading.Thread(target=work) for work in (coming_and_going, trying, trying, trying)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(seen - {"ENOENT", "EEXIST", "ENOTEMPTY", "ENOTDIR"})


def many_calls():
    for _ in range(5000):
        make("many")


if __name__ == "__main__":
    parts = (lease, fifo, crowd, killed, replaced, leaderless, unreadable, own_directory, made_meanwhile, many_calls)
    for part in parts:
        answer = part()
        make("after-" + part.__name__)
        print(part.__name__, answer, flush=True)
