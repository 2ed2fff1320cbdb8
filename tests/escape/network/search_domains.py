# Carries data out by the names that a resolver makes with the host's search domains, or by the length of an answer:
# nothing is asked outside about a name that no entry allows.
# none: succeeds
import socket

import attack

for number in range(20):
    for name in (f"tunnelled{number}", f"tunnelled{number}.corp.example"):
        try:
            socket.getaddrinfo(name, 80)
        except OSError:
            continue
attack.held()
