# TLS on both ends: whom the client sees, whom the inspector believes.
import hashlib
import shutil
import socket
import ssl
import struct
import subprocess

import pytest

import inspector as inspectors
import servers
from inspector import Client, client_context, rule

HOST = "api.example.com"


def open_tls(inspector, server, host=HOST, name=None, context=None, **options):
    client, number = inspector.connect(server.server_address, host, tls=True, **options)
    client.settimeout(inspectors.PATIENCE)
    context = context or client_context(inspector)
    return context.wrap_socket(client, server_hostname=name or host), number


def test_the_certificate_is_the_host_s(inspector, tls_server):
    client, _ = open_tls(inspector, tls_server)
    certificate = client.getpeercert()
    assert certificate["subjectAltName"] == (("DNS", HOST),)
    life = ssl.cert_time_to_seconds(certificate["notAfter"]) - ssl.cert_time_to_seconds(certificate["notBefore"])
    assert life < 2 * 86400


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_versions(inspector, tls_server, version):
    context = client_context(inspector)
    context.minimum_version = context.maximum_version = version
    client, _ = open_tls(inspector, tls_server, context=context)
    response, body = Client(client, HOST, 443).fetch("GET", "/v")
    assert response.status == 200 and body.startswith(b"GET /v ")


def test_strict_verification_takes_it(inspector, tls_server, tmp_path):
    """openssl's strictest check of the chain."""
    authority = tmp_path / "authority.pem"
    authority.write_text(inspector.certificate())
    client, _ = open_tls(inspector, tls_server)
    leaf = tmp_path / "leaf.pem"
    leaf.write_text(ssl.DER_cert_to_PEM_cert(client.getpeercert(True)))
    done = subprocess.run(["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", HOST,
                           "-CAfile", authority, leaf], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout


def java_certificates(store):
    """What a JKS file holds (sun.security.provider.JavaKeyStore)."""
    salted = "changeit".encode("utf-16-be") + b"Mighty Aphrodite" + store[:-20]
    assert hashlib.sha1(salted).digest() == store[-20:]
    magic, version, count = struct.unpack(">III", store[:12])
    assert (magic, version) == (0xfeedfeed, 2)
    at, found = 12, []
    for number in range(count):
        assert store[at:at + 4] == b"\0\0\0\2"
        size, = struct.unpack(">H", store[at + 4:at + 6])
        assert store[at + 6:at + 6 + size] == f"authority{number}".encode()
        at += 6 + size + 8
        assert store[at:at + 7] == b"\0\5X.509"
        size, = struct.unpack(">I", store[at + 7:at + 11])
        found.append(store[at + 11:at + 11 + size])
        at += 11 + size
    assert at == len(store) - 20
    return found


def test_the_store_for_java(pki):
    """The machine's authorities and that of the sandbox; not what vouches for upstream servers alone."""
    started = inspectors.Inspector(inspectors.program(), environment={"SSL_CERT_FILE": str(pki.ca)})
    its_own = ssl.PEM_cert_to_DER_cert(started.certificate())
    assert java_certificates(started.java_store) == [ssl.PEM_cert_to_DER_cert(pki.ca.read_text()), its_own]
    started.stop()
    extra = inspectors.Inspector(inspectors.program(), [str(pki.ca)])
    its_own = ssl.PEM_cert_to_DER_cert(extra.certificate())
    assert java_certificates(extra.java_store) == [its_own]
    extra.stop()


def test_each_sandbox_has_an_authority_of_its_own(inspector, tls_server, pki):
    other = inspectors.Inspector(inspectors.program(), [str(pki.ca)])
    with pytest.raises(ssl.SSLCertVerificationError):
        open_tls(inspector, tls_server, context=client_context(other))
    other.stop()


def test_a_successor_goes_on_with_the_authority(tls_server, pki):
    """Killed with a connection open: who trusted it trusts the next one, given what the first one said."""
    first = inspectors.Inspector(inspectors.program(), [str(pki.ca)])
    context = client_context(first)
    client, _ = open_tls(first, tls_server, context=context)
    first.kill()
    assert client.recv(1) == b""
    successor = inspectors.Inspector(inspectors.program(), [str(pki.ca)], authority=first.authority)
    assert successor.certificate() == first.certificate() and successor.authority == first.authority
    client, _ = open_tls(successor, tls_server, context=context)
    response, _ = Client(client, HOST, 443).fetch("GET", "/again")
    assert response.status == 200
    successor.stop()


def test_what_is_no_authority_is_told(pki):
    for wrong in (b"x", pki.ca.read_bytes()):
        started = inspectors.Inspector(inspectors.program(), [str(pki.ca)], authority=wrong)
        assert started.certificate() is None and "authority" in started.failed
        assert started.process.wait(timeout=inspectors.PATIENCE) == 125


def test_an_address(inspector, pki):
    for address in ("192.0.2.7", "2001:db8::7"):
        server = servers.HttpServer(pki.server_context(address))
        client, _ = open_tls(inspector, server, host=address)
        assert client.getpeercert()["subjectAltName"][0][0] == "IP Address"
        named = f"[{address}]" if ":" in address else address
        response, _ = Client(client, address, 443).fetch("GET", "/ip", None, {"Host": named})
        assert response.status == 200


def test_a_client_without_alpn(inspector, tls_server):
    client, _ = open_tls(inspector, tls_server, context=client_context(inspector, protocols=()))
    response, _ = Client(client, HOST, 443).fetch("GET", "/no-alpn")
    assert response.status == 200


def test_a_hello_for_another_host(inspector, tls_server):
    context = client_context(inspector)
    context.check_hostname = False
    client, number = inspector.connect(tls_server.server_address, HOST, tls=True)
    with pytest.raises(ssl.SSLError, match="(?i)unrecognized.name"):
        context.wrap_socket(client, server_hostname="other.example")
    assert inspector.refusals(number) == [("a TLS hello for other.example", f"the connection was made to {HOST}")]


def test_a_host_field_for_another_host(inspector, tls_server):
    before = len(tls_server.seen)
    client, _ = open_tls(inspector, tls_server)
    response, _ = Client(client, HOST, 443).fetch("GET", "/", None, {"Host": "other.example"})
    assert response.status == 403 and response.headers["X-Proxy-Error"] == "host-mismatch"
    assert len(tls_server.seen) == before


def test_rules_inside_tls(inspector, tls_server):
    client, number = open_tls(inspector, tls_server, rules=[rule(HOST, ["GET"], ["/ok"])])
    http = Client(client, HOST, 443)
    response, _ = http.fetch("GET", "/ok")
    assert response.status == 200
    response, body = http.fetch("POST", "/ok", b"x" * 100_000)
    assert response.status == 403 and b'"methods": ["POST"]' in body
    assert inspector.refusals(number)[0][0] == "POST /ok"


def wrong_contexts(pki):
    return {"another-host": pki.server_context("other.example"), "self-signed": pki.server_context(HOST, issuer="none"),
            "subdomain": pki.server_context("www." + HOST)}


@pytest.mark.parametrize("case", ["another-host", "self-signed", "subdomain"])
def test_a_server_that_cannot_be_verified(inspector, pki, case):
    server = servers.HttpServer(wrong_contexts(pki)[case])
    client, number = open_tls(inspector, server)
    response, body = Client(client, HOST, 443).fetch("GET", "/secret", None, {"Authorization": "x"})
    assert response.status == 502 and response.headers["X-Proxy-Error"] == "upstream-certificate"
    assert b"could not be verified" in body
    assert server.seen == []
    assert "could not be verified" in inspector.refusals(number)[0][1]


def test_the_machine_s_authorities_are_not_the_tests(inspector, pki, tls_server):
    """Without the extra path the same server is not believed: extra_ca_paths is what made it so."""
    other = inspectors.Inspector(inspectors.program())
    client, _ = open_tls(other, tls_server)
    response, _ = Client(client, HOST, 443).fetch("GET", "/")
    assert response.status == 502
    client.close()
    other.stop()
    other = inspectors.Inspector(inspectors.program(), environment={"SSL_CERT_FILE": str(pki.ca)})
    client, _ = open_tls(other, tls_server)
    response, _ = Client(client, HOST, 443).fetch("GET", "/")
    assert response.status == 200
    client.close()
    other.stop()


def test_a_server_without_tls(inspector, plain_server):
    client, _ = open_tls(inspector, plain_server)
    response, _ = Client(client, HOST, 443).fetch("GET", "/")
    assert response.status == 502 and response.headers["X-Proxy-Error"] == "upstream-tls"


def test_a_client_that_does_not_believe(inspector, tls_server):
    before = len(tls_server.seen)
    client, number = inspector.connect(tls_server.server_address, HOST, tls=True)
    with pytest.raises(ssl.SSLError):
        ssl.create_default_context().wrap_socket(client, server_hostname=HOST)
    inspector.wait_closed(number)
    assert len(tls_server.seen) == before


def test_bytes_that_are_no_tls(inspector, tls_server):
    client, number = inspector.connect(tls_server.server_address, HOST, tls=True)
    client.sendall(b"GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
    client.shutdown(socket.SHUT_WR)
    try:
        servers.read_all(client)
    except ConnectionResetError:
        pass
    inspector.wait_closed(number)


def test_websocket_inside_tls(inspector, pki):
    def serve(server, connection):
        server.received.append(servers.read_head(connection))
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        connection.sendall(connection.recv(100))

    server = servers.RawServer(serve, pki.server_context(HOST))
    client, _ = open_tls(inspector, server)
    client.sendall(b"GET /ws HTTP/1.1\r\nHost: api.example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert servers.read_head(client).startswith(b"HTTP/1.1 101 ")
    client.sendall(b"frame")
    assert client.recv(100) == b"frame"


NODE = """
const host = "api.example.com", port = process.argv[1], ca = require("fs").readFileSync(process.argv[2]);
const direct = {host: "127.0.0.1", servername: host, port, ca, headers: {host}};
require("https").get({...direct, path: "/node"}, response => {
  response.on("data", data => process.stdout.write(`${response.statusCode} ${data}`));
  response.on("end", () => process.exit(0));
}).on("error", error => { console.log(error.code); process.exit(1); });
"""


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_node(inspector, tls_server, tmp_path):
    authority = tmp_path / "ca.pem"
    authority.write_text(inspector.certificate())
    door = inspectors.Door(inspector, tls_server.server_address, HOST, tls=True)
    done = subprocess.run(["node", "-e", NODE, str(door.port), authority], stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.STDOUT, timeout=inspectors.PATIENCE)
    door.close()
    assert done.stdout.startswith(b"200 GET /node "), done.stdout


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_curl(inspector, tls_server, tmp_path):
    authority = tmp_path / "ca.pem"
    authority.write_text(inspector.certificate())
    (tmp_path / "body").write_bytes(b"x" * 3_000_000)
    door = inspectors.Door(inspector, tls_server.server_address, HOST, tls=True)
    done = subprocess.run(["curl", "-sS", "--cacert", authority, "-T", tmp_path / "body", "-H", "Expect: 100-continue",
                           "--connect-to", f"{HOST}:443:127.0.0.1:{door.port}", f"https://{HOST}/put"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=inspectors.PATIENCE)
    door.close()
    assert done.stdout.startswith(b"PUT /put 3000000 "), done.stdout


@pytest.mark.parametrize("paths", [["/nowhere/ca.pem"], [__file__]])
def test_extra_authorities_that_cannot_be_read(paths):
    failed = inspectors.Inspector(inspectors.program(), paths)
    assert failed.certificate() is None
    assert "extraCaCertPaths" in failed.failed
    assert failed.process.wait(timeout=inspectors.PATIENCE) == 125


def test_it_is_nothing_to_run_by_hand():
    done = subprocess.run([inspectors.program()], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                          timeout=inspectors.PATIENCE)
    assert done.returncode == 125 and b"started by hutch" in done.stderr


def test_what_the_process_gave_up(inspector, tls_server):
    client, _ = open_tls(inspector, tls_server)
    response, _ = Client(client, HOST, 443).fetch("GET", "/")
    assert response.status == 200
    status = dict(line.split(":\t", 1) for line in
                  open(f"/proc/{inspector.process.pid}/status", encoding="ascii").read().splitlines() if ":\t" in line)
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    core = [line for line in open(f"/proc/{inspector.process.pid}/limits", encoding="ascii") if "core" in line][0]
    assert core.split()[4:6] == ["0", "0"]
