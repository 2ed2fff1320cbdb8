# A daemon that serves HTTP on a port of its own, and a small client of its API.
"""The suites that speak HTTP start from Api; nothing here knows what a single test asserts."""

import base64
import contextlib
import functools
import http.client
import itertools
import json
import pathlib
import re
import select
import shutil
import socket
import subprocess
import time
import urllib.parse

import harness

PATIENCE = 45
numbers = itertools.count(1)


class Reply:
    """An answer: `status`, `headers` (lower case), `body` (bytes)."""

    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.lower(): value for name, value in headers}

    def json(self):
        return json.loads(self.body)

    def ok(self, status=None):
        """Its JSON, after asserting that it is no error."""
        good = self.status == status if status else self.status < 300
        assert good, f"{self.status}: {self.body[:2000]!r}"
        return self.json() if self.body else None

    def error(self, status):
        """The code of the error that it is."""
        assert self.status == status, f"{self.status}: {self.body[:2000]!r}"
        return self.json()["error"]["code"]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class Api:
    """`hutch serve --listen` as one person, with a state of its own."""

    def __init__(self, base, person, settings=None, listen="127.0.0.1"):
        self.base, self.person = base, person
        self.state = person.mkdir(person.home / f"http-{next(numbers)}")
        if settings is not None:
            person.write(person.mkdir(self.state / "config") / "config.json", json.dumps(settings))
        self.token_file = self.state / "token"
        self.program = base.bin / "hutch"
        self.log = open(self.state / "log", "w+b")
        argv = [self.program, "serve", "--listen", f"{listen}:0", "--token-file", self.token_file]
        self.process = harness.start_in(person, argv, env=self.environment(), stderr=self.log, stdout=self.log)
        self.port = self._wait_for_port()
        self.token = self.token_file.read_text().strip()

    def environment(self):
        return {"HUTCH_STATE": str(self.state)}

    def _wait_for_port(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = re.search(rb"listening on http://[0-9.]+:(\d+)", (self.state / "log").read_bytes())
            if found:
                return int(found.group(1))
            assert self.process.poll() is None, (self.state / "log").read_bytes()
            time.sleep(harness.POLL)
        raise AssertionError("the daemon does not listen")

    def stop(self):
        self("daemon", "stop")
        try:
            self.process.wait(PATIENCE)
        finally:
            harness.kill_group(self.process)
            self.log.close()
            shutil.rmtree(self.state, ignore_errors=True)

    def __call__(self, *args, **options):
        """`hutch ARGS` against this daemon."""
        return harness.run_in(self.person, [self.program, *args], env=self.environment(), **options)

    @functools.cached_property  # looked for once: sandboxes come and go below
    def socket_path(self):
        return next(pathlib.Path(self.state).rglob("hutch.sock"))

    def headers(self, more=None):
        return {"Authorization": f"Bearer {self.token}", **(more or {})}

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def request(self, method, path, body=None, data=None, headers=None, connection=None):
        """One request; `data` goes as JSON. The token is shown unless `headers` has another Authorization."""
        sent = self.headers(headers)
        if data is not None:
            body = json.dumps(data)
            sent.setdefault("Content-Type", "application/json")
        own = connection or self.connection()
        try:
            own.request(method, path, body=body, headers={k: v for k, v in sent.items() if v is not None})
            answer = own.getresponse()
            return Reply(answer.status, answer.getheaders(), answer.read())
        finally:
            if connection is None:
                own.close()

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, data=None, **options):
        return self.request("POST", path, data=data, **options)

    def files(self, agent, path, **query):
        return f"/v1/agents/{agent}/files?" + urllib.parse.urlencode({"path": path, **query})

    def create(self, **settings):
        """A new agent's name."""
        name = f"a{next(numbers)}"
        self.post("/v1/agents", {"name": name, **settings}).ok(201)
        return name

    @contextlib.contextmanager
    def events(self, method, path, data=None, headers=None):
        """The events of a stream as (name, data), while the `with` lasts."""
        connection = self.connection()
        sent = self.headers({"Accept": "text/event-stream", **(headers or {})})
        if data is not None:
            sent["Content-Type"] = "application/json"
        try:
            connection.request(method, path, body=json.dumps(data) if data is not None else None, headers=sent)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            assert answer.headers["Content-Type"] == "text/event-stream"
            yield read_events(answer)
        finally:
            # Not closed while somebody else holds the file: the socket itself has to end.
            if connection.sock is not None:
                connection.sock.close()
            connection.close()

    def raw(self):
        """A plain socket to the port."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        return made

    def say(self, *pieces, half_close=False):
        """Everything that comes back for these bytes until the server closes."""
        with self.raw() as plain:
            for piece in pieces:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    plain.sendall(piece)
            if half_close:
                plain.shutdown(socket.SHUT_WR)
            return read_to_end(plain)

    def head(self, line, *fields, token=True):
        """A request's head as bytes; Host and the token are there already."""
        lines = [line, f"Host: 127.0.0.1:{self.port}"]
        if token:
            lines.append(f"Authorization: Bearer {self.token}")
        return "\r\n".join([*lines, *fields, "", ""]).encode()


def read_to_end(plain):
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := plain.recv(65536):
            got += piece
    return got


def read_some(plain, wanted, seconds=PATIENCE):
    """Until `wanted` has come."""
    got = b""
    deadline = time.monotonic() + seconds
    while wanted not in got:
        assert select.select([plain], [], [], max(0, deadline - time.monotonic()))[0], got
        piece = plain.recv(65536)
        assert piece, got
        got += piece
    return got


def read_events(answer):
    name, lines = "message", []
    for raw in answer:
        line = raw.decode().rstrip("\n")
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            lines.append(line[6:])
        elif not line and lines:
            yield name, json.loads("\n".join(lines))
            name, lines = "message", []


def text_of(events, stream):
    """What a list of events says was written on one stream."""
    return b"".join(base64.b64decode(data["base64"]) for name, data in events if name == stream)


def wait_until(condition):
    """Polls until `condition()` is true, and gives what it gave."""
    deadline = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "it does not come about"
        time.sleep(harness.POLL)


def run_program(person, argv, cwd, env, stdin=b""):
    """A client program that is no part of hutch; its output as text."""
    done = harness.run_in(person, argv, stdin=stdin, cwd=cwd, env=env, timeout=300)
    assert done.code == 0, str(done)
    return done.text


__all__ = ["Api", "Reply", "UnixConnection", "read_events", "read_some", "read_to_end", "run_program", "subprocess",
           "text_of", "wait_until"]


class OnSocket:
    """The calls of Api by a daemon's own socket, where nobody is asked for a token."""

    token = ""
    headers, request, get, post = Api.headers, Api.request, Api.get, Api.post

    def __init__(self, path):
        self.path = path

    def connection(self):
        return UnixConnection(self.path)
