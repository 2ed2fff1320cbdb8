# Placeholders through the inspector: the value goes to the server in their place, in every part of a request.
import base64

import pytest

from inspector import Client, client_context

HOST = "api.example.com"
TOKEN = "hutch-0123456789abcdef0123"
VALUE = "sk-a/b+c=d&e~f\"g'h!i0k1234"
assert len(TOKEN) == len(VALUE)


@pytest.fixture
def client(inspector, tls_server):
    tls_server.seen.clear()
    connected, _ = inspector.connect(tls_server.server_address, HOST, tls=True, placeholders=[(TOKEN, VALUE)])
    return Client(client_context(inspector).wrap_socket(connected, server_hostname=HOST), HOST, 443)


def seen(tls_server):
    _, path, headers, body = tls_server.seen[-1]
    return path, dict(headers), body


def test_headers_and_basic_authentication(client, tls_server):
    basic = base64.b64encode(f"user:{TOKEN}".encode()).decode()
    client.request("GET", "/", headers={"X-Key": f"a {TOKEN} b {TOKEN}", "Authorization": f"Basic {basic}"})
    assert client.getresponse().read()
    _, headers, _ = seen(tls_server)
    assert headers["X-Key"] == f"a {VALUE} b {VALUE}"
    assert base64.b64decode(headers["Authorization"].split(" ")[1]) == f"user:{VALUE}".encode()


def test_the_query_is_escaped(client, tls_server):
    client.request("GET", f"/x?key={TOKEN}&y=1")
    assert client.getresponse().read()
    assert seen(tls_server)[0] == "/x?key=sk-a%2Fb%2Bc%3Dd%26e~f%22g%27h%21i0k1234&y=1"


def test_a_body_of_known_length(client, tls_server):
    body = f'{{"key": "{TOKEN}", "again": "{TOKEN}", "part": "{TOKEN[:-1]}"}}'
    client.request("POST", "/", body)
    assert client.getresponse().read()
    assert seen(tls_server)[2].decode() == body.replace(TOKEN, VALUE)


@pytest.mark.parametrize("size", [1, 3, 25, 26, 27, 1000])
def test_a_body_in_pieces(client, tls_server, size):
    body = f"x{TOKEN}y{TOKEN}{TOKEN}hutch-{TOKEN[:5]}"
    pieces = (body[at:at + size].encode() for at in range(0, len(body), size))
    client.request("POST", "/", pieces, {"Transfer-Encoding": "chunked"}, encode_chunked=True)
    assert client.getresponse().read()
    assert seen(tls_server)[2].decode() == body.replace(TOKEN, VALUE)


def test_requests_behind_each_other(client, tls_server):
    for _ in range(3):
        client.request("POST", f"/{TOKEN}", TOKEN, {"X": TOKEN})
        assert client.getresponse().read()
        path, headers, body = seen(tls_server)
        assert TOKEN not in path + headers["X"] + body.decode() and body.decode() == VALUE


def test_without_placeholders_nothing_changes(inspector, tls_server):
    connected, _ = inspector.connect(tls_server.server_address, HOST, tls=True)
    client = Client(client_context(inspector).wrap_socket(connected, server_hostname=HOST), HOST, 443)
    client.request("POST", f"/{TOKEN}", TOKEN, {"X": TOKEN})
    assert client.getresponse().read()
    path, headers, body = seen(tls_server)
    assert path == f"/{TOKEN}" and headers["X"] == TOKEN and body.decode() == TOKEN

