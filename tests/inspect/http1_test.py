# HTTP/1 through the inspector: what is allowed arrives whole, in plain text and inside TLS.
import hashlib
import socket
import struct
import threading

import pytest

import inspector as inspectors
import servers
from inspector import Client, client_context, rule

HOST = "api.example.com"


@pytest.fixture(params=["plain", "tls"])
def connect(request, inspector, plain_server, tls_server):
    """connect(...) gives (a client, the connection's number, the server) in plain text and inside TLS."""
    tls = request.param == "tls"
    server = tls_server if tls else plain_server

    def made(host=HOST, **options):
        client, number = inspector.connect(server.server_address, host, tls=tls, **options)
        if tls:
            client = client_context(inspector).wrap_socket(client, server_hostname=host)
        return Client(client, host, 443 if tls else 80), number, server
    return made


def test_requests_one_after_another(connect, inspector):
    client, number, _ = connect()
    for path in ("/a", "/b?c=d", "/a%20b/%2f"):
        response, body = client.fetch("GET", path)
        assert response.status == 200 and body.startswith(f"GET {path} 0".encode())
    response, body = client.fetch("HEAD", "/a")
    assert response.status == 200 and body == b"" and int(response.headers["Content-Length"]) > 0
    for status in (204, 304):
        response, body = client.fetch("GET", f"/{status}")
        assert response.status == status and body == b""
    client.close()
    assert inspector.refusals(number) == []
    assert min(inspector.wait_closed(number)) > 0


def test_bodies(connect):
    client, _, _ = connect()
    content = b"0123456789" * 100_000
    digest = hashlib.sha256(content).hexdigest().encode()
    _, body = client.fetch("POST", "/p", content)
    assert body == b"POST /p 1000000 " + digest
    pieces = (content[at:at + 7777] for at in range(0, len(content), 7777))
    client.request("PUT", "/q", pieces, {"Transfer-Encoding": "chunked"}, encode_chunked=True)
    assert client.getresponse().read() == b"PUT /q 1000000 " + digest
    response, body = client.fetch("GET", "/chunked")
    assert body == b"onetwo" + b"three" * 1000 and response.headers["Transfer-Encoding"] == "chunked"
    response, body = client.fetch("GET", "/until-close")
    assert body == b"until the end" and response.headers["Connection"] == "close"


