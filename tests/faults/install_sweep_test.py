# The fault sweep of an installation's start: root of an image runs as confined as planned, or not at all.
"""The sandbox of the agent's commands runs already; strace takes hold of the daemon, and so of what it starts for the
installation. What is called apt-get in the image says how strong the walls round it are."""

import collections
import contextlib
import os
import pathlib
import signal
import subprocess
import sys

import daemons
import harness
import pytest
import rootfs

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import sweep  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(sweep.STRACE), reason="strace is not installed")
PAYLOAD = (pathlib.Path(__file__).parent / "payload.c").read_text(encoding="utf-8")
# What starts and confines it; of the others a failure is one of the conversation with the daemon.
TALK = {"write", "recvmsg", "sendmsg", "recvfrom", "sendto", "epoll_ctl"}
CALLS = [call for call in sweep.SET_UP if call not in TALK]


class Sweep:
    def __init__(self, daemon, agent):
        self.daemon, self.agent, self.pid = daemon, agent, daemon.pid()

    @contextlib.contextmanager
    def strace(self, *options):
        """The daemon's threads, and all that they start from here on."""
        process = subprocess.Popen([sweep.STRACE, "-f", "-p", str(self.pid), *options], stderr=subprocess.PIPE)
        try:
            assert b"attached" in process.stderr.readline()
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=harness.PATIENCE)

    def install(self):
        """How strong the walls were; None where nothing ran, and what was said then."""
        said = self.daemon("tool", "call", self.agent, "sandbox_install", '{"packages": ["x"]}', timeout=90)
        text = said.text
        ran = "NoNewPrivs" in text
        lines = text.encode().decode("unicode_escape", "replace") if ran else ""
        return (sweep.strength(lines.encode(errors="replace")) if ran else None), said

    def counts(self, scratch):
        trace = scratch / "trace"
        with self.strace("-o", str(trace), "-e", "trace=" + ",".join([*CALLS, "execve"])):
            ran, said = self.install()
        assert ran, str(said)
        found, own = collections.defaultdict(collections.Counter), set(os.listdir(f"/proc/{self.pid}/task"))
        finished = set()
        for line in trace.read_text(errors="replace").splitlines():
            made = sweep.CALL.match(line)
            if not made or made[1] in own or made[1] in finished:
                continue
            if 'execve("/usr/bin/apt-get"' in line or "execve(0x" in line:
                finished.add(made[1])
            found[made[2]][made[1]] += 1
        return {call: max(found[call].values()) for call in CALLS if found[call]}

    def fails(self, call, number, baseline):
        error = "EAGAIN" if call in ("clone", "clone3", "fork", "vfork") else "EPERM"
        with self.strace("-o", "/dev/null", "-e", f"inject={call}:error={error}:when={number}"):
            ran, said = self.install()
        if ran is not None:
            lost = sorted(set(baseline) ^ set(ran))
            return f"it ran, and otherwise confined: {lost[:4]}" if lost else ""
        if not said.text.strip() and not said.errors.strip():
            return "nothing was said"
        return ""


@pytest.fixture(params=rootfs.OWNERS)
def daemon(request, base, compiler):
    """One of root, of a user alone, and of one with subordinate ids; its image has a shell's worth of nothing else."""
    made = daemons.Daemon(base, rootfs.owner(base, request.param))
    archive = rootfs.Rootfs(made.state / "walls.tar", made.person)
    for directory in (".", "./usr", "./usr/bin", "./bin", "./etc", "./root", "./tmp"):
        archive.directory(directory)
    for name in ("./usr/bin/apt-get", "./bin/true"):
        archive.file(name, compiler.build(PAYLOAD, ("-static",)).read_bytes())
    path = archive.close()
    made("image", "import", "walls", path).ok()
    path.unlink()
    yield made
    for name in [one["name"] for one in made.json("agent", "list")]:
        made("agent", "remove", name).ok()
    made("image", "remove", "walls").ok()
    made.stop()


def test_the_first_and_the_last_of_each_call(daemon, base):
    agent = daemon.create("image=walls", "autonomousExec.enabled=true")
    daemon.exec(agent, "/bin/true").ok()
    swept = Sweep(daemon, agent)
    baseline, said = swept.install()
    assert baseline and any(line.startswith("CapBnd") for line in baseline), str(said)
    guests, wrong, tried = daemon.guests(), [], 0
    for call, count in swept.counts(daemon.state).items():
        for number in sorted({1, count}):
            tried += 1
            problem = swept.fails(call, number, baseline)
            if problem:
                wrong.append(f"{call} #{number} of {count}: {problem}")
            assert daemon.pid() == swept.pid, f"{call} #{number}: the daemon has gone"
            left = f"nothing is left of an installation whose {call} #{number} failed"
            harness.wait_until(lambda: daemon.guests() <= guests, left, seconds=20)
            # The one beside may have been told to end; the next call starts it again.
            daemon.exec(agent, "/bin/true").ok()
    assert tried > 20
    assert not wrong, "\n".join(wrong)
    assert swept.install()[0] == baseline, "as it was before"
