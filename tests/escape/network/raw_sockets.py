# Opens raw and packet sockets, and sockets of other protocols.
# none: succeeds as root
import socket

import attack

for family, kind, protocol in (
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP),
    (socket.AF_PACKET, socket.SOCK_RAW, 0),
    (socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
    (socket.AF_PACKET, socket.SOCK_DGRAM, 0),
):
    try:
        socket.socket(family, kind, protocol)
    except OSError:
        continue
    attack.succeeded(f"socket({family}, {kind}, {protocol})")
attack.held()
