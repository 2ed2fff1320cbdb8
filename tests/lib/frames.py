# The frames of hutch's own sockets, for tests that speak to the daemon, or as a guest, without its programs.
"""A frame is its size, its type and its channel, little-endian, and then its body."""

import array
import json
import socket
import struct

CALL, INPUT = 0, 1  # to the daemon
EVENT, RESULT, FAILED = 0, 1, 2  # from it
BYTES_MAX = 8 << 20


def frame(kind, body=b"", size=None, channel=0):
    return struct.pack("<IHH", len(body) if size is None else size, kind, channel) + body


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<I", len(data)) + data


class Reader:
    """Takes a body apart."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, form):
        value = struct.unpack_from("<" + form, self.body, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        size = self.take("I")
        self.at += size
        return self.body[self.at - size:self.at]


class Wire:
    """One connection; whole frames with the descriptors that came along."""

    def __init__(self, end):
        self.end, self.buffer, self.descriptors = end, b"", []
        end.settimeout(60)

    def send(self, data, descriptors=()):
        parts = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        sent = self.end.sendmsg([data], parts)
        self.end.sendall(data[sent:])

    def receive(self):
        """(type, body), or None at the end of the stream."""
        while True:
            if len(self.buffer) >= 8:
                size, kind, _ = struct.unpack("<IHH", self.buffer[:8])
                if len(self.buffer) >= 8 + size:
                    body, self.buffer = self.buffer[8:8 + size], self.buffer[8 + size:]
                    return kind, body
            try:
                data, parts, _, _ = self.end.recvmsg(1 << 16, socket.CMSG_SPACE(4 * 64))
            except ConnectionResetError:
                return None
            for level, kind, content in parts:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    self.descriptors += array.array("i", content[:len(content) // 4 * 4])
            if not data:
                return None
            self.buffer += data

    def close(self):
        self.end.close()


def connect(path):
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end.connect(str(path))
    return Wire(end)


def call_frame(verb, **arguments):
    return frame(CALL, text(json.dumps({"verb": verb, **arguments})))


def call(wire, verb, descriptors=(), **arguments):
    """What it ended with, and the value: "result" and parsed JSON, or "failed" and a message. Events are skipped."""
    wire.send(call_frame(verb, **arguments), descriptors)
    while True:
        answer = wire.receive()
        if answer is None:
            return "gone", None
        kind, body = answer
        if kind == RESULT:
            return "result", json.loads(Reader(body).text())
        if kind == FAILED:
            reader = Reader(body)
            reader.take("B"), reader.take("I")
            return "failed", reader.text().decode(errors="replace")
