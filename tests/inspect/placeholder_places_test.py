# Each place in a request where a placeholder can stand: the server gets the value where it should, the client never.
"""The value is looked for in all that comes back. The server answers with it only where a test says so."""

import base64
import gzip
import re
import urllib.parse

import pytest

import servers
from inspector import client_context

HOST = "api.example.com"
TOKEN = "hutch-0123456789abcdef0123"
VALUE = "sk-a/b+c=d&e~f\"g'h!i0k1234"
ESCAPED = urllib.parse.quote(VALUE, safe="")
FORMS = (VALUE, ESCAPED, base64.b64encode(VALUE.encode()).decode(), VALUE[:20])


def basic(user, password):
    return base64.b64encode(f"{user}:{password}".encode()).decode()


def chunked(*pieces):
    return "".join(f"{len(piece):x}\r\n{piece}\r\n" for piece in pieces) + "0\r\n\r\n"


PUT_IN = {
    "a header": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {TOKEN}\r\n\r\n",
    "a cookie": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nCookie: a=b; k={TOKEN}; c=d\r\n\r\n",
    "the referrer": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nReferer: https://{HOST}/?k={TOKEN}\r\n\r\n",
    "a bearer": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n",
    "the path": f"GET /{TOKEN}/x HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "the query": f"GET /?k={TOKEN} HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "the whole URL": f"GET https://{HOST}/?k={TOKEN} HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "a body": f"POST / HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {len(TOKEN)}\r\n\r\n{TOKEN}",
    "chunks": f"POST / HTTP/1.1\r\nHost: {HOST}\r\nTransfer-Encoding: chunked\r\n\r\n{chunked(TOKEN[:9], TOKEN[9:])}",
    "a part of a form": f"POST / HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 70\r\n\r\n" +
                        f"--x\r\n\r\n{TOKEN}\r\n--x--\r\n".ljust(70),
    "both user and password": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Basic {basic(TOKEN, TOKEN)}\r\n\r\n",
    "a subprotocol": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                     f"Sec-WebSocket-Protocol: key.{TOKEN}\r\n\r\n",
    "an expectation's body": f"POST / HTTP/1.1\r\nHost: {HOST}\r\nExpect: 100-continue\r\nContent-Length: {len(TOKEN)}"
                             f"\r\n\r\n{TOKEN}",
    "HTTP/1.0": f"GET /?k={TOKEN} HTTP/1.0\r\nHost: {HOST}\r\n\r\n",
}
LEFT = {
    "a header's name": f"GET / HTTP/1.1\r\nHost: {HOST}\r\n{TOKEN}: x\r\n\r\n",
    "a method": f"{TOKEN} / HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "TRACE": f"TRACE /?k={TOKEN} HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {TOKEN}\r\nAuthorization: Basic "
             f"{basic('u', TOKEN)}\r\n\r\n",
    "trace": f"trace / HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {TOKEN}\r\n\r\n",
    "TRACK": f"TRACK / HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {TOKEN}\r\n\r\n",
    "TRACE with a body": f"TRACE / HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {len(TOKEN)}\r\n\r\n{TOKEN}",
    "a trailer": f"POST / HTTP/1.1\r\nHost: {HOST}\r\nTransfer-Encoding: chunked\r\nTrailer: X-Key\r\n\r\n"
                 f"1\r\nx\r\n0\r\nX-Key: {TOKEN}\r\n\r\n",
    "an extension of a chunk": f"POST / HTTP/1.1\r\nHost: {HOST}\r\nTransfer-Encoding: chunked\r\n\r\n"
                               f"1;k={TOKEN}\r\nx\r\n0\r\n\r\n",
    "a field of the connection": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nConnection: x-key\r\nX-Key: {TOKEN}\r\n\r\n",
    "a field for a proxy": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nProxy-Authorization: Basic {basic('u', TOKEN)}\r\n\r\n",
    "in base64": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {base64.b64encode(TOKEN.encode()).decode()}\r\n\r\n",
    "percent-encoded": f"GET /?k={'%68' + TOKEN[1:]} HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "in capitals": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {TOKEN.upper()}\r\n\r\n",
    "over two fields": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {TOKEN[:9]}\r\nX-Key: {TOKEN[9:]}\r\n\r\n",
}
REFUSED = {
    "the host": f"GET / HTTP/1.1\r\nHost: {TOKEN}\r\n\r\n",
    "the host behind the name": f"GET / HTTP/1.1\r\nHost: {HOST}.{TOKEN}\r\n\r\n",
    "the URL's host": f"GET https://{TOKEN}/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "the URL's user": f"GET https://{TOKEN}@{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "a port": f"GET / HTTP/1.1\r\nHost: {HOST}:{TOKEN}\r\n\r\n",
    "the version": f"GET / {TOKEN}\r\nHost: {HOST}\r\n\r\n",
    "a length": f"POST / HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {TOKEN}\r\n\r\n",
    "a coding": f"POST / HTTP/1.1\r\nHost: {HOST}\r\nTransfer-Encoding: {TOKEN}\r\n\r\n",
    "a chunk's size": f"POST / HTTP/1.1\r\nHost: {HOST}\r\nTransfer-Encoding: chunked\r\n\r\n{TOKEN}\r\n",
    "a tunnel": f"CONNECT {TOKEN}:443 HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
    "a folded field": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Key: a\r\n {TOKEN}\r\n\r\n",
    "a line end before it": f"GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Key: a\n{TOKEN}: b\r\n\r\n",
    "no path": f"GET {TOKEN} HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
}


