# A WebSocket client over a plain socket: one that can also break the rules.
import base64
import json
import struct

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
KEY = base64.b64encode(bytes(range(16))).decode()
FIELDS = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {KEY}")


class Closed(Exception):
    """The server's close: its code and reason."""

    def __init__(self, code, reason=b""):
        super().__init__(code, reason)
        self.code, self.reason = code, reason


class WebSocket:
    def __init__(self, plain):
        self.plain, self.got = plain, b""

    @classmethod
    def connect(cls, plain, head):
        """Sends a request's head and asserts that it was taken."""
        plain.sendall(head)
        made = cls(plain)
        while b"\r\n\r\n" not in made.got:
            made.more()
        answer, _, made.got = made.got.partition(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 101 "), answer
        made.answer = answer
        return made

    def more(self):
        piece = self.plain.recv(65536)
        if not piece:
            raise Closed(None)
        self.got += piece

    def take(self, count):
        while len(self.got) < count:
            self.more()
        taken, self.got = self.got[:count], self.got[count:]
        return taken

    def receive(self):
        """(kind, bytes) of the next frame."""
        first, second = self.take(2)
        assert first & 0x80 and not first & 0x70 and not second & 0x80, (first, second)
        size = second
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        payload = self.take(size)
        if first & 15 == CLOSE:
            raise Closed(struct.unpack(">H", payload[:2])[0], payload[2:])
        return first & 15, payload

    def send(self, kind, payload, first=None):
        self.plain.sendall(frame(kind, payload, first))

    # --- what the route speaks ---

    def say(self, **message):
        self.send(TEXT, json.dumps(message).encode())

    def write(self, data):
        self.send(BINARY, b"\0" + data)

    def hear(self):
        """The next message: ("started", {...}) or (1, b"...")."""
        while True:
            kind, payload = self.receive()
            if kind == PING:
                self.send(PONG, payload)
            elif kind == TEXT:
                message = json.loads(payload)
                return message.pop("type"), message
            elif kind == BINARY:
                return payload[0], payload[1:]

    def to_the_end(self):
        """Everything until the close: the messages by type, what was written on each stream, the close's code."""
        said, written = {}, {1: b"", 2: b""}
        try:
            while True:
                kind, value = self.hear()
                if kind in written:
                    written[kind] += value
                else:
                    said[kind] = value
        except Closed as closed:
            return said, written[1], written[2], closed.code

    def until(self, wanted):
        """What is written on stdout until `wanted` is in it."""
        written = b""
        while wanted not in written:
            kind, value = self.hear()
            assert kind in (1, "started"), (kind, value, written)
            written += value if kind == 1 else b""
        return written


def frame(kind, payload, first=None):
    mask = b"\x9a\x3c\x51\xe7"
    size = len(payload)
    if size < 126:
        length = bytes([0x80 | size])
    elif size < 65536:
        length = b"\xfe" + struct.pack(">H", size)
    else:
        length = b"\xff" + struct.pack(">Q", size)
    repeated = (mask * (size // 4 + 1))[:size]
    body = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
    return bytes([first if first is not None else 0x80 | kind]) + length + mask + body
