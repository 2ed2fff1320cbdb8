# Puts NUL, line ends, blanks and dots into names, so that the check and the resolver may read different ones.
# none: fails; there is no proxy
import socket
import struct

import attack

NAMES = [
    b"other.example\0.good.example",
    b"good.example\0other.example",
    b"other.example\0",
    b"other.example\r\n.good.example",
    b"other.example .good.example",
    b"good.example\r\nHost: other.example",
    b"other.example#good.example",
    b"other.example/good.example",
    b"good.example@other.example",
    b"other.example\\.good.example",
    b"OTHER.EXAMPLE",
    b"other.example.",
    b"other.example..",
    b"\xef\xbd\x8fther.example",
    b"other\xe3\x80\x82example",
]
for name in NAMES:
    for made in (attack.by_socks(name, 80), attack.by_proxy(name + b":80")):
        if made and attack.is_answer(answer := attack.get(made, "other.example")) and b"203.0.113.11" in answer:
            attack.succeeded(repr(name))
# One label with a dot in it: the same text as two, for whoever writes it down without care.
for label in (b"other.example", b"other.example\0", b"good.example\0"):
    query = (
        struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + bytes([len(label)]) + label + b"\0" + struct.pack("!HH", 1, 1)
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(1)
        try:
            udp.sendto(query, ("203.0.113.53", 53))
            answer = udp.recv(512)
        except OSError:
            continue
        if struct.unpack("!H", answer[6:8])[0] and answer[-4:] != b"\xcb\0\x71\x0a":
            made = attack.connect(socket.inet_ntoa(answer[-4:]), 80)
            if made and attack.is_answer(attack.get(made, "other.example")):
                attack.succeeded(repr(label))
attack.held()