class Echo(servers.RawServer):
    """Keeps what it reads, and answers once there is all that is to come."""

    def __init__(self, pki, answer=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"):
        self.answer = answer
        super().__init__(Echo.take, pki.server_context(HOST))

    def take(self, connection):
        data = b""
        connection.settimeout(0.4)
        try:
            while piece := connection.recv(65536):
                data += piece
        except OSError:
            pass
        self.received.append(data.decode("latin-1"))
        connection.sendall(self.answer)


def ask(inspector, server, request, placeholders=((TOKEN, VALUE),)):
    """(what came back, the connection's number)."""
    connected, number = inspector.connect(server.server_address, HOST, tls=True, placeholders=list(placeholders))
    with client_context(inspector).wrap_socket(connected, server_hostname=HOST) as client:
        client.settimeout(30)
        client.sendall(request if isinstance(request, bytes) else request.encode())
        back = b""
        try:
            while piece := client.recv(65536):
                back += piece
                if back.endswith(b"\r\n\r\nok"):
                    break
        except OSError:
            pass
    return back.decode("latin-1"), number


def told(inspector, number):
    inspector.end(number)
    return str(inspector.refusals(number))


def has_value(text):
    decoded = "".join(base64.b64decode(word + "===").decode("latin-1", "replace")
                      for word in re.findall(r"(?<=Basic )[A-Za-z0-9+/]+", text))
    return VALUE in text or ESCAPED in text or VALUE in decoded


@pytest.mark.parametrize("place", PUT_IN)
def test_the_server_gets_the_value_and_the_client_does_not(inspector, pki, place):
    server = Echo(pki)
    back, number = ask(inspector, server, PUT_IN[place])
    sent = server.received[-1]
    assert has_value(sent) and TOKEN not in sent, sent
    assert not any(form in back + told(inspector, number) for form in FORMS)


@pytest.mark.parametrize("place", LEFT)
def test_elsewhere_the_stand_in_stays(inspector, pki, place):
    server = Echo(pki)
    back, number = ask(inspector, server, LEFT[place])
    assert not any(has_value(sent) for sent in server.received), server.received
    assert not any(form in back + told(inspector, number) for form in FORMS)


@pytest.mark.parametrize("place", REFUSED)
def test_a_refusal_shows_no_value(inspector, pki, place):
    server = Echo(pki)
    back, number = ask(inspector, server, REFUSED[place])
    assert back.startswith("HTTP/1.1 4"), back
    assert not any(has_value(sent) for sent in server.received), server.received
    assert not any(form in back + told(inspector, number) for form in FORMS)


@pytest.mark.parametrize("place", {**PUT_IN, **LEFT})
def test_a_host_that_may_not_have_it(inspector, pki, place):
    server = Echo(pki)
    back, _ = ask(inspector, server, {**PUT_IN, **LEFT}[place], placeholders=())
    assert not any(has_value(sent) for sent in server.received) and not any(form in back for form in FORMS)


ANSWERS = {
    "a redirect with the query": f"HTTP/1.1 302 Found\r\nLocation: https://evil.example/?k={ESCAPED}\r\n"
                                 "Content-Length: 2\r\n\r\nok",
    "a redirect as it was sent": f"HTTP/1.1 302 Found\r\nLocation: https://evil.example/?k={VALUE}\r\n"
                                 "Content-Length: 2\r\n\r\nok",
    "a redirect of status 307": f"HTTP/1.1 307 X\r\nLocation: //evil.example/{ESCAPED}\r\nContent-Length: 2\r\n\r\nok",
    "a refresh": f"HTTP/1.1 200 OK\r\nRefresh: 0; url=https://evil.example/{ESCAPED}\r\nContent-Length: 2\r\n\r\nok",
    "a cookie": f"HTTP/1.1 200 OK\r\nSet-Cookie: last={VALUE}\r\nContent-Length: 2\r\n\r\nok",
    "a hint before the answer": f"HTTP/1.1 103 Early Hints\r\nLink: </{ESCAPED}>\r\n\r\n"
                                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "a trailer": f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Seen: {VALUE}\r\n\r\n",
    "a length": f"HTTP/1.1 200 OK\r\nContent-Length: {VALUE}\r\n\r\nok",
    "no answer": f"{VALUE}\r\n\r\n",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answers_fields_have_the_stand_in(inspector, pki, answer):
    """What follows a redirect to another host would carry the value there."""
    server = Echo(pki, ANSWERS[answer].encode())
    back, number = ask(inspector, server, PUT_IN["the query"])
    assert back.startswith("HTTP/1.1 ") and not any(form in back + told(inspector, number) for form in FORMS), back


def test_what_is_compressed_is_nothing_to_put_into(inspector, pki):
    body = gzip.compress(TOKEN.encode())
    head = f"POST / HTTP/1.1\r\nHost: {HOST}\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    server = Echo(pki)
    ask(inspector, server, head.encode() + body)
    assert body.decode("latin-1") in server.received[-1]
