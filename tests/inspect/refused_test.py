# What the inspector refuses: other hosts, what no rule allows, and messages that two readers take for different things.
import re

import pytest

import servers
from inspector import rule

HOST = "api.example.com"
GET = b"GET / HTTP/1.1\r\nHost: api.example.com\r\n"
POST = b"POST / HTTP/1.1\r\nHost: api.example.com\r\n"
EVIL = b"GET /evil HTTP/1.1\r\nHost: api.example.com\r\n\r\n"


def messages(answer):
    """How many there are in what the client got."""
    return len(re.findall(rb"HTTP/1\.1 \d\d\d ", answer))


def exchange(inspector, server, request, **options):
    client, number = inspector.connect(server.server_address, HOST, **options)
    client.sendall(request)
    return servers.read_all(client), number


@pytest.mark.parametrize("host", [
    b"other.example", b"api.example.com.evil.example", b"xapi.example.com", b"api.example.com:81",
    b"api.example.com:0080x", b"api.example.com@other.example", b"", b"127.0.0.1", b"[::1]",
    b"api.example.com, other.example", b"\xe1pi.example.com",
])
def test_another_host(inspector, plain_server, host):
    before = len(plain_server.seen)
    answer, number = exchange(inspector, plain_server, b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % host + EVIL)
    assert answer.startswith(b"HTTP/1.1 403 ") and b"\r\nX-Proxy-Error: host-mismatch\r\n" in answer
    assert messages(answer) == 1 and len(plain_server.seen) == before
    assert len(inspector.refusals(number)) == 1


