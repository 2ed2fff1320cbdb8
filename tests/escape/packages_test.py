# What a hostile package tries as root while it is installed: none of it succeeds, and each is known to be an attack.
"""An attack is a file of packages/, a C program that the script of a package runs. Where nothing protects, which is as
root of the host in namespaces of its own that keep the machine whole, each of them has to succeed."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys

import daemons
import harness
import packages
import pytest
import rootfs

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import arena as arenas  # noqa: E402

HERE = pathlib.Path(__file__).parent
NAMES = sorted(path.stem for path in (HERE / "packages").glob("*.c"))
SUCCEEDED, HELD = 0, 1
MARKER = f"741{os.getpid()}"
SCRIPT = """while read line; do export "$line"; done < /srv/arena
/usr/lib/attack-{name} > /srv/{name}.said 2>&1
echo $? > /srv/{name}.code"""

pytestmark = pytest.mark.skipif(not packages.are_there(), reason="no apt and dpkg to make a system of")


def package_of(name):
    return f"attack-{name.replace('_', '-')}"


@pytest.fixture
def programs(compiler):
    """The attacks, by name."""
    return {name: compiler.build((HERE / f"packages/{name}.c").read_text(encoding="utf-8"),
                                 ("-static", f"-I{HERE}/packages")) for name in NAMES}


class Victim:
    """What is to be kept: files, a service and a process of the host's side."""

    def __init__(self, person, top, agent_home):
        self.files = {"HOME_SECRET": top / "secret", "PROJECT_SECRET": top / "project/secret",
                      "AGENT_SECRET": agent_home / "secret"}
        person.mkdir(top / "project")
        for path in self.files.values():
            person.write(path, arenas.SECRET)
        self.path = top / "project/socket"
        self.service = socket.socket(socket.AF_UNIX)
        self.service.bind(str(self.path))
        self.path.chmod(0o777)
        self.service.listen()
        self.process = subprocess.Popen(["sleep", MARKER])

    def environment(self, **seen):
        named = {name: str(path) for name, path in self.files.items()}
        return {**named, "SOCKET": str(self.path), "MARKER": MARKER, "SECRET_WORD": arenas.SECRET, **seen}

    def is_whole(self):
        return self.process.poll() is None and all(
            path.read_text() == arenas.SECRET and path.stat().st_mode & 0o7777 == 0o644 for path in self.files.values())

    def close(self):
        self.process.kill()
        self.process.wait()
        self.service.close()


@pytest.fixture(params=rootfs.OWNERS)
def attacked(request, base, programs):
    """A daemon, an agent of it whose project is the victim's, and the victim."""
    daemon = daemons.Daemon(base, rootfs.owner(base, request.param))
    contents = [packages.Package(package_of(name), [(f"usr/lib/attack-{name}", path.read_bytes(), 0o755)],
                                 SCRIPT.format(name=name)) for name, path in programs.items()]
    daemon("image", "import", "system", packages.archive(daemon.state / "system.tar", daemon.person, contents)).ok()
    top = daemon.person.mkdir(daemon.state / "victim")
    agent = daemon.create("image=system", f"dir={daemon.person.mkdir(top / 'work')}", "autonomousExec.enabled=true")
    daemon.sh(agent, ":").ok()
    victim = Victim(daemon.person, top, daemon.data / "workspace/agents" / agent)
    yield daemon, agent, victim
    victim.close()
    daemon("agent", "remove", agent).ok()
    daemon("image", "remove", "system").ok()
    daemon.stop()


def test_no_attack_of_a_package_succeeds(attacked):
    daemon, agent, victim = attacked
    sleeper = daemon.detach(agent, f"sleep {MARKER}")
    seen = victim.environment(AGENT_SECRET=f"/workspace/agents/{agent}/secret")
    lines = "".join(f"{name}={value}\n" for name, value in seen.items())
    daemon.sh(agent, "cat > /srv/arena", stdin=lines.encode()).ok()
    answer = daemon.tool(agent, "sandbox_install", packages=[package_of(name) for name in NAMES])
    assert answer["ok"], answer
    for name in NAMES:
        said = daemon.sh(agent, f"cat /srv/{name}.said /srv/{name}.code").ok().text
        assert said.split()[-1] == str(HELD), f"{name}: {said}"
    assert victim.is_whole()
    assert daemon.processes(agent)[sleeper]["running"] is True


@pytest.mark.skipif(os.geteuid() != 0, reason="an attack is one of root's")
@pytest.mark.parametrize("name", NAMES)
def test_each_succeeds_where_nothing_protects(name, programs, base):
    root = base.person("root")
    top = root.mkdir(base.path / f"victim-{name}")
    victim = Victim(root, top, root.mkdir(top / "home"))
    pathlib.Path("/srv").mkdir(exist_ok=True)
    try:
        outside = [] if name == "processes" else ["--pid", "--fork", "--mount-proc"]
        # A tmpfs over /srv: what an attack makes there is gone with its namespace.
        command = ["unshare", "--mount", "--uts", "--ipc", "--net", *outside, "/bin/sh", "-c",
                   'mount -t tmpfs none /srv && "$@"', "sh", str(programs[name])]
        ended = subprocess.run(command, env={**os.environ, **victim.environment()}, capture_output=True, check=False)
        assert ended.returncode == SUCCEEDED, f"no attack: {ended}"
    finally:
        victim.close()
        shutil.rmtree(top)


def test_the_machine_has_the_attacks():
    assert len(NAMES) >= 10
    assert not harness.processes_with(MARKER)
