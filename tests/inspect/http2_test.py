# HTTP/2 through the inspector: a client of python3-h2's or curl, a server of python3-h2's.
import contextlib
import hashlib
import shutil
import socket
import subprocess
import threading

import pytest

import inspector as inspectors
import servers
from inspector import Door, client_context, rule

h2_connection = pytest.importorskip("h2.connection", reason="python3-h2 is not installed")
import h2.config  # noqa: E402
import h2.errors  # noqa: E402
import h2.events  # noqa: E402
import h2.exceptions  # noqa: E402
import h2.settings  # noqa: E402

HOST = "api.example.com"
HEADERS = [(":method", "GET"), (":scheme", "https"), (":authority", HOST), (":path", "/")]


class Peer:
    """One end of HTTP/2 on a socket: events are noted by stream, and bodies are sent as windows allow."""

    def __init__(self, connected, client_side, validate=True):
        config = h2.config.H2Configuration(client_side=client_side, header_encoding="utf-8",
                                           validate_outbound_headers=validate, normalize_outbound_headers=validate)
        self.socket, self.h2 = connected, h2_connection.H2Connection(config)
        self.headers, self.bodies, self.ended, self.reset, self.trailers = {}, {}, set(), {}, {}
        self.informational, self.goaway, self.closed = [], None, False
        self.h2.initiate_connection()
        self.flush()

    def flush(self):
        with contextlib.suppress(OSError):
            self.socket.sendall(self.h2.data_to_send())

    def step(self):
        """One read and what it brings; False at the end of the connection."""
        try:
            data = self.socket.recv(65536)
        except (ConnectionResetError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            data = b""
        if not data:
            self.closed = True
            return False
        for event in self.h2.receive_data(data):
            self.note(event)
        self.flush()
        return True

    def note(self, event):
        if isinstance(event, (h2.events.ResponseReceived, h2.events.RequestReceived)):
            self.headers[event.stream_id] = list(event.headers)
            self.bodies.setdefault(event.stream_id, bytearray())
        elif isinstance(event, h2.events.InformationalResponseReceived):
            self.informational.append(dict(event.headers)[":status"])
        elif isinstance(event, h2.events.DataReceived):
            self.bodies[event.stream_id] += event.data
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.TrailersReceived):
            self.trailers[event.stream_id] = list(event.headers)
        elif isinstance(event, h2.events.StreamEnded):
            self.ended.add(event.stream_id)
        elif isinstance(event, h2.events.StreamReset):
            self.reset[event.stream_id] = event.error_code
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.goaway = event.error_code

    def until(self, done):
        while not done() and self.step():
            pass
        assert done(), (self.headers, self.reset, self.goaway)

    def send_body(self, stream, body, end=True):
        body = memoryview(body)
        while body:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(body))
            if room == 0:
                if stream in self.reset or not self.step():
                    return
                continue
            self.h2.send_data(stream, bytes(body[:room]))
            self.flush()
            body = body[room:]
        if end:
            self.h2.end_stream(stream)
            self.flush()

    def request(self, headers, body=None):
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, headers, end_stream=body is None)
        self.flush()
        if body is not None:
            self.send_body(stream, body)
        return stream

    def fetch(self, path, method="GET", body=None, more=()):
        stream = self.request([(":method", method), (":scheme", "https"), (":authority", HOST), (":path", path), *more],
                              body)
        self.until(lambda: stream in self.ended or stream in self.reset)
        return stream, dict(self.headers.get(stream, [])), self.bodies.get(stream)


def answer(peer, stream, headers, body):
    peer.h2.send_headers(stream, headers, end_stream=not body)
    peer.flush()
    if body:
        peer.send_body(stream, body)


