# Failing one system call of a start at a time with strace, and judging what came of it.
"""The rule: with any one call failing, either nothing runs, hutch exits with 125 and says which call it was; or what
runs is as strongly confined as ever. There is no third."""

import collections
import os
import pathlib
import re
import tempfile

# What looks at the machine and makes the walls. Of other calls (read, poll, mmap) a failure is not the set-up's.
SET_UP = [
    "unshare",
    "setgroups",
    "clone",
    "fork",
    "vfork",
    "mount",
    "umount2",
    "pivot_root",
    "fsopen",
    "fsconfig",
    "fsmount",
    "open_tree",
    "mount_setattr",
    "move_mount",
    "openat2",
    "mkdirat",
    "symlinkat",
    "sethostname",
    "ioctl",
    "prctl",
    "capset",
    "landlock_create_ruleset",
    "landlock_add_rule",
    "landlock_restrict_self",
    "seccomp",
    "setsid",
    "chdir",
    "fchdir",
    "dup2",
    "close_range",
    "rt_sigprocmask",
    "signalfd4",
    "socketpair",
    "sendmsg",
    "recvmsg",
    "openat",
    "write",
    "fcntl",
    "fstat",
    "clone3",
    "mkdir",
    "symlink",
    "creat",
    "pipe2",
    "pidfd_open",
    "eventfd2",
    "prlimit64",
    "socket",
    "bind",
    "listen",
    "setns",
    "recvfrom",
    "epoll_create1",
    "epoll_ctl",
    "sendto",
    "recvfrom",
    "statfs",
    "statx",
    "newfstatat",
    "readlink",
    "getdents64",
]
STRACE = "/usr/bin/strace"
CALL = re.compile(r"^(\d+) +(?:[\d.]+ +)?(\w+)\(")
ATTEMPT = re.compile(r"^(init exe|unix socket|vsock|unshare user|unshare mounts|terminal): (.*)$")


class Sweep:
    """One person, one backend, one place; `hutch` is the fixture."""

    def __init__(self, hutch, payload, mark):
        self.hutch, self.payload, self.mark = hutch, payload, pathlib.Path(mark)

    def run(self, *strace):
        self.mark.unlink(missing_ok=True)
        # strace's own report goes nowhere unless a file is named.
        output = () if "-o" in strace else ("-o", "/dev/null")
        result = self.hutch.run(self.payload, str(self.mark), wrap=[STRACE, "-f", "-q", *output, *strace])
        return result, self.mark.exists()

    def counts(self):
        """For each set-up call, the most times that one process of a start makes it. The payload's own are left out."""
        with tempfile.TemporaryDirectory(dir=self.mark.parent) as scratch:
            os.chmod(scratch, 0o777)
            trace = pathlib.Path(scratch) / "trace"
            result, ran = self.run("-o", str(trace), "-e", "trace=" + ",".join([*SET_UP, "execve"]))
            assert ran and result.code == 0, str(result)
            lines = trace.read_text(errors="replace").splitlines()
        found, finished = collections.defaultdict(collections.Counter), set()
        for line in lines:
            made = CALL.match(line)
            if not made or made[1] in finished:
                continue
            # The name cannot be read of a process that is neither dumpable nor root: the payload to be.
            if f'execve("{self.payload}"' in line or "execve(0x" in line:
                finished.add(made[1])
            found[made[2]][made[1]] += 1
        return {call: max(found[call].values()) for call in SET_UP if found[call]}

    def baseline(self):
        result, ran = self.run("-e", "trace=none")
        assert ran and result.code == 0, str(result)
        return strength(result.out)

    def fails(self, call, number, baseline):
        """What is wrong when the `number`th `call` of each process fails; empty when nothing is."""
        error = "EAGAIN" if call in ("clone", "clone3", "fork", "vfork") else "EPERM"
        result, ran = self.run("-e", f"inject={call}:error={error}:when={number}")
        if ran or result.out:
            now = strength(result.out)
            lost = sorted(set(baseline) - set(now)) + sorted(set(now) - set(baseline))
            return f"the payload ran, and otherwise confined: {lost[:4]}" if lost and result.out else ""
        if result.code != 125:
            return f"exit code {result.code}: {result.errors[-300:]}"
        if call == "write" and not result.errors:
            return ""  # the words themselves were the call that failed
        last = result.errors.strip().splitlines()[-1] if result.errors.strip() else ""
        if not last.startswith("hutch: "):
            return f"no word of hutch's: {result.errors[-300:]}"
        return ""


def strength(out):
    """What the payload printed of its walls, without what differs from run to run."""
    lines = []
    for line in out.decode(errors="replace").splitlines():
        if line.startswith("ns "):
            _, name, found = line.split()
            line = f"ns {name} {'the host' if found == os.readlink(f'/proc/self/ns/{name}') else 'own'}"
        # Whether it was refused counts, not the error: the payload's own call may be the one that is made to fail, and
        # a call that the init can no longer answer is refused with another one.
        attempt = ATTEMPT.match(line)
        if attempt and attempt[2] != "done":
            line = f"{attempt[1]}: refused"
        lines.append(line)
    return lines
