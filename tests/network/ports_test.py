# Ports of this machine that a sandbox finds, and ports of a sandbox that this machine finds.
import contextlib
import json
import subprocess

import pytest

from caller import running
from harness import wait_until

# A server of a line: answers every connection with what it was told to say.
SERVE = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
server = socket.socket(family)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind((sys.argv[1], int(sys.argv[2])))
server.listen()
print(server.getsockname()[1], flush=True)
while True:
    peer, _ = server.accept()
    try: peer.sendall(sys.argv[3].encode() + b" " + peer.recv(100))
    except ConnectionResetError: pass
    peer.close()
"""
ASK = """
import socket, sys
stream = socket.create_connection((sys.argv[1], int(sys.argv[2])), 30)
stream.sendall(b"question")
print(stream.recv(100).decode() or "nothing")
"""


@contextlib.contextmanager
def host_server(internet, address="127.0.0.1"):
    """The port of a server on the loopback of the namespace in which hutch runs."""
    server = subprocess.Popen([*internet.enter(), "python3", "-c", SERVE, address, "0", "host"], stdout=subprocess.PIPE)
    try:
        yield int(server.stdout.readline())
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def ask(internet, port, address="127.0.0.1"):
    """What a program of this machine is answered, or None."""
    done = subprocess.run([*internet.enter(), "python3", "-c", ASK, address, str(port)], capture_output=True,
                          check=False, timeout=60)
    return done.stdout.decode().strip() if done.returncode == 0 else None


def free_port(internet):
    script = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
    return int(subprocess.run([*internet.enter(), "python3", "-c", script], capture_output=True, check=True).stdout)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_port_of_the_host(hutch, internet, address):
    with host_server(internet, address) as port:
        for inside in ("127.0.0.1", "::1", "localhost"):
            result = hutch.run("python3", "-c", ASK, inside, str(port), options=["--allow-host-port", str(port)])
            assert result.ok().text == "host question\n"


def test_no_other_port_of_the_host(hutch, internet):
    with host_server(internet) as open_port, host_server(internet) as closed_port:
        options = ["--allow-host-port", str(open_port)]
        for where in ("127.0.0.1", "localhost", "192.0.2.1"):
            assert hutch.run("python3", "-c", ASK, where, str(closed_port), options=options).text in ("", "nothing\n")


def test_nothing_of_the_host_by_itself(hutch, internet):
    with host_server(internet) as port:
        assert hutch.run("python3", "-c", ASK, "127.0.0.1", str(port)).code != 0
        result = hutch.run("python3", "-c", ASK, "127.0.0.1", str(port), options=["--network", "outbound"])
        assert result.code != 0, str(result)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "0.0.0.0", "::"])
def test_a_port_of_the_sandbox(hutch, internet, address):
    """A server that listens at "localhost" has one of the two loopback addresses, often ::1."""
    port = free_port(internet)
    with hutch.popen("python3", "-c", SERVE, address, "3000", "inside",
                     options=["--publish", f"{port}:3000"]) as process:
        assert process.stdout.readline() == b"3000\n"
        # More than there are sockets at first.
        for _ in range(10):
            assert ask(internet, port) == "inside question"
        assert ask(internet, port, "192.0.2.1") is None  # the loopback of this machine, and nothing else
        assert ask(internet, 3000) is None
        process.kill()
    wait_until(lambda: ask(internet, port) is None, "the port is closed with the sandbox")


def test_a_published_port_where_nobody_listens(hutch, internet):
    port = free_port(internet)
    with hutch.popen("sh", "-c", "echo started; read line", options=["--publish", f"{port}:3000"]) as process:
        assert process.stdout.readline() == b"started\n"
        assert ask(internet, port) is None
        process.stdin.close()
        assert process.wait() == 1


def test_a_server_that_starts_later_at_the_other_address(hutch, internet):
    port = free_port(internet)
    serve = f"python3 -c '{SERVE}' \"$1\" 3000 \"$1\""
    script = f"echo started; read line; set -- ::1; {serve} & read line; kill $!; wait; set -- 127.0.0.1; {serve}"
    with hutch.popen("sh", "-c", script, options=["--publish", f"{port}:3000"]) as process:
        assert process.stdout.readline() == b"started\n"
        assert ask(internet, port) is None
        for address in ("::1", "127.0.0.1"):
            process.stdin.write(b"\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"3000\n", process.stderr.read()
            for _ in range(5):
                assert ask(internet, port) == f"{address} question"
        process.kill()


def test_a_published_port_never_leads_to_the_host(hutch, internet):
    """What nobody listens at in there is not looked for out here, at neither address."""
    with host_server(internet, "::1") as port:
        with hutch.popen("sh", "-c", "echo started; read line", options=["--publish", f"{port}:{port}"]) as process:
            assert process.stdout.readline() == b"started\n", process.stderr.read()
            assert ask(internet, port) is None
            assert ask(internet, port, "::1") == "host question"
            process.stdin.close()


def test_a_port_that_is_taken(hutch, internet):
    with host_server(internet) as port:
        result = hutch.run("true", options=["--publish", f"{port}:3000"])
        assert result.code == 125 and f"publish {port}:3000" in result.errors, str(result)


def test_the_ports_of_two_sandboxes_are_their_own(hutch, internet):
    first, second = free_port(internet), free_port(internet)
    serve = ("python3", "-c", SERVE, "127.0.0.1", "3000")
    with hutch.popen(*serve, "one", options=["--publish", f"{first}:3000"]) as one, \
            hutch.popen(*serve, "two", options=["--publish", f"{second}:3000"]) as two:
        assert one.stdout.readline() == b"3000\n", one.stderr.read()
        assert two.stdout.readline() == b"3000\n", two.stderr.read()
        assert (ask(internet, first), ask(internet, second)) == ("one question", "two question")
        one.kill()
        two.kill()


def test_a_port_that_does_not_bind_everywhere(hutch):
    """Below 1024 nothing inside can take the ports of the gateway."""
    script = """
