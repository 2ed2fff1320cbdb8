# Placeholders in places of HTTP/2 and behind an upgrade.
import base64

import pytest
from http2_test import HOST, answer, h2_server, open_h2

import servers
from inspector import client_context
from placeholder_places_test import FORMS, TOKEN, VALUE, has_value, told

BASIC = base64.b64encode(f"u:{TOKEN}".encode()).decode()
USUAL = {":method": "GET", ":scheme": "https", ":authority": HOST, ":path": "/"}
PUT_IN = {
    "a field": {"x-key": TOKEN},
    "a cookie": {"cookie": f"k={TOKEN}"},
    "a path": {":path": f"/{TOKEN}"},
    "a query": {":path": f"/?k={TOKEN}"},
    "a bearer": {"authorization": f"Bearer {TOKEN}"},
}
LEFT = {
    "TRACE": {":method": "TRACE", "x-key": TOKEN, ":path": f"/{TOKEN}"},
    "TRACK": {":method": "TRACK", "authorization": f"Basic {BASIC}"},
    "a field's name": {TOKEN: "x"},
    "a method": {":method": TOKEN},
    "the authority": {":authority": TOKEN},
    "a host beside it": {"host": TOKEN},
    "the scheme": {":scheme": TOKEN},
    "a pseudo field": {":key": TOKEN},
    "a protocol": {":method": "CONNECT", ":protocol": TOKEN},
    "a field of the connection": {"connection": TOKEN},
    "a field for a proxy": {"proxy-authorization": f"Basic {BASIC}"},
}
HEADERS = [(":status", "302"), ("location", f"https://evil.example/?k={VALUE}"), ("set-cookie", f"k={VALUE}")]


def ask(inspector, pki, fields):
    server = h2_server(pki, tell)
    client, number = open_h2(inspector, server, validate=False, placeholders=[(TOKEN, VALUE)])
    client.socket.settimeout(4)
    stream = client.h2.get_next_available_stream_id()
    client.h2.send_headers(stream, list({**USUAL, **fields}.items()), end_stream=True)
    client.flush()
    try:
        client.until(lambda: stream in client.ended)
    except (AssertionError, OSError, EOFError):
        pass
    return server, client, stream, number


def tell(server, peer):
    answered = set()
    while peer.step():
        for stream in sorted(peer.ended - answered):
            answered.add(stream)
            headers = [(str(name), str(value)) for name, value in peer.headers[stream]]
            server.received.append("\n".join(f"{name}: {value}" for name, value in headers))
            answer(peer, stream, HEADERS, b"ok")


@pytest.mark.parametrize("place", PUT_IN)
def test_the_value_goes_out_and_does_not_come_back(inspector, pki, place):
    server, client, stream, number = ask(inspector, pki, PUT_IN[place])
    assert has_value(server.received[-1]) and TOKEN not in server.received[-1]
    back = str(client.headers[stream]) + told(inspector, number)
    assert TOKEN in back and not any(form in back for form in FORMS), back


@pytest.mark.parametrize("place", LEFT)
def test_elsewhere_it_goes_nowhere(inspector, pki, place):
    server, client, stream, number = ask(inspector, pki, LEFT[place])
    assert not any(has_value(sent) for sent in server.received), server.received
    back = str(client.headers.get(stream)) + str(client.bodies.get(stream)) + told(inspector, number)
    assert not any(form in back for form in FORMS), back


def test_behind_an_upgrade_bytes_are_as_they_are(inspector, pki):
    """What a WebSocket carries is masked: there is nothing to put into."""
    def serve(server, connection):
        servers.read_head(connection)
        connection.sendall(b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        server.received.append(connection.recv(4096).decode())
        connection.sendall(b"end")

    server = servers.RawServer(serve, pki.server_context(HOST))
    connected, _ = inspector.connect(server.server_address, HOST, tls=True, placeholders=[(TOKEN, VALUE)])
    with client_context(inspector).wrap_socket(connected, server_hostname=HOST) as client:
        client.sendall(f"GET / HTTP/1.1\r\nHost: {HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n".encode())
        assert b" 101 " in servers.read_head(client)
        client.sendall(TOKEN.encode())
        assert client.recv(16) == b"end"
    assert server.received == [TOKEN]