def tell_what_came(server, peer):
    """Answers each request, when it has come whole, with what was in it."""
    answered = set()
    while peer.step():
        for stream in sorted(peer.ended - answered):
            answered.add(stream)
            headers, body = peer.headers[stream], peer.bodies[stream]
            server.received.append((headers, body, peer.trailers.get(stream)))
            path = dict(headers)[":path"]
            if path.startswith("/big/"):
                text = bytes(range(256)) * (int(path[5:]) // 256)
            else:
                text = f"{dict(headers)[':method']} {path} {len(body)} {hashlib.sha256(body).hexdigest()}".encode()
            answer(peer, stream, [(":status", "200"), ("content-length", str(len(text))), ("x-a", "b")], text)


def h2_server(pki, behave=tell_what_came, **options):
    def serve(server, connection):
        behave(server, Peer(connection, client_side=False, **options))
    return servers.RawServer(serve, pki.server_context(HOST, ("h2", "http/1.1")))


@pytest.fixture
def server(pki):
    return h2_server(pki)


def open_h2(inspector, server, validate=True, **options):
    client, number = inspector.connect(server.server_address, HOST, tls=True, **options)
    client.settimeout(inspectors.PATIENCE)
    wrapped = client_context(inspector, ("h2", "http/1.1")).wrap_socket(client, server_hostname=HOST)
    assert wrapped.selected_alpn_protocol() == "h2"
    return Peer(wrapped, client_side=True, validate=validate), number


def test_requests(inspector, server):
    client, number = open_h2(inspector, server)
    _, headers, body = client.fetch("/a?b", more=[("x-mine", "1"), ("te", "trailers"), ("cookie", "a=b")])
    assert headers[":status"] == "200" and headers["x-a"] == "b" and body.startswith(b"GET /a?b 0 ")
    seen = server.received[0][0]
    assert seen[:4] == [(":method", "GET"), (":scheme", "https"), (":authority", HOST), (":path", "/a?b")]
    assert {("x-mine", "1"), ("te", "trailers"), ("cookie", "a=b")} <= set(seen)
    content = b"0123456789" * 300_000
    _, _, body = client.fetch("/p", "POST", content)
    assert body == b"POST /p 3000000 " + hashlib.sha256(content).hexdigest().encode()
    client.h2.close_connection()
    client.flush()
    client.socket.close()
    assert inspector.refusals(number) == []


def test_the_protocol_is_what_both_speak(inspector, server, tls_server):
    for upstream, offered, spoken in ((server, ("h2", "http/1.1"), "h2"), (server, ("http/1.1",), "http/1.1"),
                                      (tls_server, ("h2", "http/1.1"), "http/1.1")):
        client, _ = inspector.connect(upstream.server_address, HOST, tls=True)
        wrapped = client_context(inspector, offered).wrap_socket(client, server_hostname=HOST)
        assert wrapped.selected_alpn_protocol() == spoken
        wrapped.close()


def test_streams_at_once(inspector, pki):
    """All requests are there before the first is answered, and answers come in another order."""
    def behave(_, peer):
        peer.until(lambda: len(peer.ended) == 50)
        for stream in sorted(peer.ended, reverse=True):
            answer(peer, stream, [(":status", "200")], dict(peer.headers[stream])[":path"].encode() * 1000)
        while peer.step():
            pass

    client, _ = open_h2(inspector, h2_server(pki, behave))
    streams = {client.request([*HEADERS[:3], (":path", f"/{i}")]): f"/{i}" for i in range(50)}
    client.until(lambda: set(streams) <= client.ended)
    for stream, path in streams.items():
        assert client.bodies[stream] == path.encode() * 1000


def test_a_hundred_megabytes(inspector, server):
    client, _ = open_h2(inspector, server)
    size = 100 << 20
    _, headers, body = client.fetch(f"/big/{size}")
    assert headers["content-length"] == str(size) and len(body) == size


def test_a_stream_that_is_not_read_holds_up_no_other(inspector, pki):
    def behave(_, peer):
        """Of the first stream as much as its window takes, whatever is asked besides is answered."""
        answered = set()
        while peer.step():
            if 1 in peer.ended and 1 not in answered:
                answered.add(1)
                peer.h2.send_headers(1, [(":status", "200")])
            while 1 in answered and (room := min(peer.h2.local_flow_control_window(1), 16384)) > 0:
                peer.h2.send_data(1, bytes(room))
                peer.flush()
            for stream in sorted(peer.ended - answered):
                answered.add(stream)
                answer(peer, stream, [(":status", "200")], b"ok")

    client, _ = open_h2(inspector, h2_server(pki, behave))
    note = client.note
    client.note = lambda event: isinstance(event, h2.events.DataReceived) and event.stream_id == 1 or note(event)
    client.h2.increment_flow_control_window(1 << 24)
    lazy = client.request(HEADERS)
    for i in range(3):
        _, headers, body = client.fetch(f"/{i}")
        assert headers[":status"] == "200" and body == b"ok"
    assert lazy not in client.ended


def test_trailers_and_interim_answers(inspector, pki):
    def behave(server, peer):
        peer.until(lambda: 1 in peer.ended)
        server.received.append(peer.trailers[1])
        peer.h2.send_headers(1, [(":status", "103"), ("link", "</style.css>")])
        peer.h2.send_headers(1, [(":status", "200")])
        peer.h2.send_data(1, b"body")
        peer.h2.send_headers(1, [("grpc-status", "0")], end_stream=True)
        peer.flush()
        while peer.step():
            pass

    server = h2_server(pki, behave)
    client, _ = open_h2(inspector, server)
    client.h2.send_headers(1, [(":method", "POST"), *HEADERS[1:], ("te", "trailers")])
    client.h2.send_data(1, b"x")
    client.h2.send_headers(1, [("x-sum", "1")], end_stream=True)
    client.flush()
    client.until(lambda: 1 in client.ended)
    assert client.informational == ["103"] and client.bodies[1] == b"body"
    assert client.trailers[1] == [("grpc-status", "0")] and server.received == [[("x-sum", "1")]]


def test_rules(inspector, server):
    rules = [rule(HOST, ["GET"], ["/ok/**"], [("Authorization", "Bearer real")], ["Cookie"])]
    client, number = open_h2(inspector, server, rules=rules)
    _, headers, _ = client.fetch("/x/../ok/%61", more=[("authorization", "fake"), ("cookie", "a=b"),
                                                             ("x-http-method-override", "DELETE")])
    assert headers[":status"] == "200"
    seen = server.received[0][0]
    assert (":path", "/ok/a") in seen and ("authorization", "Bearer real") in seen
    assert not [name for name, value in seen if name == "cookie" or value == "fake"]
    for method, path, body in (("GET", "/no", None), ("POST", "/ok/a", b"x" * 100_000), ("GET", "/ok/..%2fno", None),
                               ("HEAD", "/ok/a", None), ("OPTIONS", "*", None)):
        _, headers, _ = client.fetch(path, method, body)
        assert headers[":status"] == "403" and headers["x-proxy-error"] == "blocked-by-rule"
    _, headers, _ = client.fetch("/ok/b")
    assert headers[":status"] == "200" and len(server.received) == 2
    client.socket.close()
    assert [what for what, _ in inspector.refusals(number)][:2] == ["GET /no", "POST /ok/a"]


def test_a_body_that_comes_after_the_answer(inspector, server):
    """Curl takes a stream that is reset while it still sends for an error: a short body is read to its end."""
    client, _ = open_h2(inspector, server, rules=[rule(HOST, ["GET"])])
    stream = client.h2.get_next_available_stream_id()
    client.h2.send_headers(stream, [(":method", "POST"), *HEADERS[1:]])
    client.flush()
    client.until(lambda: stream in client.ended)
    assert dict(client.headers[stream])[":status"] == "403"
    client.send_body(stream, b"x" * 1000, end=False)
    assert client.fetch("/other")[1][":status"] == "200" and stream not in client.reset
    client.send_body(stream, b"x" * (4 << 20))
    client.until(lambda: stream in client.reset)
    assert client.reset[stream] == h2.errors.ErrorCodes.NO_ERROR
    assert client.fetch("/another")[1][":status"] == "200"


def test_the_gateway_is_not_flooded_with_refusals(inspector, server):
    client, number = open_h2(inspector, server, rules=[rule(HOST, ["GET"], ["/ok"])])
    for _ in range(150):
        _, headers, _ = client.fetch("/no")
        assert headers[":status"] == "403"
    client.socket.close()
    assert len(inspector.refusals(number)) == 100


@pytest.mark.parametrize("headers", [
    [(":authority", "other.example")], [(":authority", "api.example.com:444")],
    [(":authority", HOST), ("host", "x.example")], [("host", "other.example")], [(":authority", "u@api.example.com")],
])
def test_another_host(inspector, server, headers):
    client, number = open_h2(inspector, server, validate=False)
    stream = client.request([(":method", "GET"), (":scheme", "https"), (":path", "/"), *headers])
    client.until(lambda: client.closed)
    assert dict(client.headers.get(stream, [(":status", "403")]))[":status"] == "403"
    assert client.goaway is not None or stream in client.reset
    assert server.received == []
    assert len(inspector.refusals(number)) == 1


BAD = {
    "connection": [*HEADERS, ("connection", "close")],
    "transfer-encoding": [*HEADERS, ("transfer-encoding", "chunked")],
    "upgrade": [*HEADERS, ("upgrade", "h2c")],
    "te": [*HEADERS, ("te", "gzip")],
    "upper-case": [*HEADERS, ("X-Upper", "1")],
    "line-break": [*HEADERS, ("x-a", "1\r\nx-b: 2")],
    "nul": [*HEADERS, ("x-a", "1\0")],
    "break-in-path": [*HEADERS[:3], (":path", "/ HTTP/1.1\r\nhost: evil")],
    "pseudo-after": [*HEADERS, ("x-a", "1"), (":path", "/b")],
    "pseudo-twice": [*HEADERS, (":path", "/b")],
    "two-methods": [*HEADERS, (":method", "POST")],
    "unknown-pseudo": [*HEADERS, (":protocol", "websocket")],
    "no-path": HEADERS[:3],
    "no-method": HEADERS[1:],
    "relative-path": [*HEADERS[:3], (":path", "evil")],
    "whole-url": [*HEADERS[:3], (":path", "https://other.example/")],
    "no-host": [HEADERS[0], HEADERS[1], HEADERS[3]],
    "http-scheme": [HEADERS[0], (":scheme", "http"), *HEADERS[2:]],
    "connect": [(":method", "CONNECT"), (":authority", HOST)],
    "extended-connect": [(":method", "CONNECT"), *HEADERS[1:], (":protocol", "websocket")],
    "two-hosts": [*HEADERS, ("host", HOST), ("host", HOST)],
    "two-lengths": [*HEADERS, ("content-length", "0"), ("content-length", "5")],
    "odd-length": [*HEADERS, ("content-length", "+0")],
    "wrong-length": [*HEADERS, ("content-length", "5")],
    "many-fields": [*HEADERS, *[(f"x-{i}", "1") for i in range(200)]],
    "large": [*HEADERS, *[(f"x-{i}", "a" * 8000) for i in range(20)]],
}


@pytest.mark.parametrize("case", BAD)
def test_malformed_requests(inspector, server, case):
    client, number = open_h2(inspector, server, validate=False)
    stream = client.request(BAD[case])
    client.until(lambda: stream in client.reset or stream in client.ended or client.closed)
    status = dict(client.headers.get(stream, [])).get(":status")
    assert status in (None, "400"), status
    client.socket.close()
    inspector.wait_closed(number)
    assert server.received == []


@pytest.mark.parametrize("code", [h2.errors.ErrorCodes.CANCEL, h2.errors.ErrorCodes.REFUSED_STREAM])
def test_resets_go_through(inspector, pki, code):
    second_came, got = threading.Event(), {}

    def behave(_, peer):
        peer.until(lambda: 1 in peer.headers)
        peer.h2.reset_stream(1, code)
        peer.flush()
        peer.until(lambda: 3 in peer.headers)
        second_came.set()
        peer.until(lambda: 3 in peer.reset and 5 in peer.ended)
        got.update(peer.reset)
        answer(peer, 5, [(":status", "200")], b"ok")
        while peer.step():
            pass

    client, _ = open_h2(inspector, h2_server(pki, behave))
    first = client.request(HEADERS)
    client.until(lambda: first in client.reset)
    assert client.reset[first] == code
    second = client.h2.get_next_available_stream_id()
    client.h2.send_headers(second, [(":method", "POST"), *HEADERS[1:]])
    client.flush()
    assert second_came.wait(inspectors.PATIENCE)
    client.h2.reset_stream(second, code)
    third = client.request(HEADERS)
    client.until(lambda: third in client.ended)
    assert got[3] == code


def test_a_server_that_goes_away(inspector, pki):
    """Requests that it has not seen are given back, so that the client may ask again elsewhere."""
    def behave(_, peer):
        peer.until(lambda: {1, 3} <= set(peer.headers))
        peer.h2.close_connection(last_stream_id=1)
        peer.flush()
        gone.wait(inspectors.PATIENCE)

    gone = threading.Event()
    client, number = open_h2(inspector, h2_server(pki, behave))
    client.request(HEADERS)
    second = client.request(HEADERS)
    client.until(lambda: client.goaway is not None)
    assert client.reset.get(second) == h2.errors.ErrorCodes.REFUSED_STREAM
    gone.set()
    inspector.wait_closed(number)


def test_a_server_that_resets_the_connection(inspector, pki):
    def behave(_, peer):
        peer.until(lambda: 1 in peer.headers)
        peer.socket.close()

    client, number = open_h2(inspector, h2_server(pki, behave))
    stream = client.request(HEADERS)
    client.until(lambda: client.closed or stream in client.reset)
    assert stream not in client.ended
    inspector.wait_closed(number)


def test_a_server_with_few_streams(inspector, pki):
    def behave(server, peer):
        peer.h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 2})
        peer.flush()
        tell_what_came(server, peer)

    client, _ = open_h2(inspector, h2_server(pki, behave))
    streams = [client.request([*HEADERS[:3], (":path", f"/{i}")]) for i in range(20)]
    client.until(lambda: set(streams) <= client.ended)
    assert all(dict(client.headers[stream])[":status"] == "200" for stream in streams)


