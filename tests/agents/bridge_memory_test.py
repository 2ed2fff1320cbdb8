# What one sandbox sends its bridge never takes much more of the daemon's memory than was sent.
import threading
import time

import daemons

CALL = """
import json, os, socket, threading
def connect():
    s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(os.environ["HUTCH_BRIDGE"]); return s
def head(path, size):
    return b"POST /api/%s HTTP/1.0\\r\\nContent-Length: %d\\r\\n\\r\\n" % (path, size)
def call(path, body):
    s = connect(); s.sendall(head(path, len(body)) + body); return s.recv(200)[9:12].decode()
"""
# As many as may be under way at once, each without its last byte until all are.
VALUES = CALL + """
body = b'{"message":"x","y":[' + b"[]," * 2_600_000 + b"0]}"
together = threading.Barrier(4)
said = []
def one():
    s = connect(); s.sendall(head(b"log", len(body)) + body[:-1])
    together.wait(60); s.sendall(body[-1:]); said.append(s.recv(200)[9:12].decode())
threads = [threading.Thread(target=one) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(*said, call(b"log", b'{"message":"%s"}' % (b"[" * 100_000)))
"""
LARGE = CALL + """
body = b'{"message":"' + b"x" * 7_900_000 + b'"}'
said = []; held = []
for _ in range(30):
    s = connect()
    try:
        s.sendall(head(b"log", len(body)) + body[:-1])
    except OSError:
        pass
    held.append(s)
for s in held:
    try:
        s.sendall(body[-1:])
        said.append(s.recv(200)[9:12].decode())
    except OSError:
        said.append("429")
print(said.count("200"), said.count("429"), call(b"log", b'{"message":"small"}'), call(b"log", body))
"""
EVENTS = CALL + """
deaf = []
for _ in range(28):
    s = connect(); s.sendall(b"GET /api/events/listen HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"); deaf.append(s)
body = json.dumps({"type": "x", "payload": "a" * 64000}).encode()
print(*{call(b"events/emit", body) for _ in range(600)})
text = b""
deaf[0].settimeout(20)
while b'{"missed":' not in text:
    text += deaf[0].recv(1 << 20)
while b'"number":600,' not in text:
    text += deaf[0].recv(1 << 20)
print("heard")
"""


def most_memory(daemon, agent, script):
    """Of the daemon while that runs inside; it is ended where it takes more than this machine should lend."""
    daemon.sh(agent, "true").ok()
    pid, most, said = daemon.pid(), 0, []
    running = threading.Thread(target=lambda: said.append(daemon.exec(agent, "python3", "-c", script, timeout=200)))
    running.start()
    while running.is_alive():
        most = max(most, daemons.memory(pid) >> 20)
        if most > 900:
            daemon("agent", "stop", agent)
            break
        time.sleep(0.05)
    running.join()
    return most, said[0].text


def test_bodies_of_many_small_values(own_daemon):
    most, said = most_memory(own_daemon, own_daemon.create(), VALUES)
    assert said == "400 400 400 400 200\n" and most < 256, (most, said)


def test_large_bodies_at_once(own_daemon):
    """Four of 8 MiB go on, the others are told to come again; small ones always go on."""
    most, said = most_memory(own_daemon, own_daemon.create(), LARGE)
    assert said == "4 26 200 200\n" and most < 256, (most, said)


def test_events_for_listeners_that_do_not_read(own_daemon):
    """Who reads at last is told that some were lost, and hears the last ones."""
    most, said = most_memory(own_daemon, own_daemon.create(), EVENTS)
    assert said == "200\nheard\n" and most < 256, (most, said)
