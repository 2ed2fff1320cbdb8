# What the network's attacks share: how they say what came of them.
"""Each attack is a program of its own beside this file; it runs in the project, with the internet of the tests as its
network. Allowed is good.example at port 80 and 443 alone, and what an attack's head says besides."""

import os
import socket
import sys

GOOD, OTHER = "203.0.113.10", "203.0.113.11"  # good.example, other.example
PROXY = ("127.0.0.1", 1023)
# How long a host may take to answer. Where nothing protects they do at once; a gateway may have to be waited for.
WAIT = float(os.environ.get("ATTACK_WAIT", "4"))


def succeeded(how):
    print(f"succeeded: {how}")
    sys.exit(0)


def held():
    sys.exit(1)


def connect(host, port, family=socket.AF_UNSPEC):
    """A connection, or None."""
    try:
        for kind, _, _, _, address in socket.getaddrinfo(host, port, family, socket.SOCK_STREAM):
            made = socket.socket(kind)
            made.settimeout(2 * WAIT)
            made.connect(address)
            return made
    except (OSError, UnicodeError):
        return None
    return None


def talk(connection, data, wait=WAIT):
    """What comes back until the other side ends or waits."""
    answer = b""
    try:
        connection.sendall(data)
        connection.settimeout(wait)
        while part := connection.recv(65536):
            answer += part
    except OSError:
        pass
    return answer


def get(connection, host, path="/", extra=b""):
    return talk(
        connection,
        b"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n" % (path.encode(), host.encode(), extra),
    )


def is_answer(data):
    """Whether one of the hosts has answered; the gateway's own answers name what they refuse."""
    return b'"address"' in data


def by_proxy(authority, port=None):
    """A connection through the HTTP proxy, or None."""
    made = connect(*PROXY)
    if made is None:
        return None
    target = authority if isinstance(authority, bytes) else authority.encode()
    if port is not None:
        target += b":%d" % port
    try:
        made.sendall(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (target, target))
        head = b""
        while b"\r\n\r\n" not in head:
            part = made.recv(1)
            if not part:
                return None
            head += part
    except OSError:
        return None
    return made if b" 200 " in head.split(b"\r\n")[0] else None


def by_socks(host, port):
    """A connection through SOCKS5 with the host as these bytes, or None."""
    made = connect(*PROXY)
    if made is None:
        return None
    try:
        made.sendall(b"\5\1\0")
        made.recv(2)
        made.sendall(b"\5\1\0\3" + bytes([len(host)]) + host + port.to_bytes(2, "big"))
        return made if made.recv(10)[1:2] == b"\0" else None
    except OSError:
        return None
