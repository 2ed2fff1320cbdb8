# Connections that are many, slow, silent, cut off or closed on one side alone.
import os

import pytest

ALLOW = ["--allow-domain", "good.example"]
PYTHON = """
import socket, ssl, sys, threading, time

def connect(port=7, host="good.example"):
    made = socket.create_connection((host, port))
    made.settimeout(45)
    return made

def read_all(stream):
    return b"".join(iter(lambda: stream.recv(1 << 20), b""))
"""


@pytest.fixture
def run(hutch):
    """run(program): Python in a sandbox that may reach good.example; what it printed."""
    return lambda program, **more: hutch.run("python3", "-c", PYTHON + program, options=ALLOW, **more).ok().text


def descriptors(process):
    """How many hutch itself has open."""
    return len(os.listdir(f"/proc/{process.pid}/fd"))


IN_A_ROW = """
address = socket.gethostbyname("good.example")
for i in range(int(sys.argv[1])):
    with connect(host=address) as stream:
        stream.sendall(b"%d" % i)
        stream.shutdown(socket.SHUT_WR)
        assert read_all(stream) == b"%dend of input" % i
    if i == 99: print("warm", flush=True); sys.stdin.readline()
print("all", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_one_after_another(hutch, count):
    with hutch.popen("python3", "-c", PYTHON + IN_A_ROW, str(count), options=ALLOW) as process:
        assert process.stdout.readline() == b"warm\n", process.stderr.read()
        before = descriptors(process)
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"all\n", process.stderr.read()
        # The pipes that are kept for the next connections are a few.
        assert descriptors(process) < before + 50
        process.stdin.close()
        assert process.wait() == 0


AT_ONCE = """
streams = [connect() for i in range(500)]
for i, stream in enumerate(streams): stream.sendall(b"%d\\n" % i)
for i, stream in enumerate(streams): assert stream.recv(10) == b"%d\\n" % i
for stream in reversed(streams): stream.sendall(b"again"); assert stream.recv(10) == b"again"
print("all")
"""


def test_five_hundred_at_once(run):
    assert run(AT_ONCE, timeout=120) == "all\n"


HTTP_AT_ONCE = """
streams = [connect(80) for i in range(500)]
for i, stream in enumerate(streams): stream.sendall(b"GET /%d HTTP/1.1\\r\\nHost: good.example\\r\\n\\r\\n" % i)
for i, stream in enumerate(streams):
    got = b""
    while b"}" not in got[got.find(b"{"):]: got += stream.recv(4096)
    assert b'"path": "/%d"' % i in got, got
print("all")
"""


def test_hundreds_of_requests_at_once(run):
    assert run(HTTP_AT_ONCE, timeout=120) == "all\n"


def test_a_client_that_says_nothing(run):
    assert run("""
silent = connect()
for i in range(3):
    with connect() as other: other.sendall(b"x"); assert other.recv(1) == b"x"
    time.sleep(0.3)
silent.sendall(b"late")
print(silent.recv(10).decode())
connect().close()
with connect(2525) as other: print(other.recv(100).decode().strip())
""") == "late\n220 ready\n"


def test_a_server_that_resets(run):
    assert run("""
stream = connect(9)
stream.sendall(b"x")
try: print(stream.recv(1))
except ConnectionResetError: print("reset")
""") == "reset\n"


def test_nobody_listens(run):
    assert run("""
try:
    stream = connect(6)
    stream.sendall(b"x")
    print(stream.recv(1))
except ConnectionError: print("refused")
""") == "refused\n"


def test_closed_on_one_side(run):
    assert run("""
stream = connect()
sent = bytes(range(256)) * 40000
writer = threading.Thread(target=lambda: (stream.sendall(sent), stream.shutdown(socket.SHUT_WR)))
writer.start()
got = read_all(stream)
print(got == sent + b"end of input")
mute = connect(11)
mute.shutdown(socket.SHUT_WR)
print(read_all(mute))
""") == "True\nb''\n"


SLOW = """
context = ssl._create_unverified_context()
def start(port):
    stream = connect(port)
    if port == 443: stream = context.wrap_socket(stream, server_hostname="good.example")
    stream.sendall(b"GET /big/%d HTTP/1.1\\r\\nHost: good.example\\r\\nConnection: close\\r\\n\\r\\n" % SIZE)
    return stream
SIZE = 30_000_000
slow = [start(port) for port in (80, 443) for i in range(10)]
for i in range(5):
    for stream in slow: assert stream.recv(1000)
    with connect() as other: other.sendall(b"x"); assert other.recv(1) == b"x"
    time.sleep(0.2)
print("slow", flush=True)
sys.stdin.readline()
for stream in slow[::10]: print(len(read_all(stream)) > SIZE - 5000)
"""


def test_slow_readers(hutch):
    with hutch.popen("python3", "-c", PYTHON + SLOW, options=ALLOW) as process:
        assert process.stdout.readline() == b"slow\n", process.stderr.read()
        # Twenty answers of 30 MB are under way: what nobody reads is not taken from the servers.
        assert resident(process) < 64 << 20
        process.stdin.write(b"\n")
        process.stdin.close()
        assert process.stdout.read() == b"True\nTrue\n", process.stderr.read()
        assert process.wait() == 0


def resident(process):
    """Bytes of memory of hutch itself, at most so far."""
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) << 10
