# Connections on which nothing happens cost nothing: the gateway shares its thread with what ends the command in time.
import os
import textwrap
import time

import pytest

import harness

CONNECT = """
import socket, sys, time
def connect(host, port):
    made = socket.create_connection((host, port), 20)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made
def stay():
    print("stays", flush=True)
    time.sleep(300)
"""
# What a client leaves behind in a connection, and then does nothing.
CLIENTS = {
    "only empty lines": """
made = connect("good.example", 80)
made.sendall(b"\\r\\n" * 20000)
""",
    "urgent data in the first bytes": """
made = connect("good.example", 80)
made.sendall(b"G")
made.send(b"E", socket.MSG_OOB)
made.sendall(b"T ")
""",
    "urgent data in a request to the proxy": """
made = connect("127.0.0.1", 1023)
made.sendall(b"G")
made.send(b"E", socket.MSG_OOB)
made.sendall(b"T ")
""",
    "urgent data later": """
made = connect("good.example", 11)
made.sendall(b"\\1")
time.sleep(1)
made.send(b"u", socket.MSG_OOB)
made.sendall(b"later")
""",
    "the half of a hello": """
made = connect("good.example", 443)
made.sendall(b"\\x16\\3\\1\\x10\\0\\1")
""",
    "an answer that is not read": """
made = connect("good.example", 80)
made.sendall(b"GET /big/90000000 HTTP/1.1\\r\\nHost: good.example\\r\\n\\r\\n")
""",
    "one direction ended": """
made = connect("good.example", 11)
made.sendall(b"\\1")
other = connect("good.example", 7)
other.shutdown(socket.SHUT_WR)
""",
}


def ticks(pid):
    """Of processor time that a process has used."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def becomes_idle(pid):
    """There comes a second in which it hardly runs."""
    def is_idle():
        before = ticks(pid)
        time.sleep(1)
        return ticks(pid) - before < os.sysconf("SC_CLK_TCK") // 10
    harness.wait_until(is_idle, "hutch waits without running", seconds=20)


@pytest.mark.parametrize("what", CLIENTS)
def test_a_client_that_leaves(hutch, what):
    script = f"{CONNECT}try:\n{textwrap.indent(CLIENTS[what], '    ')}except OSError:\n    pass\nstay()"
    with hutch.popen("/usr/bin/python3", "-c", script,
                     options=["--allow-domain", "good.example"]) as process:
        try:
            assert process.stdout.readline() == b"stays\n"
            time.sleep(1)
            becomes_idle(process.pid)
        finally:
            process.kill()


def test_more_connections_than_descriptors(hutch):
    # Those that cannot be served are reset.
    script = CONNECT + """
kept = []
for _ in range(30):
    try:
        kept.append(connect("good.example", 7))
    except ConnectionResetError:
        pass
stay()
"""
    with hutch.popen("/usr/bin/python3", "-c", script, options=["--allow-domain", "good.example"],
                     wrap=["prlimit", "--nofile=48:48"]) as process:
        try:
            assert process.stdout.readline() == b"stays\n"
            becomes_idle(process.pid)
        finally:
            process.kill()


def test_urgent_data_goes_on(hutch):
    script = CONNECT + """
made = connect("good.example", 7)
made.sendall(b"\\1first")
time.sleep(1)
made.send(b"u", socket.MSG_OOB)
made.sendall(b"last")
made.shutdown(socket.SHUT_WR)
made.settimeout(20)
answer = b""
while part := made.recv(4096):
    answer += part
print(answer)
"""
    result = hutch.run("/usr/bin/python3", "-c", script, options=["--allow-domain", "good.example"])
    assert result.ok().out == b"b'\\x01firstulastend of input'\n"


HALF_A_PARENT = """
import socket
listener = socket.create_server(("127.0.0.1", 3199))
print("ready", flush=True)
kept = []
while True:
    made = listener.accept()[0]
    kept.append(made)
    made.recv(4096)
    made.sendall(b"HTTP/1.1 200")
    made.shutdown(socket.SHUT_WR)
"""


def test_a_parent_proxy_that_ends_in_the_middle(hutch, internet):
    parent = harness.start_in(hutch.person, ["/usr/bin/python3", "-c", HALF_A_PARENT], outer=internet.enter())
    try:
        assert parent.stdout.readline() == b"ready\n"
        result = hutch.run("curl", "-sS", "-i", "http://good.example/", options=["--allow-domain", "good.example"],
                           env={"HTTP_PROXY": "http://127.0.0.1:3199"})
        assert "the parent proxy ended" in result.text + result.errors, str(result)
    finally:
        parent.kill()
        parent.communicate()