def test_a_hundred_megabytes_each_way(connect):
    client, _, _ = connect()
    size = 100 << 20
    client.request("GET", f"/big/{size}")
    response = client.getresponse()
    pattern = hashlib.sha256()
    total = 0
    while piece := response.read(1 << 20):
        total += len(piece)
        pattern.update(piece)
    assert total == size
    assert pattern.hexdigest() == hashlib.sha256(bytes(range(256)) * (size // 256)).hexdigest()
    _, body = client.fetch("POST", "/p", bytes(size))
    assert body.startswith(b"POST /p %d " % size)


def test_pipelined_requests(inspector, plain_server):
    client, _ = inspector.connect(plain_server.server_address, HOST)
    request = "GET /%d HTTP/1.1\r\nHost: api.example.com\r\n%s\r\n"
    client.sendall("".join(request % (i, "Connection: close\r\n" * (i == 9)) for i in range(10)).encode())
    answers = servers.read_all(client)
    places = [answers.find(b"GET /%d 0 " % i) for i in range(10)]
    assert -1 not in places and places == sorted(places)


def test_http_1_0(inspector, plain_server):
    client, _ = inspector.connect(plain_server.server_address, HOST)
    client.sendall(b"GET /old HTTP/1.0\r\n\r\n")
    assert b"GET /old 0 " in servers.read_all(client)
    assert ("Host", HOST) in plain_server.seen[-1][2]
    client, _ = inspector.connect(plain_server.server_address, HOST)
    client.sendall(b"GET /chunked HTTP/1.0\r\nHost: api.example.com\r\n\r\n")
    head, _, body = servers.read_all(client).partition(b"\r\n\r\n")
    assert body == b"onetwo" + b"three" * 1000 and b"chunked" not in head


def test_continue(inspector):
    def serve(server, connection):
        server.received.append(servers.read_head(connection))
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        server.received.append(connection.recv(4))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    server = servers.RawServer(serve)
    client, _ = inspector.connect(server.server_address, HOST)
    client.settimeout(inspectors.PATIENCE)
    client.sendall(b"PUT / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    assert servers.read_head(client) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.sendall(b"body")
    assert servers.read_head(client).startswith(b"HTTP/1.1 200 OK\r\n")
    assert server.received[1] == b"body" and b"Expect: 100-continue" in server.received[0]


def test_trailers_go_both_ways(inspector):
    def serve(server, connection):
        server.received.append(servers.read_head(connection))
        data = b""
        while not data.endswith(b"\r\n\r\n"):
            data += connection.recv(1)
        server.received.append(data)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n")

    server = servers.RawServer(serve)
    client, _ = inspector.connect(server.server_address, HOST)
    client.sendall(b"POST / HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: chunked\r\n"
                   b"Connection: close\r\n\r\n5;ext=1\r\nhello\r\n0\r\nX-Check: 1\r\nHost: evil.example\r\n\r\n")
    assert servers.read_all(client).endswith(b"2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n")
    assert server.received[1] == b"5\r\nhello\r\n0\r\nX-Check: 1\r\n\r\n"


def websocket(client):
    client.sendall(b"GET /ws HTTP/1.1\r\nHost: api.example.com\r\nConnection: keep-alive, Upgrade\r\n"
                   b"Upgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n")


def echo_after_upgrade(server, connection):
    server.received.append(servers.read_head(connection))
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly")
    while data := connection.recv(65536):
        connection.sendall(data)
    connection.sendall(b"bye")


def test_websocket(inspector):
    server = servers.RawServer(echo_after_upgrade)
    client, number = inspector.connect(server.server_address, HOST, rules=[rule(HOST, ["GET"], ["/ws"])])
    client.settimeout(inspectors.PATIENCE)
    websocket(client)
    head = servers.read_head(client)
    assert head.startswith(b"HTTP/1.1 101 ") and b"Upgrade: websocket" in head
    client.sendall(b"\x00GET / HTTP/1.1\r\n\r\n")
    client.shutdown(socket.SHUT_WR)
    assert servers.read_all(client) == b"early\x00GET / HTTP/1.1\r\n\r\nbye"
    assert inspector.refusals(number) == []


def test_websocket_that_no_rule_allows(inspector):
    server = servers.RawServer(echo_after_upgrade)
    client, _ = inspector.connect(server.server_address, HOST, rules=[rule(HOST, ["GET"], ["/other"])])
    websocket(client)
    assert servers.read_all(client).startswith(b"HTTP/1.1 403 ")
    assert server.received == []


def test_other_upgrades_are_taken_away(inspector, plain_server):
    client, _ = inspector.connect(plain_server.server_address, HOST)
    client.sendall(b"GET /h2c HTTP/1.1\r\nHost: api.example.com\r\nConnection: Upgrade, HTTP2-Settings, close\r\n"
                   b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
    assert b"GET /h2c 0 " in servers.read_all(client)
    names = {name.lower() for name, _ in plain_server.seen[-1][2]}
    assert names == {"host", "connection"}


def test_a_protocol_that_nobody_asked_for(inspector):
    server = servers.RawServer(echo_after_upgrade)
    client, _ = inspector.connect(server.server_address, HOST)
    client.sendall(b"GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
    assert servers.read_all(client).startswith(b"HTTP/1.1 502 ")


def test_headers_of_one_connection_end_here(inspector, plain_server):
    client, _ = inspector.connect(plain_server.server_address, HOST)
    client.sendall(b"GET /hop HTTP/1.1\r\nHost: api.example.com\r\nConnection: close, X-Secret, Host\r\nX-Secret: 1\r\n"
                   b"Proxy-Authorization: Basic x\r\nKeep-Alive: 5\r\nTE: trailers\r\nX-Kept: 2\r\n\r\n")
    assert b"GET /hop 0 " in servers.read_all(client)
    assert plain_server.seen[-1][2] == [("Host", HOST), ("X-Kept", "2"), ("Connection", "close")]


def test_rules_set_and_remove_headers(connect):
    headers = [("Authorization", "Bearer real"), ("Content-Length", "5")]
    rules = [rule(HOST, [], ["/set/**"], headers, ["Cookie", "Host"])]
    client, _, server = connect(rules=rules)
    response, _ = client.fetch("GET", "/set/x", None, {"authorization": "fake", "Cookie": "a=b", "X-Kept": "1"})
    assert response.status == 200
    seen = server.seen[-1][2]
    assert [value for name, value in seen if name.lower() == "authorization"] == ["Bearer real"]
    names = [name.lower() for name, _ in seen]
    assert "cookie" not in names and "content-length" not in names and "host" in names and "x-kept" in names


def test_a_proxy_request(inspector, plain_server):
    client, _ = inspector.connect(plain_server.server_address, HOST, port=8080, proxy=True)
    client.sendall(b"GET http://API.example.com:8080/p?q HTTP/1.1\r\nHost: api.example.com:8080\r\n"
                   b"Proxy-Connection: keep-alive\r\n\r\nGET http://api.example.com:8080/2 HTTP/1.1\r\n\r\n")
    answer = servers.read_all(client)
    assert b"GET /p?q 0 " in answer and b"\r\nConnection: close\r\n" in answer and answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("target, host", [
    (b"http://other.example/", b"api.example.com"), (b"http://api.example.com:81/", b"api.example.com"),
    (b"http://api.example.com/", b"other.example"), (b"http://other.example@api.example.com/", b"api.example.com"),
    (b"https://api.example.com/", b"api.example.com"), (b"/", b"api.example.com"), (b"//x", b"api.example.com"),
])
def test_a_proxy_request_for_somewhere_else(inspector, plain_server, target, host):
    before = len(plain_server.seen)
    client, _ = inspector.connect(plain_server.server_address, HOST, proxy=True)
    client.sendall(b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (target, host))
    assert servers.read_all(client)[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 400")
    assert len(plain_server.seen) == before


def test_a_server_that_says_nothing(inspector):
    server = servers.RawServer(lambda server, connection: servers.read_head(connection))
    client, _ = inspector.connect(server.server_address, HOST)
    client.sendall(b"GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
    answer = servers.read_all(client)
    assert answer.startswith(b"HTTP/1.1 502 ") and b"X-Proxy-Error: upstream-closed" in answer


@pytest.mark.parametrize("reads_on", [True, False])
def test_a_server_that_closes_between_requests(inspector, reads_on):
    """The client sees what it would without hutch, and may ask again: no answer, rather than one that says 502."""
    def serve(_, connection):
        servers.read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        if reads_on:
            servers.read_head(connection)

    client, _ = inspector.connect(servers.RawServer(serve).server_address, HOST)
    client.settimeout(inspectors.PATIENCE)
    client.sendall(b"GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
    assert servers.read_head(client).startswith(b"HTTP/1.1 200 ") and client.recv(2) == b"ok"
    if reads_on:
        client.sendall(b"GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
    assert servers.read_all(client) == b""


@pytest.mark.slow
@pytest.mark.parametrize("tls, said", [(False, b"GET / HTTP/1.1\r\nHost"), (True, b""), (True, b"\x16\x03\x01")])
def test_a_client_that_says_too_little(inspector, plain_server, tls, said):
    client, number = inspector.connect(plain_server.server_address, HOST, tls=tls)
    client.sendall(said)
    assert servers.read_all(client) == b""
    inspector.wait_closed(number)


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("head", [b"Content-Length: 10\r\n", b"Transfer-Encoding: chunked\r\n", b""])
def test_a_response_that_is_cut_off_is_not_taken_for_whole(inspector, head):
    def serve(_, connection):
        servers.read_head(connection)
        body = b"5\r\nhello\r\n" if b"chunk" in head else b"hello"
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + body)
        read.wait(inspectors.PATIENCE)
        reset(connection)

    read = threading.Event()
    server = servers.RawServer(serve)
    client, number = inspector.connect(server.server_address, HOST)
    client.settimeout(inspectors.PATIENCE)
    client.sendall(b"GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
    assert servers.read_head(client)
    data = b""
    while b"hello" not in data:
        data += client.recv(100)
    read.set()
    with pytest.raises(ConnectionResetError):
        servers.read_all(client)
    inspector.wait_closed(number)


def test_a_client_that_resets(inspector, plain_server):
    client, number = inspector.connect(plain_server.server_address, HOST)
    client.sendall(b"POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 100\r\n\r\nabc")
    reset(client)
    inspector.wait_closed(number)


def test_a_slow_reader_holds_up_nobody_else(inspector, plain_server):
    slow, number = inspector.connect(plain_server.server_address, HOST)
    slow.sendall(b"GET /big/100000000 HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
    for _ in range(5):
        other, _ = inspector.connect(plain_server.server_address, HOST)
        response, _ = Client(other, HOST).fetch("GET", "/quick")
        assert response.status == 200
    assert number not in inspector.closed
    total = len(servers.read_head(slow))
    slow.settimeout(inspectors.PATIENCE)
    while total < 100_000_000:
        total += len(slow.recv(1 << 20))
    slow.close()


def test_a_connection_that_is_ended(inspector, plain_server):
    client, number = inspector.connect(plain_server.server_address, HOST)
    response, _ = (http := Client(client, HOST)).fetch("GET", "/a")
    assert response.status == 200
    inspector.end(number)
    inspector.wait_closed(number)
    assert servers.read_all(http.sock) == b""


def test_an_answer_before_the_request_is_whole(inspector):
    def serve(_, connection):
        servers.read_head(connection)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        servers.read_all(connection)

    server = servers.RawServer(serve)
    client, _ = inspector.connect(server.server_address, HOST)
    client.sendall(b"POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 1000\r\n\r\nabc")
    answer = servers.read_all(client)
    assert answer.startswith(b"HTTP/1.1 413 ") and answer.endswith(b"no") and b"Connection: close" in answer


OVERRIDES = ["X-HTTP-Method-Override", "X-Http-Method", "x-method-override", "X_HTTP_METHOD_OVERRIDE", "X-Original-URL",
             "X-Rewrite-URL", "X_Rewrite-Url", "X-Forwarded-Host", "X-Forwarded-Prefix", "X-Host", "Forwarded"]


@pytest.mark.parametrize("methods, paths", [(["GET"], []), ([], ["/repos/**"]), (["GET"], ["/repos/**"])])
def test_what_would_replace_method_target_or_host_is_taken_out(connect, methods, paths):
    rules = [rule(HOST, methods, paths, [("X-Forwarded-Proto", "https")])]
    client, _, server = connect(rules=rules)
    for name in OVERRIDES:
        client.request("GET", "/repos/a", headers={name: "DELETE", "X-Mine": "stays"})
        assert client.getresponse().read()
        _, _, headers, _ = server.seen[-1]
        names = [got.lower() for got, _ in headers]
        assert name.lower() not in names and "x-mine" in names and "x-forwarded-proto" in names, headers


def test_where_a_rule_names_neither_they_go_on(connect):
    client, _, server = connect(rules=[rule(HOST)])
    client.request("GET", "/repos/a", headers={"X-HTTP-Method-Override": "DELETE"})
    assert client.getresponse().read()
    assert ("X-HTTP-Method-Override", "DELETE") in server.seen[-1][2]


@pytest.mark.parametrize("target", ["/repos/%c0%ae%c0%ae/admin", "/repos/%ef%bc%8e%ef%bc%8e/admin",
                                    "/repos/%e0%80%ae%e0%80%ae/admin", "/repos/..%ef%bc%8fadmin"])
def test_other_encodings_of_dots_and_slashes_match_no_path(connect, target):
    client, _, server = connect(rules=[rule(HOST, ["GET"], ["/repos/**"])])
    response, body = client.fetch("GET", target)
    assert response.status == 403 and b"more than one way" in body
    assert server.seen == [] or server.seen[-1][1] != target
