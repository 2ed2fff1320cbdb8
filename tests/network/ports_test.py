# Ports of this machine that a sandbox finds, and ports of a sandbox that this machine finds.
import contextlib
import subprocess

import pytest

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
    peer.sendall(sys.argv[3].encode() + b" " + peer.recv(100))
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


def test_a_port_of_the_sandbox(hutch, internet):
    port = free_port(internet)
    with hutch.popen("python3", "-c", SERVE, "127.0.0.1", "3000", "inside",
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
