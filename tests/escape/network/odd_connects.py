# Connects in ways that a redirection might not see: fast open, a bound source, a bound device, MPTCP, many at once.
# none: succeeds
import socket

import attack


def fast_open():
    made = socket.socket()
    made.settimeout(5)
    made.sendto(b"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", socket.MSG_FASTOPEN, (attack.OTHER, 80))
    return made.recv(4096)


def bound(source, option=None, protocol=0):
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    made.settimeout(5)
    if option:
        made.setsockopt(*option)
    if source:
        made.bind((source, 0))
    made.connect((attack.OTHER, 80))
    return attack.get(made, "other.example")


for way in (
    fast_open,
    lambda: bound("127.0.0.1"),
    lambda: bound("198.19.255.254"),
    lambda: bound(None, protocol=262),
    lambda: bound(None, (socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")),
    lambda: bound(None, (socket.SOL_SOCKET, 36, 1)),
    lambda: bound("0.0.0.0", (socket.SOL_IP, 19, 1)),
):
    try:
        if attack.is_answer(way()):
            attack.succeeded("another host answers")
    except OSError:
        pass
attack.held()
