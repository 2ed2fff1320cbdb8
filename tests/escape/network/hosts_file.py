# Reads the names that the host's own hosts file gives to private addresses, or has them listed.
# none: succeeds
import pathlib
import socket

import attack

PLACES = ["/etc", "/proc/self/root/etc", "/proc/1/root/etc", "/.hutch", "/run", "/mnt"]
for place in PLACES:
    for file in [pathlib.Path(place) / "hosts", *pathlib.Path(place).glob("*host*")]:
        try:
            if file.is_file() and "secret.corp" in file.read_text(errors="replace"):
                attack.succeeded(f"{file} names secret.corp")
        except OSError:
            continue
try:
    if socket.gethostbyaddr("192.168.7.7")[0] == "secret.corp":
        attack.succeeded("the address names it")
except OSError:
    pass
attack.held()
