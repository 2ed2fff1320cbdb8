# What a sandbox can make hutch-inspect hold.
import json
import pathlib
import shutil
import subprocess

import pytest

from harness import wait_until

KIB_MAX = 80 << 10  # of some 10 MiB that it has, and 20 MiB that one connection may take
# As many requests as the server serves at once and no end of them; then others, large ones, each given up at once.
GIVE_UP = """
import socket, ssl, struct, threading, time

def field(name, value):
    def text(data):
        size = len(data) - 127
        if size < 0:
            return bytes([len(data)]) + data
        head = b"\\x7f"
        while size >= 128:
            head += bytes([size % 128 + 128])
            size //= 128
        return head + bytes([size]) + data
    return b"\\x10" + text(name) + text(value)

def frame(kind, flags, stream, payload):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload

def head(method):
    return (field(b":method", method) + field(b":path", b"/") + field(b":scheme", b"https") +
            field(b":authority", b"good.example:9443"))

def drain():
    try:
        while made.recv(65536):
            pass
    except OSError:
        pass

context = ssl.create_default_context()
context.set_alpn_protocols(["h2"])
made = context.wrap_socket(socket.create_connection(("good.example", 9443), 30), server_hostname="good.example")
made.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(4, 0, 0, b""))
threading.Thread(target=drain, daemon=True).start()
for stream in range(1, 201, 2):
    made.sendall(frame(1, 4, stream, head(b"POST")))
time.sleep(1)
large = head(b"GET") + b"".join(field(b"x-%d" % k, b"A" * 15000) for k in range(4))
parts = [large[at:at + 16000] for at in range(0, len(large), 16000)]
try:
    for stream in range(201, 2601, 2):
        made.sendall(b"".join(frame(9 if k else 1, 4 if k == len(parts) - 1 else 0, stream, part)
                              for k, part in enumerate(parts)) + frame(3, 0, stream, struct.pack("!I", 8)))
except OSError:
    pass
print("asked", flush=True)
time.sleep(300)
"""


def inspector_of(pid):
    """The hutch-inspect that a hutch has started."""
    found = subprocess.run(["pgrep", "-P", str(pid), "hutch-inspect"], stdout=subprocess.PIPE, text=True, check=False)
    return int(found.stdout.split()[0])


def peak_kib(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def test_requests_that_are_given_up(hutch, internet, project, as_user):
    if shutil.which("nghttpd") is None:
        pytest.skip("nghttpd is not installed")
    if not internet.listens(9443):
        internet.start("nghttpd", "-m", "100", "-d", internet.www, "9443", internet.directory / "server.key",
                       internet.directory / "server.pem")
        wait_until(lambda: internet.listens(9443), "nghttpd listens")
    policy = {"network": {"allowedDomains": [], "deniedDomains": [], "rules": [{"host": "good.example"}],
                          "tlsTerminate": {"extraCaCertPaths": [str(internet.ca)]}}}
    file = as_user.write(project / "rules.json", json.dumps(policy))
    with hutch.popen("/usr/bin/python3", "-c", GIVE_UP, options=["--policy", str(file)]) as process:
        try:
            assert process.stdout.readline() == b"asked\n"
            assert peak_kib(inspector_of(process.pid)) < KIB_MAX
        finally:
            process.kill()
