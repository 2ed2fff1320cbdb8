#!/usr/bin/python3 -IS
# A guest that breaks the rules: copied as hutch-guest beside a hutch of its own, for agents without isolation.
"""What it does is in the file `mode` beside it. With arguments (other backends) it is the real one, `honest-guest`."""

import array
import os
import pathlib
import select
import socket
import struct
import sys
import time

HERE = pathlib.Path(sys.argv[0]).resolve().parent
SPAWNED, READY, FAILED, STARTED, NOT_EXECUTED, NOT_STARTED, STOPPED, EXITED, REFUSED, NETWORK, SERVER = range(11)
EXEC, SIGNAL, SOCKETS, FILES = 1, 2, 3, 4
host = None
buffer, descriptors = b"", []


def frame(kind, body=b"", size=None, channel=0):
    return struct.pack("<IHH", len(body) if size is None else size, kind, channel) + body


def text(value):
    return struct.pack("<I", len(value)) + value


def send(data, fds=()):
    parts = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    sent = host.sendmsg([data], parts)
    host.sendall(data[sent:])


def receive():
    global buffer
    while True:
        if len(buffer) >= 8:
            size, kind, _ = struct.unpack("<IHH", buffer[:8])
            if len(buffer) >= 8 + size:
                body, buffer = buffer[8 : 8 + size], buffer[8 + size :]
                return kind, body
        data, parts, _, _ = host.recvmsg(1 << 16, socket.CMSG_SPACE(4 * 64))
        for _, _, content in parts:
            descriptors.extend(array.array("i", content[: len(content) // 4 * 4]))
        if not data:
            os._exit(0)
        buffer += data


def u32(value):
    return struct.pack("<I", value)


def for_ever():
    """Until the host closes the stream, read or not."""
    poll = select.poll()
    poll.register(host, 0)
    poll.poll()
    os._exit(0)


def error(words):
    return b"\6" + u32(5) + text(words)


def each_exec(act):
    """Ready, and then `act(number)` for each command."""
    send(frame(READY))
    while True:
        kind, body = receive()
        if kind == EXEC:
            number = struct.unpack("<I", body[:4])[0]
            act(number)
            for fd in descriptors:
                os.close(fd)
            descriptors.clear()


def start(number):
    send(frame(STARTED, u32(number) + u32(77)))


def many_fds(count):
    return [os.open("/dev/null", os.O_RDWR) for _ in range(count)]


def on_files(reply):
    """Ready; a file server is a socket that answers with `reply`, then nothing."""
    send(frame(READY))
    while True:
        kind, body = receive()
        if kind == EXEC:
            send(frame(NOT_STARTED, body[:4] + error(b"no")))
        if kind == FILES:
            mine, its = socket.socketpair()
            send(frame(SERVER), [its.fileno()])
            its.close()
            mine.recv(65536)
            reply(mine)
            servers.append(mine)


def flood(number):
    start(number)
    os.set_blocking(descriptors[1], True)
    for _ in range(64):
        os.write(descriptors[1], b"\0\xff" * 32768)
    send(frame(EXITED, u32(number) + u32(0)))
    for fd in descriptors:
        kept.append(os.dup(fd))


servers, kept = [], []
MODES = {
    "never ready": for_ever,
    "outlives its stream": lambda: (send(frame(READY)), time.sleep(1000)),
    "ends at once": lambda: os._exit(3),
    "half a frame": lambda: (send(frame(READY) + b"\1\2\3"), for_ever()),
    "half a frame and the end": lambda: (send(frame(READY) + b"\1\2\3"), os._exit(0)),
    "a type that is none": lambda: (send(frame(READY) + frame(11)), for_ever()),
    "the largest type": lambda: (send(frame(0xFFFF)), for_ever()),
    "too large": lambda: (send(frame(READY, size=(8 << 20) + 1)), for_ever()),
    "another channel": lambda: (send(frame(READY, channel=1)), for_ever()),
    "a large frame that does not end": lambda: (
        send(frame(READY) + frame(FAILED, b"x" * 5_000_000, size=8 << 20)),
        for_ever(),
    ),
    "noise": lambda: (send(os.urandom(100_000)), for_ever()),
    "ready often": lambda: (send(frame(READY) * 10_000), for_ever()),
    "spawned": lambda: (send(frame(SPAWNED, u32(1)) + frame(READY)), for_ever()),
    "failed": lambda: (
        send(frame(FAILED, error(b"\x1b[2J\x1b]0;owned\x07\r\nhutch: all is well\0\xff" * 50))),
        for_ever(),
    ),
    "ready, then failed": lambda: (send(frame(READY) + frame(FAILED, error(b"x" * 100_000))), for_ever()),
    "reads nothing": lambda: (send(frame(READY)), for_ever()),
    "answers nothing": lambda: each_exec(lambda number: None),
    "descriptors with ready": lambda: (send(frame(READY), many_fds(60)), for_ever()),
    "descriptors with every byte": lambda: [send(bytes([byte]), many_fds(60)) for byte in frame(READY) * 100],
    "ends twice": lambda: each_exec(lambda number: (start(number), send(frame(EXITED, u32(number) + u32(0)) * 2))),
    "ends before its start": lambda: each_exec(lambda number: send(frame(EXITED, u32(number) + u32(0)))),
    "another's end": lambda: each_exec(lambda number: send(frame(EXITED, u32(number + 7) + u32(0)))),
    "another's start": lambda: each_exec(lambda number: (start(number + 7), start(0), start(0xFFFFFFFF))),
    "starts often": lambda: each_exec(lambda number: [start(number) for _ in range(5000)]),
    "starts with descriptors": lambda: each_exec(
        lambda number: send(frame(STARTED, u32(number) + u32(1)), many_fds(60))
    ),
    "stops often": lambda: each_exec(lambda number: (start(number), send(frame(STOPPED, u32(number)) * 5000))),
    "a status that is none": lambda: each_exec(
        lambda number: (start(number), send(frame(EXITED, u32(number) + u32(0xFFFFFFFF))))
    ),
    "cannot execute": lambda: each_exec(
        lambda number: send(frame(NOT_EXECUTED, u32(number) + u32(0xFFFFFFFF) + text(b"\x1b[31m\xff" * 1000)) * 3)
    ),
    "cannot start": lambda: each_exec(lambda number: send(frame(NOT_STARTED, u32(number) + error(b"\x1b[31m")) * 3)),
    "refused without end": lambda: each_exec(
        lambda number: (start(number), [send(frame(REFUSED, b"\0" + u32(5)) * 1000) for _ in range(200)])
    ),
    "a refusal that is none": lambda: each_exec(lambda number: send(frame(REFUSED, b"\7" + u32(5)))),
    "a network": lambda: (
        send(frame(READY) + frame(NETWORK, u32(1) + b"\0" + b"\7\0" + text(b"")), many_fds(1)),
        for_ever(),
    ),
    "a network of many": lambda: (send(frame(READY) + frame(NETWORK, u32(0xFFFFFFFF) + text(b""))), for_ever()),
    "a file server": lambda: (send(frame(READY) + frame(SERVER), many_fds(1)), for_ever()),
    "a file server of nothing": lambda: (send(frame(READY) + frame(SERVER)), for_ever()),
    "files: noise": lambda: on_files(lambda end: end.send(os.urandom(50_000))),
    "files: the end": lambda: on_files(lambda end: end.close()),
    "files: too large": lambda: on_files(lambda end: end.send(struct.pack("<IHH", 0xFFFFFFFF, 1, 0))),
    "files: descriptors": lambda: on_files(
        lambda end: end.sendmsg(
            [frame(0, b"")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", many_fds(50)))]
        )
    ),
    "files: another's answer": lambda: on_files(lambda end: end.send(frame(6) * 100)),
    "files: nothing": lambda: on_files(lambda end: None),
    "floods and keeps the pipes": lambda: each_exec(flood),
}


def main():
    global host
    if len(sys.argv) > 1:
        os.execv(HERE / "honest-guest", ["hutch-guest", *sys.argv[1:]])
    host = socket.socket(fileno=0)
    mode = (HERE / "mode").read_text()
    if not mode.startswith("reads nothing") and mode != "never ready":
        receive()
    MODES[mode]()
    for_ever()


try:
    main()
except OSError:
    os._exit(0)  # the host has had enough of it
