# Sends datagrams elsewhere by way of UDP rules: other ports and hosts from the same socket, names that lead inside.
# none: succeeds
# udp: good.example:123 private.example:123 meta.example:123 loop.example:123 near.example:123
import socket

import attack


def asks(made, place):
    """Whether anything comes back from there; a late answer of the allowed host's is none. Its hosts log as well."""
    try:
        made.sendto(b"word", place)
        return made.recvfrom(2000)[1] == place
    except OSError:
        return False


def named(host, port=123):
    try:
        return socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_DGRAM)[0][4]
    except OSError:
        return None


good = named("good.example")
for source in (None, ("127.0.0.1", 0), ("127.9.9.9", 0)):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.settimeout(attack.WAIT / 8)
    try:
        if source:
            made.bind(source)
    except OSError:
        continue
    if good:
        asks(made, good)
    places = [(attack.GOOD, 123), (attack.GOOD, 124), (attack.OTHER, 123), ("192.168.7.7", 123),
              (good and good[0], 124), named("private.example"), named("meta.example"), named("loop.example"),
              named("near.example"),
              *(("127.0.0.1", port) for port in range(901, 906))]
    for place in places:
        if place and place[0] and asks(made, place):
            attack.succeeded(f"from {source} to {place}")
attack.held()
