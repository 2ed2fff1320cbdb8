# The supervisors of sandboxes, as tests find them and make them slow.
"""Where a call of the kernel has to take long, strace makes it so: a race is then won each time, or never."""

import contextlib
import pathlib
import subprocess

import harness


def supervisor_of(run):
    """The process beside the sandbox of `run` that makes its changes. It starts with the first of them."""
    return harness.wait_until(lambda: find_supervisor(run), "a supervisor")


def find_supervisor(run):
    for child in pathlib.Path(f"/proc/{run.pid}/task").glob("*/children"):
        for pid in child.read_text().split():
            with contextlib.suppress(OSError):
                if b"--access" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    return int(pid)
    return None


@contextlib.contextmanager
def slow(pid, call, seconds):
    """Each such call of the process begins only after that time."""
    tracer = subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-p", str(pid), "-e", f"trace={call}",
                               "-e", f"inject={call}:delay_enter={seconds * 1000000}"])
    try:
        traced = f"TracerPid:\t{tracer.pid}\n"
        harness.wait_until(lambda: traced in pathlib.Path(f"/proc/{pid}/status").read_text(), "strace")
        yield tracer
    finally:
        tracer.terminate()
        tracer.wait()


def is_in(pid, number):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/syscall").read_text().startswith(f"{number} ")
    return False
