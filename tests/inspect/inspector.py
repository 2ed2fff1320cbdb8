# Speaks to a real hutch-inspect as the gateway does: frames on a socket, descriptors beside them.
"""`Inspector` starts the program; `connect` hands it one connection and gives the client's end."""

import array
import contextlib
import http.client
import os
import pathlib
import queue
import re
import socket
import ssl
import struct
import subprocess
import threading

PATIENCE = 45.0  # seconds; the machine is shared and slow at times
MESSAGES = pathlib.Path(__file__).resolve().parents[2] / "src/wire/message.h"
VERSION = int(re.search(r"kVersion = (\d+)", MESSAGES.read_text(encoding="utf-8"))[1])
START, INSPECT, END = range(3)
READY, FAILED, REFUSED, CLOSED = range(4)


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<I", len(data)) + data


def texts(values):
    return struct.pack("<I", len(values)) + b"".join(text(value) for value in values)


def rule(host="", methods=(), paths=(), set_headers=(), remove_headers=()):
    pairs = struct.pack("<I", len(set_headers)) + b"".join(text(name) + text(value) for name, value in set_headers)
    return text(host) + texts(methods) + texts(paths) + pairs + texts(remove_headers)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def integer(self, form):
        size = struct.calcsize(form)
        self.at += size
        return struct.unpack("<" + form, self.data[self.at - size:self.at])[0]

    def bytes(self):
        size = self.integer("I")
        self.at += size
        return self.data[self.at - size:self.at]

    def text(self):
        return self.bytes().decode()


class Closed(Exception):
    """The inspector has ended."""


class Inspector:
    def __init__(self, program, extra_ca=(), environment=None, authority=b""):
        ours, theirs = socket.socketpair()
        self.socket = ours
        # No bundle of the machine's: what is trusted is what the test names. This file holds no certificate.
        environment = {"SSL_CERT_FILE": os.path.abspath(__file__), **(environment or {})}
        environment = {name: value for name, value in environment.items() if value}
        self.process = subprocess.Popen([program], stdin=theirs, env=environment)
        theirs.close()
        self.next_id = 1
        self.refused, self.closed, self.failed = [], {}, None
        self.changed = threading.Condition()
        self.ready = queue.Queue()
        self.gone = False
        self.java_store = self.authority = b""
        # One that cannot start may have said so, and ended before the whole message is sent: listen() reads that.
        with contextlib.suppress(ConnectionError):
            self.send(START, struct.pack("<I", VERSION) + texts(extra_ca) + b"\1" + text(authority))
        threading.Thread(target=self.listen, daemon=True).start()

    def send(self, kind, body, descriptors=()):
        frame = struct.pack("<IHH", len(body), kind, 0) + body
        beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        sent = self.socket.sendmsg([frame], beside)
        self.socket.sendall(frame[sent:])

    def receive(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise Closed
            data += piece
        return data

    def listen(self):
        try:
            while True:
                size, kind, _ = struct.unpack("<IHH", self.receive(8))
                self.note(kind, Reader(self.receive(size)))
        except (Closed, OSError):
            with self.changed:
                self.gone = True
                self.changed.notify_all()
            self.ready.put(None)

    def note(self, kind, body):
        with self.changed:
            if kind == READY:
                pem = body.text()
                self.java_store = body.bytes()
                self.authority = body.bytes()
                self.ready.put(pem)
            elif kind == FAILED:
                body.at = 5
                self.failed = body.text()
            elif kind == REFUSED:
                self.refused.append((body.integer("Q"), body.text(), body.text()))
            elif kind == CLOSED:
                number = body.integer("Q")
                self.closed[number] = (body.integer("Q"), body.integer("Q"))
            self.changed.notify_all()

    def certificate(self):
        """The CA of the sandbox, as PEM; None when it could not start."""
        pem = self.ready.get(timeout=PATIENCE)
        self.ready.put(pem)
        return pem

    def connect(self, upstream, host, port=None, tls=False, proxy=False, rules=(), placeholders=()):
        """(the client's socket, the connection's number); `upstream` is where the server listens."""
        server = socket.create_connection(upstream, timeout=PATIENCE)
        listener = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(listener.getsockname(), timeout=PATIENCE)
        accepted, _ = listener.accept()
        listener.close()
        number = self.hand_over(accepted, server, host, port or (443 if tls else 80), tls, proxy, rules, placeholders)
        return client, number

    def hand_over(self, client, server, host, port, tls, proxy, rules, placeholders=()):
        number, self.next_id = self.next_id, self.next_id + 1
        body = struct.pack("<Q", number) + text(host) + struct.pack("<HBB", port, proxy, tls)
        body += struct.pack("<I", len(rules)) + b"".join(rules)
        body += struct.pack("<I", len(placeholders))
        body += b"".join(text(token) + text(value) for token, value in placeholders)
        self.send(INSPECT, body, [client.fileno(), server.fileno()])
        client.close()
        server.close()
        return number

    def end(self, number):
        self.send(END, struct.pack("<Q", number))

    def wait_closed(self, number):
        """(bytes up, bytes down) when the connection has ended."""
        with self.changed:
            assert self.changed.wait_for(lambda: number in self.closed or self.gone, PATIENCE), "not closed"
            return self.closed[number]

    def refusals(self, number):
        """[(what, why)] of a connection that has ended."""
        self.wait_closed(number)
        return [(what, why) for its, what, why in self.refused if its == number]

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=PATIENCE)

    def stop(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        code = self.process.wait(timeout=PATIENCE)
        assert code == 0, code


def program():
    return os.path.join(os.environ["HUTCH_BIN"], "hutch-inspect")


def client_context(inspector, protocols=("http/1.1",)):
    """Trusts the sandbox's authority alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=inspector.certificate())
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


class Client(http.client.HTTPConnection):
    """http.client on a socket that is connected already."""

    def __init__(self, connected, host, port=80):
        super().__init__(host, port, timeout=PATIENCE)
        connected.settimeout(PATIENCE)
        self.sock = connected

    def fetch(self, method, path, body=None, headers=None):
        self.request(method, path, body, headers or {})
        response = self.getresponse()
        return response, response.read()


class Door:
    """An address for clients that make their connections themselves: each is handed to the inspector."""

    def __init__(self, inspector, upstream, host, **options):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.numbers = []
        self.inspector, self.upstream, self.host, self.options = inspector, upstream, host, options
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(self.upstream, timeout=PATIENCE)
                options = {"tls": False, "proxy": False, "rules": (), "port": None, **self.options}
                port = options["port"] or (443 if options["tls"] else 80)
                self.numbers.append(self.inspector.hand_over(client, server, self.host, port, options["tls"],
                                                             options["proxy"], options["rules"]))
            except OSError:
                return

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