@pytest.mark.parametrize("host", [b"API.Example.COM", b"api.example.com.", b"api.example.com:80", b" api.example.com "])
def test_the_same_host_written_otherwise(inspector, plain_server, host):
    answer, _ = exchange(inspector, plain_server, b"GET /same HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % host)
    assert b"GET /same 0 " in answer


def test_every_request_of_a_connection_is_judged(inspector, plain_server):
    before = len(plain_server.seen)
    request = GET + b"\r\n" + b"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n" + EVIL
    answer, number = exchange(inspector, plain_server, request)
    assert answer.startswith(b"HTTP/1.1 200 ") and b"HTTP/1.1 403 " in answer and len(plain_server.seen) == before + 1
    assert inspector.refusals(number) == [("GET /, Host: other.example", f"the connection was made to {HOST}")]


@pytest.mark.parametrize("line, allowed", [
    ("GET /repos/a", True), ("GET /repos/a/b?x=/../y", True), ("POST /gists", True), ("GET /open/%7Ex", True),
    ("DELETE /repos/a", False), ("GET /user", False), ("GET /repos/../user", False), ("GET /repos/%2e%2e/user", False),
    ("GET /repos/..%2fuser", False), ("GET /repos//a", False), ("GET /repos/%252e%252e/user", False),
    ("GET /repos/..;/user", False), ("GET /repos\\..\\user", False), ("GET /repos/%00", False), ("get /repos/a", False),
    ("GET /repos/a#/../../user", False), ("OPTIONS *", False),
])
def test_method_and_path_rules(inspector, plain_server, line, allowed):
    rules = [rule(HOST, ["GET"], ["/repos/**", "/open/~*"]), rule(HOST, ["POST"], ["/gists"])]
    request = f"{line} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode()
    before = len(plain_server.seen)
    answer, number = exchange(inspector, plain_server, request, rules=rules)
    assert answer.startswith(b"HTTP/1.1 200 ") == allowed, answer
    assert len(plain_server.seen) == before + allowed
    if not allowed:
        assert b"\r\nX-Proxy-Error: blocked-by-rule\r\n" in answer and b'"host": "api.example.com"' in answer
        [(what, why)] = inspector.refusals(number)
        assert "no rule" in why and what.split()[0] == line.split()[0]


def test_what_a_rule_reads_is_what_the_server_gets(inspector, plain_server):
    request = b"GET /private/../repos/%61%3a?x HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n\r\n"
    answer, _ = exchange(inspector, plain_server, request, rules=[rule(HOST, [], ["/repos/**"])])
    assert b"GET /repos/a%3A?x 0 " in answer


SMUGGLED = {
    "length-and-coding": POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "coding-and-length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    "two-lengths": POST + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
    "two-equal-lengths": POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "a-list-of-lengths": POST + b"Content-Length: 5, 5\r\n\r\nhello",
    "signed-length": POST + b"Content-Length: +5\r\n\r\nhello",
    "negative-length": POST + b"Content-Length: -5\r\n\r\nhello",
    "hex-length": POST + b"Content-Length: 0x5\r\n\r\nhello",
    "huge-length": POST + b"Content-Length: 99999999999999999999\r\n\r\n",
    "empty-length": POST + b"Content-Length:\r\n\r\n",
    "chunked-not-last": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "another-coding": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "identity": POST + b"Transfer-Encoding: identity\r\n\r\n",
    "two-codings": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "odd-coding": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "quoted-coding": POST + b"Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
    "coding-in-1.0": b"POST / HTTP/1.0\r\nHost: api.example.com\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "blank-before-colon": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "tab-before-colon": POST + b"Content-Length\t: 5\r\n\r\nhello",
    "folded": GET + b"X-A: 1\r\n Content-Length: 5\r\n\r\n",
    "folded-tab": GET + b"Transfer-Encoding:\r\n\tchunked\r\n\r\n",
    "blank-before-the-first-field": b"GET / HTTP/1.1\r\n Host: api.example.com\r\n\r\n",
    "bare-lf": GET + b"X-A: 1\nX-B: 2\r\n\r\n",
    "bare-lf-everywhere": b"GET / HTTP/1.1\nHost: api.example.com\n\n",
    "bare-cr": GET + b"X-A: 1\rX-B: 2\r\n\r\n",
    "nul": GET + b"X-A: 1\0\r\n\r\n",
    "control-byte": GET + b"X-A: 1\x01\r\n\r\n",
    "nul-in-name": GET + b"X\0A: 1\r\n\r\n",
    "no-name": GET + b": 1\r\n\r\n",
    "no-colon": GET + b"X-A\r\n\r\n",
    "odd-name": GET + b"X(A): 1\r\n\r\n",
    "two-hosts": GET + b"Host: api.example.com\r\n\r\n",
    "two-different-hosts": GET + b"host: other.example\r\n\r\n",
    "no-host": b"GET / HTTP/1.1\r\n\r\n",
    "two-blanks": b"GET  / HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
    "a-tab": b"GET\t/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
    "target-with-a-blank": b"GET / x HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
    "no-version": b"GET /\r\n\r\n",
    "another-version": b"GET / HTTP/2.0\r\nHost: api.example.com\r\n\r\n",
    "version-1.2": b"GET / HTTP/1.2\r\nHost: api.example.com\r\n\r\n",
    "lower-version": b"GET / http/1.1\r\nHost: api.example.com\r\n\r\n",
    "preface-of-2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "odd-method": b"G\x80T / HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
    "empty-line-first": b"\r\n" + GET + b"\r\n",
    "not-http": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n",
    "connect": b"CONNECT api.example.com:80 HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
    "connect-elsewhere": b"CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n",
    "connect-a-path": b"CONNECT / HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
    "relative-target": b"GET evil HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
    "star": b"GET * HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
    "large-head": GET + b"X-A: " + b"a" * 70_000 + b"\r\n\r\n",
    "many-fields": GET + b"X-A: 1\r\n" * 129 + b"\r\n",
}


@pytest.mark.parametrize("case", SMUGGLED)
def test_malformed_heads(inspector, plain_server, case):
    before = len(plain_server.seen)
    answer, number = exchange(inspector, plain_server, SMUGGLED[case] + EVIL)
    assert answer.startswith(b"HTTP/1.1 400 ") and b"\r\nConnection: close\r\n" in answer
    assert messages(answer) == 1 and len(plain_server.seen) == before
    assert len(inspector.refusals(number)) == 1


CHUNKS = {
    "no-number": b"x\r\nhello\r\n0\r\n\r\n",
    "prefixed": b"0x5\r\nhello\r\n0\r\n\r\n",
    "signed": b"+5\r\nhello\r\n0\r\n\r\n",
    "huge": b"fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
    "blank-first": b" 5\r\nhello\r\n0\r\n\r\n",
    "bare-lf-after-size": b"5\nhello\r\n0\r\n\r\n",
    "bare-cr-after-size": b"5\rXhello\r\n0\r\n\r\n",
    "longer-than-said": b"5\r\nhellox\r\n0\r\n\r\n",
    "no-crlf-after-data": b"5\r\nhello0\r\n\r\n",
    "lf-after-data": b"5\r\nhello\n0\r\n\r\n",
    "endless-extension": b"5;" + b"a" * 70_000,
    "endless-trailers": b"0\r\n" + b"X-A: 1\r\n" * 9000,
    "trailer-with-nul": b"0\r\nX-A: \0\r\n\r\n",
    "trailer-with-blank": b"0\r\nX-A : 1\r\n\r\n",
    "trailer-length": b"0\r\nContent-Length: 5\r\n\r\n",
}


@pytest.mark.parametrize("case", CHUNKS)
def test_malformed_chunks(inspector, case):
    def serve(server, connection):
        servers.read_head(connection)
        server.received.append(servers.read_all(connection))

    server = servers.RawServer(serve)
    answer, number = exchange(inspector, server, POST + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS[case] + EVIL)
    assert answer.startswith(b"HTTP/1.1 400 ") and messages(answer) == 1, answer
    inspector.wait_closed(number)
    # The server has not got what it could take for the end of the message, or another one.
    assert all(not data.endswith(b"0\r\n\r\n") and b"evil" not in data for data in server.received)


RESPONSES = {
    "length-and-coding": b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
    "folded": b"HTTP/1.1 200 OK\r\nX-A: 1\r\n b\r\nContent-Length: 0\r\n\r\n",
    "bare-lf": b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    "nul": b"HTTP/1.1 200 OK\r\nX-A: \0\r\nContent-Length: 0\r\n\r\n",
    "not-http": b"SSH-2.0-OpenSSH_9.2\r\n",
    "another-version": b"HTTP/3.0 200 OK\r\n\r\n",
    "odd-status": b"HTTP/1.1 2000 OK\r\n\r\n",
    "large-head": b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 70_000 + b"\r\n\r\n",
}


@pytest.mark.parametrize("case", RESPONSES)
def test_malformed_answers(inspector, case):
    def serve(_, connection):
        servers.read_head(connection)
        connection.sendall(RESPONSES[case])
        servers.read_all(connection)

    answer, _ = exchange(inspector, servers.RawServer(serve), GET + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 502 ") and b"\r\nX-Proxy-Error: upstream-malformed\r\n" in answer


def test_an_answer_to_a_request_that_was_not_made(inspector):
    """A server that says more than it was asked must not answer the next request with it."""
    def serve(_, connection):
        servers.read_head(connection)
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        connection.sendall(answer + answer.replace(b"ok", b"no"))
        servers.read_all(connection)

    client, _ = inspector.connect(servers.RawServer(serve).server_address, HOST)
    client.settimeout(servers.PATIENCE)
    client.sendall(GET + b"\r\n")
    answer = servers.read_head(client) + client.recv(2)
    assert answer.endswith(b"ok")
    client.sendall(EVIL)
    assert b"no" not in servers.read_all(client)


def test_too_many_connections(inspector, plain_server):
    held = [inspector.connect(plain_server.server_address, HOST) for _ in range(640)]
    client, number = inspector.connect(plain_server.server_address, HOST)
    assert servers.read_all(client) == b""
    assert "too many" in inspector.refusals(number)[0][1]
    for other, _ in held:
        other.close()
    for _, other in held:
        inspector.wait_closed(other)
    answer, _ = exchange(inspector, plain_server, GET + b"Connection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")
