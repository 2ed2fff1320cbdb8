# Asks the allowed host for another one's page in forms of a request that lenient servers read and a strict reader does
# not take for HTTP.
# none: succeeds
import attack

LINES = [
    b"\x0bGET /secret HTTP/1.1",
    b"\xa0GET /secret HTTP/1.1",
    b"\r\n\t\r\nGET /secret HTTP/1.1",
    b"GET /secret http/1.1",
    b"GET /se\0cret HTTP/1.1",
    b"G{}T /secret HTTP/1.1",
    b"A" * 300 + b" /secret HTTP/1.1",
]
for line in LINES:
    for cut in (0, line.index(b"/") + 4):
        made = attack.connect("good.example", 80)
        if made is None:
            continue
        form = line + b"\r\nHost: other.example\r\nConnection: close\r\n\r\n"
        first = attack.talk(made, form[:cut], wait=0.8) if cut else b""
        if b'"host": "other.example' in first + attack.talk(made, form[cut:]):
            attack.succeeded(f"{line!r}, cut at {cut}")
attack.held()
