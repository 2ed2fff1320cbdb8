# Services that let people log in by a key in their home: an agent writes its own.
"""It would be the agent's user outside of any sandbox: without its limits, its filter, and the gateway."""

import os
import shutil
import socket
import subprocess

import pytest

import harness

SSH = ["ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR",
       "-o", "UserKnownHostsFile=/dev/null"]


@pytest.fixture(scope="module")
def keys(base):
    if not os.path.exists("/usr/sbin/sshd") or shutil.which("ssh") is None:
        pytest.skip("needs openssh-server and openssh-client")
    place = base.unused("login-keys")
    place.mkdir(mode=0o700)
    for name in ("host", "agent"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / name], check=True)
    return place


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def server(kind, machine, keys, port):
    """The command of one on that machine's loopback."""
    if kind == "dropbear":
        if shutil.which("dropbear") is None:
            pytest.skip("needs dropbear-bin")
        host = keys / "host-dropbear"
        if not host.exists():
            subprocess.run(["dropbearkey", "-t", "ed25519", "-f", host], check=True, capture_output=True)
        return ["dropbear", "-F", "-E", "-r", host, "-p", f"127.0.0.1:{port}", "-P", "/run/dropbear-of-tests"]
    machine.root("install", "-d", "-m", "0755", "/run/sshd")
    options = ["-o", f"UsePAM={kind[-1]}", "-o", "ListenAddress=127.0.0.1", "-o", "PidFile=none"]
    return ["/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-h", keys / "host", "-p", str(port), *options]


@pytest.fixture(params=[("sshd", "yes"), ("sshd", "no"), "dropbear"], ids=["sshd-PAM", "sshd", "dropbear"])
def port(request, machine, keys):
    """A service of that machine's; an sshd with PAM as Debian sets it up, and without."""
    port = free_port()
    with subprocess.Popen([*machine.enter(), *server(request.param, machine, keys, port)],
                          stderr=subprocess.DEVNULL) as process:
        harness.wait_until(lambda: listens(port), "it listens")
        yield port
        process.terminate()


def log_in(machine, keys, port, name):
    return subprocess.run([*machine.enter(), *SSH, "-i", keys / "agent", "-p", str(port), f"{name}@127.0.0.1", "id",
                           "-un"], capture_output=True, text=True, check=False, timeout=60)


WRITE = "umask 077; mkdir -p ~/.ssh && echo '{key}' > ~/.ssh/authorized_keys"


def test_a_key_that_the_agent_writes_lets_nobody_in(machine, carol, keys, port):
    key = (keys / "agent.pub").read_text().strip()
    assert carol.sh(WRITE.format(key=key)).code == 0
    refused = log_in(machine, keys, port, "hutch-carol")
    assert refused.returncode != 0 and "hutch-carol" not in refused.stdout, refused
    # A person of the machine gets in by the same service, so that it is for no other reason.
    dave = machine.person("dave")
    machine.root("usermod", "--password", "*", "--shell", "/bin/sh", "dave")
    harness.run_in(dave, ["sh", "-c", WRITE.format(key=key)], outer=machine.enter()).ok()
    assert log_in(machine, keys, port, "dave").stdout == "dave\n"


def test_who_was_made_before_is_closed_by_the_next_init(machine):
    machine.root("usermod", "--expiredate", "", "--shell", "/bin/bash", "hutch-carol")
    machine.init("--for", "carol")
    line = next(line for line in machine.file("/etc/shadow").read_text().splitlines()
                if line.startswith("hutch-carol:"))
    assert line.split(":")[7] == "1", line
    shell = next(line.rsplit(":", 1)[1] for line in machine.file("/etc/passwd").read_text().splitlines()
                 if line.startswith("hutch-carol:"))
    assert shell not in machine.file("/etc/shells").read_text().splitlines()
    assert shell.endswith("/bash") and os.access(shell, os.X_OK)
