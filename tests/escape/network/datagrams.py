# Sends datagrams to hosts outside: UDP to other ports than the DNS's, ICMP, UDP-Lite, SCTP.
# none: succeeds
import socket

import attack

for kind, protocol, port in (
    (socket.SOCK_DGRAM, 0, 443),
    (socket.SOCK_DGRAM, 0, 123),
    (socket.SOCK_DGRAM, socket.IPPROTO_ICMP, 0),
    (socket.SOCK_DGRAM, 136, 53),
    (socket.SOCK_STREAM, 132, 80),
    (socket.SOCK_DGRAM, 0, 54),
):
    for host in (attack.GOOD, attack.OTHER):
        try:
            made = socket.socket(socket.AF_INET, kind, protocol)
            made.settimeout(1)
            made.connect((host, port))
            made.send(b"\x08\0\xf7\xff\0\0\0\0" if protocol == socket.IPPROTO_ICMP else b"word")
        except OSError:
            continue
        attack.succeeded(f"type {kind}, protocol {protocol}, port {port}")
attack.held()
