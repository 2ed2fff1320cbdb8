# Attacks on a service of the host's loopback, past the gateway, by each way to write its address.
"""The sandbox has rules for the network: one host that does not exist is allowed. An attack tries the address by itself
and by the proxies that the sandbox has; where nothing protects it connects."""

import time

from cases import ERROR, EVERYBODY, FELL, HELD, NOBODY, Case, Outcome, each
from rig import PYTHON

# A name for the case, and how the address is written.
FORMS = {
    "dotted": "127.0.0.1",
    "short": "127.1",
    "of_three_parts": "127.0.1",
    "decimal": "2130706433",
    "hexadecimal": "0x7f000001",
    "hexadecimal_parts": "0x7f.0.0.0x1",
    "octal": "0177.0.0.01",
    "octal_number": "017700000001",
    "zero": "0",
    "wildcard": "0.0.0.0",
    "another_of_the_loopback": "127.8.9.10",
    "mapped": "::ffff:127.0.0.1",
    "mapped_hexadecimal": "::ffff:7f00:1",
    "mapped_wildcard": "::ffff:0.0.0.0",
    "localhost": "localhost",
    "localhost_upper_case": "LOCALHOST",
}
# Written so that only a proxy could take them for something else.
TRICKS = {
    "nul_before_an_allowed_name": b"127.0.0.1\0.good.example",
    "nul_behind_an_allowed_name": b"good.example\x00127.0.0.1",
    "line_end_before_an_allowed_name": b"127.0.0.1\r\n.good.example",
    "user_before_the_address": b"good.example@127.0.0.1",
    "fragment_behind_the_address": b"127.0.0.1#good.example",
    "path_behind_the_address": b"127.0.0.1/good.example",
    "blank_before_an_allowed_name": b"127.0.0.1 .good.example",
    "backslash": b"127.0.0.1\\.good.example",
    "full_width_digits": "１２７．0.0.1".encode(),
    "ideographic_full_stop": "127。0。0。1".encode(),
    "percent_encoded": b"127%2e0%2e0%2e1",
    "zone": b"::1%lo",
    "brackets": b"[::ffff:127.0.0.1]",
    "nat64": b"64:ff9b::7f00:1",
    "six_to_four": b"2002:7f00:1::",
    "compatible": b"::127.0.0.1",
    "too_long": b"a" * 250 + b"\0127",
    "empty": b"",
}
ATTACK = r"""
import os, socket, struct, sys
form, port, mode = os.fsencode(sys.argv[1]).decode("unicode_escape").encode("latin-1"), int(sys.argv[2]), sys.argv[3]

def hears(made, data=b""):
    try:
        made.settimeout(2)
        if data: made.sendall(data)
        return b"host service" in made.recv(2000)
    except OSError:
        return False

def proxy():
    try:
        return socket.create_connection(("127.0.0.1", 1023), 2)
    except OSError:
        sys.exit(1)

def reaches(family, kind, address):
    made = socket.socket(family, kind)
    made.settimeout(2)
    try:
        made.connect(address)
    except OSError:
        return False
    return hears(made)

def direct():
    try:
        found = socket.getaddrinfo(form.decode(), port, 0, socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return any(reaches(family, kind, address) for family, kind, _, _, address in found)

def by_connect():
    made = proxy()
    made.sendall(b"CONNECT %s:%d HTTP/1.1\r\nHost: %s\r\n\r\n" % (form, port, form))
    return hears(made) or hears(made)

def by_get():
    return hears(proxy(), b"GET http://%s:%d/ HTTP/1.1\r\nHost: good.example\r\n\r\n" % (form, port))

def by_socks(command=1):
    made = proxy()
    made.settimeout(2)
    made.sendall(b"\5\1\0")
    if made.recv(2) != b"\5\0": return False
    made.sendall(b"\5" + bytes([command]) + b"\0\3" + bytes([len(form)]) + form + struct.pack("!H", port))
    return made.recv(10)[1:2] == b"\0" if command > 1 else hears(made)

def by_socks_bind():
    return by_socks(2)

def by_socks_udp():
    return by_socks(3)

def by_socks4():
    return hears(proxy(), b"\4\1" + struct.pack("!H", port) + b"\0\0\0\1user\0" + form + b"\0")

ways = {"form": [direct, by_connect, by_get, by_socks, by_socks4],
        "trick": [by_connect, by_get, by_socks, by_socks4, by_socks_bind, by_socks_udp]}[mode]
for way in ways:
    try:
        if way():
            print("succeeded:", way.__name__)
            sys.exit(0)
    except OSError:
        pass
sys.exit(1)
"""


def cases():
    for name, form in FORMS.items():
        yield Case("loopback", name, "network", f"Reaches a service of the host's loopback by the address {form}.",
                   each(run), EVERYBODY, needs=(PYTHON,), of_files=True)
    for name in TRICKS:
        what = f"Has the proxy take the host's loopback for what is allowed: {name.replace('_', ' ')}."
        yield Case("loopback", f"proxy_{name}", "network", what, each(run), NOBODY, "cannot; there is no proxy",
                   (PYTHON,))


def run(rig, case):
    began = time.monotonic()
    name = case.name.removeprefix("proxy_")
    form, mode = (TRICKS[name], "trick") if case.name.startswith("proxy_") else (FORMS[name].encode(), "form")
    written = form.decode("latin-1").encode("unicode_escape").decode()
    options = ["--allow-domain", "good.example"] if rig.isolates else []
    with rig.arena() as arena:
        result = rig.hutch(arena.person, arena.project).run(PYTHON, "-c", ATTACK, written, str(arena.port), mode,
                                                            options=options)
    seconds = time.monotonic() - began
    if b"succeeded" in result.out:
        return Outcome(FELL, result.text.strip(), seconds)
    return Outcome(HELD if result.code == 1 else ERROR, result.errors[-400:] if result.code != 1 else "", seconds)
