# A lane is a process that runs the cases of one backend; root's attacks without walls run in namespaces of their own.
"""Without those, a control of root's would change the host: its mounts, its names, its network. The parent reads a line
of JSON for each outcome."""

import concurrent.futures
import ctypes
import dataclasses
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading

import rig as rigs
from cases import ERROR, HELD, NOBODY, NOT_RUN, NotRun, Outcome

APART = ["unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]
PR_SET_CHILD_SUBREAPER = 36
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def start(backend, arguments):
    """The process of a lane; keys go to its standard input."""
    apart = APART if backend == "none" and os.geteuid() == 0 else []
    command = [*apart, sys.executable, "-I", "-B", sys.argv[0], "--lane", backend, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def missing():
    """Why root's control cannot be run, or None."""
    for program in ("unshare", "mount"):
        if os.geteuid() == 0 and not shutil.which(program):
            return f"{program} is missing, without which the attacks of root would change this host; install util-linux"
    return None


def jobs():
    return max(2, len(os.sched_getaffinity(0)))


def run(backend, cases, hutch, here, directory):
    """The lane itself: cases by their keys from standard input."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if backend == "none" and os.geteuid() == 0:
        raise_loopback()
        cover_shared_directories(directory, hutch, here)
    rig = rigs.Rig(hutch, backend, here, directory)
    signal.signal(signal.SIGTERM, lambda *_: end(rig))
    wanted = json.loads(sys.stdin.readline())
    threading.Thread(target=watch_parent, args=(rig,), daemon=True).start()
    chosen = [case for case in cases if case.key in wanted]
    lock = threading.Lock()

    def make(group):
        for key, outcome in outcomes(rig, group).items():
            with lock:
                print(json.dumps({"key": key, **dataclasses.asdict(outcome)}), flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        list(pool.map(make, groups(chosen)))
    rig.close()


def watch_parent(rig):
    """The end of the standard input is the parent's: a signal would not pass unshare(1)."""
    sys.stdin.read()
    end(rig)


def groups(cases):
    """Those that take long first: they are of the groups."""
    found = {}
    for case in cases:
        found.setdefault(case.together or case.key, []).append(case)
    return sorted(found.values(), key=lambda group: not group[0].together)


def outcomes(rig, group):
    try:
        if not rig.isolates and not any(case.bites == NOBODY or case.is_to_bite(rig.is_root) for case in group):
            return {case.key: Outcome(HELD) for case in group}
        reason = rig.reason_against(group[0])
        if reason:
            raise NotRun(reason)
        return group[0].attempt(rig, group)
    except NotRun as reason:
        return {case.key: Outcome(NOT_RUN, str(reason)) for case in group}
    except (AssertionError, OSError, ValueError, subprocess.SubprocessError) as error:
        return {case.key: Outcome(ERROR, f"{type(error).__name__}: {error}"[:2000]) for case in group}


def cover_shared_directories(*needed):
    """The attacks use names that are known: where everybody writes, another user could have put something there."""
    for shared in ("/tmp", "/dev/shm"):
        if not any(str(path).startswith(f"{shared}/") for path in needed):
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "none", shared], check=True)


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        name = b"lo".ljust(16, b"\0")
        flags = struct.unpack("16xh", fcntl.ioctl(made, SIOCGIFFLAGS, name + bytes(24))[:18])[0]
        fcntl.ioctl(made, SIOCSIFFLAGS, name + struct.pack("h", flags | IFF_UP) + bytes(22))


def children_of(pid):
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as listed:
                found += [int(word) for word in listed.read().split()]
    except OSError:
        pass
    return found


def end(rig):
    """Whatever the lane has started ends; what it has made outside of its directory is taken away."""
    for _ in range(100):
        children = children_of(os.getpid())
        if not children:
            break
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
    rig.close()
    os._exit(128 + signal.SIGTERM)
