# Takes the gateway's ports, or speaks to them in ways that they were not meant for.
# none: succeeds as root
import socket

import attack

for port in (1, 53, 1023):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for address, family in (("127.0.0.1", socket.AF_INET), ("0.0.0.0", socket.AF_INET), ("::1", socket.AF_INET6)):
            made = socket.socket(family, kind)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            try:
                made.bind((address, port))
            except OSError:
                continue
            attack.succeeded(f"bind({address}, {port})")
for address in ("127.0.0.1", "::1", "198.18.0.1", "198.18.77.7", "198.19.255.254"):
    made = attack.connect(address, 1)
    if made and attack.is_answer(attack.get(made, "other.example")):
        attack.succeeded(f"{address} port 1")
made = attack.connect("198.18.77.7", 80)
if made and attack.is_answer(attack.get(made, "good.example")):
    attack.succeeded("an address that no name has")
attack.held()