import socket
for port in (1, 53, 1023):
    try: socket.socket().bind(("127.0.0.1", port)); print("bound", port)
    except OSError: pass
"""
    assert hutch.run("python3", "-c", script, options=["--allow-domain", "good.example"]).ok().text == ""


# Connects and says each time whether it was answered; a byte between, so that the first connection stays open.
HOLD = """
import socket, sys
held = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
print("held", flush=True)
sys.stdin.readline()
try: print("cut" if not held.recv(1) else "open", flush=True)
except ConnectionResetError: print("cut", flush=True)
while sys.stdin.readline():
    try:
        stream = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
        stream.sendall(b"question")
        print(stream.recv(100).decode() or "nothing", flush=True)
    except OSError: print("nothing", flush=True)
"""


def other_rules(caller, **network):
    """They hold when this returns; what hutch says of them, or None."""
    caller.say(type="update", policy={"network": network})
    caller.say(type="nonsense")
    said = caller.line("error")["message"]
    if "nonsense" in said:
        return None
    assert "nonsense" in caller.line("error")["message"]
    return said


def say(process, line=b"\n"):
    process.stdin.write(line)
    process.stdin.flush()
    return process.stdout.readline()


def with_ports(as_user, project, **ports):
    return "--policy", str(as_user.write(project / "ports.json", json.dumps({"network": ports})))


def test_a_port_of_the_host_is_closed_and_opened_again(hutch, internet, as_user, project):
    with host_server(internet) as port, host_server(internet) as other:
        options = with_ports(as_user, project, hostPorts=[port])
        script = f"exec python3 -u - {port} <<'EOF'\n" + HOLD.replace("sys.stdin", "typed").replace(
            "import socket, sys", "import socket, sys; typed = open(3)") + "\nEOF"
        with running(hutch, f"exec 3<&0; {script}", *options) as (caller, process):
            assert process.stdout.readline() == b"held\n"
            assert other_rules(caller, allowedDomains=["good.example"]) is None
            assert say(process) == b"cut\n"
            assert say(process) == b"nothing\n"
            said = other_rules(caller, hostPorts=[port, other])
            assert f"network.hostPorts {other}: can be closed but not opened while the sandbox runs" in said
            assert say(process) == b"nothing\n"
            assert other_rules(caller, hostPorts=[port]) is None
            assert say(process) == b"host question\n"
            process.stdin.close()


def test_a_published_port_is_closed_and_opened_again(hutch, internet, as_user, project):
    port, other = free_port(internet), free_port(internet)
    serve = f"python3 -c '{SERVE}' 127.0.0.1 3000 inside"
    with running(hutch, serve, *with_ports(as_user, project, publish=[f"{port}:3000"])) as (caller, process):
        assert process.stdout.readline() == b"3000\n"
        assert ask(internet, port) == "inside question"
        with subprocess.Popen([*internet.enter(), "python3", "-c", HOLD, str(port)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as outside:
            assert outside.stdout.readline() == b"held\n"
            assert other_rules(caller, allowedDomains=["good.example"]) is None
            assert say(outside) == b"cut\n"
            assert ask(internet, port) in (None, "nothing")
            said = other_rules(caller, publish=[f"{port}:3000", f"{other}:3000"])
            assert f"network.publish {other}: can be closed but not opened while the sandbox runs" in said
            assert other_rules(caller, publish=[f"{port}:3000"]) is None
            assert ask(internet, port) == "inside question"
            outside.stdin.close()
        process.kill()