def test_a_flood_of_resets_ends_the_connection(inspector, server):
    client, number = open_h2(inspector, server)
    with contextlib.suppress(OSError, h2.exceptions.ProtocolError):
        for _ in range(20_000):
            stream = client.h2.get_next_available_stream_id()
            client.h2.send_headers(stream, HEADERS)
            client.h2.reset_stream(stream)
            client.socket.sendall(client.h2.data_to_send())
    with contextlib.suppress(OSError):
        while client.step():
            pass
    assert client.goaway is not None or client.closed
    inspector.wait_closed(number)


def test_a_flood_of_settings_ends_the_connection(inspector, server):
    client, number = open_h2(inspector, server)
    with contextlib.suppress(OSError):
        for _ in range(3000):
            client.socket.sendall(b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x04\x00\x01\x00\x00" * 100)
    client.socket.close()
    inspector.wait_closed(number)


def test_a_client_that_goes(inspector, server):
    client, number = open_h2(inspector, server)
    client.request([*HEADERS[:3], (":path", "/big/10485760")])
    client.socket.close()
    inspector.wait_closed(number)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
@pytest.mark.parametrize("size", [1, 7, 26, 5000])
def test_placeholders(inspector, server, size):
    token, value = "hutch-0123456789abcdef0123", "sk-a/b+c=d&e~f\"g'h!i0k1234"
    client, _ = open_h2(inspector, server, placeholders=[(token, value)])
    body = f"x{token}y{token}{token}{token[:9]}".encode()
    stream = client.h2.get_next_available_stream_id()
    client.h2.send_headers(stream, [(":method", "POST"), (":scheme", "https"), (":authority", HOST),
                                    (":path", f"/?k={token}"), ("x-key", f"Bearer {token}")])
    for at in range(0, len(body), size):
        client.send_body(stream, body[at:at + size], end=False)
    client.h2.end_stream(stream)
    client.flush()
    client.until(lambda: stream in client.ended)
    headers, sent, _ = server.received[0]
    assert bytes(sent).decode() == body.decode().replace(token, value)
    assert dict(headers)["x-key"] == f"Bearer {value}"
    assert dict(headers)[":path"] == "/?k=sk-a%2Fb%2Bc%3Dd%26e~f%22g%27h%21i0k1234"


def test_curl(inspector, server, tmp_path):
    authority = tmp_path / "ca.pem"
    authority.write_text(inspector.certificate())
    door = Door(inspector, server.server_address, HOST, tls=True)
    done = subprocess.run(["curl", "-sS", "--http2", "--cacert", authority, "--data", "x=1", "-w",
                           " %{http_version} %{http_code}", "--connect-to", f"{HOST}:443:127.0.0.1:{door.port}",
                           f"https://{HOST}/a"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=inspectors.PATIENCE)
    door.close()
    assert done.stdout.startswith(b"POST /a 3 ") and done.stdout.endswith(b" 2 200"), done.stdout


@pytest.mark.skipif(not shutil.which("nghttpd") or not shutil.which("h2load"), reason="nghttp2's programs are missing")
def test_h2load_against_nghttpd(inspector, pki, tmp_path):
    """Other people's client and server, many streams on many connections."""
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    cert, key = pki.certificate(HOST)
    upstream = subprocess.Popen(["nghttpd", "-d", tmp_path, str(port), key, cert], stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        door = Door(inspector, ("127.0.0.1", port), HOST, tls=True)
        done = subprocess.run(["h2load", "-n", "500", "-c", "5", "-m", "20", f"--connect-to=127.0.0.1:{door.port}",
                               f"https://{HOST}/file"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=inspectors.PATIENCE)
        assert b"500 succeeded, 0 failed, 0 errored" in done.stdout, done.stdout
        door.close()
    finally:
        upstream.terminate()
        upstream.wait()


def wait_for(port):
    for _ in range(900):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        threading.Event().wait(0.05)
    raise AssertionError("the server did not come up")
