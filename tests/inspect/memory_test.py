# What all connections together can make the inspector hold.
import pathlib
import socket
import struct
import time

import pytest

pytest.importorskip("h2.connection", reason="python3-h2 is not installed")
import servers  # noqa: E402
from http2_test import HOST, h2_server, open_h2  # noqa: E402
from inspector import PATIENCE, client_context  # noqa: E402

CONNECTIONS, REQUESTS = 24, 100
KIB_MAX = 96 << 10  # of 150 MiB of requests
LARGE = [(f"x-{number}", "A" * 15000) for number in range(4)]


def text(data):
    """A literal of HPACK (RFC 7541, 5.2)."""
    size, head = len(data) - 127, b"\x7f"
    if size < 0:
        return bytes([len(data)]) + data
    while size >= 128:
        head += bytes([size % 128 + 128])
        size //= 128
    return head + bytes([size]) + data


def frame(kind, flags, stream, payload):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def large_request(stream):
    fields = [(":method", "GET"), (":path", "/"), (":scheme", "https"), (":authority", HOST), *LARGE]
    block = b"".join(b"\x10" + text(name.encode()) + text(value.encode()) for name, value in fields)
    parts = [block[at:at + 16000] for at in range(0, len(block), 16000)]
    last = len(parts) - 1
    return b"".join(frame(9 if number else 1, (0 if number else 1) | (4 if number == last else 0), stream, part)
                    for number, part in enumerate(parts))


def take_no_request(_, connection):
    """A server of HTTP/2 that allows no stream at all, and reads nothing more."""
    connection.sendall(frame(4, 0, 0, struct.pack("!HI", 3, 0)))
    time.sleep(4 * PATIENCE)


def read_frame(stream):
    head = stream.read(9)
    return head[3], head[4], stream.read(int.from_bytes(head[:3], "big"))


def hold(inspector, server):
    """A connection with as many large requests as there can be, all of which have been read."""
    client, _ = inspector.connect(server.server_address, HOST, tls=True)
    client.settimeout(PATIENCE)
    made = client_context(inspector, ("h2",)).wrap_socket(client, server_hostname=HOST)
    made.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b""))
    # The server's settings have come by the time that it is known here which streams hutch takes.
    time.sleep(0.1)
    for number in range(REQUESTS):
        made.sendall(large_request(2 * number + 1))
    made.sendall(frame(6, 0, 0, b"all read"))
    stream = made.makefile("rb")
    while read_frame(stream)[:2] != (6, 1):
        pass
    return made


def peak_kib(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def test_requests_of_many_connections(inspector, pki):
    silent = servers.RawServer(take_no_request, pki.server_context(HOST, ("h2",)))
    answering = h2_server(pki)
    held = [hold(inspector, silent) for _ in range(CONNECTIONS)]
    assert peak_kib(inspector.process.pid) < KIB_MAX
    peer, _ = open_h2(inspector, answering)
    stream, headers, body = peer.fetch("/", more=LARGE)
    assert headers.get(":status") == "503" and headers["x-proxy-error"] == "overloaded", (peer.reset, headers)
    assert b"too many large requests" in body
    for one in held:
        one.shutdown(socket.SHUT_RDWR)
        one.close()
    deadline = time.monotonic() + PATIENCE
    while peer.fetch("/", more=LARGE)[1].get(":status") != "200":
        assert time.monotonic() < deadline, "what was held is not given back"
        time.sleep(0.1)
