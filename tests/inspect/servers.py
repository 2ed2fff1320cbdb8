# Servers of the tests' own: a CA, HTTP/1 over plain TCP and TLS, and raw ones that answer what a test says.
"""Everything listens on loopback and answers in threads; what it was sent is kept."""

import hashlib
import http.server
import socket
import ssl
import subprocess
import threading

PATIENCE = 45.0


class Pki:
    """A CA with the certificates of a few hosts, made by openssl."""

    def __init__(self, folder):
        self.folder = folder
        self.ca = folder / "ca.pem"
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                     folder / "ca.key", "-out", self.ca, "-subj", "/CN=test authority", "-days", "2")
        self.made = {}

    def openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], check=True, cwd=self.folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def certificate(self, host, issuer="ca"):
        """(certificate, key) for a host name or an address; issuer "none" signs itself."""
        if (host, issuer) in self.made:
            return self.made[host, issuer]
        name = f"{len(self.made)}"
        cert, key, request = (self.folder / f"{name}.{kind}" for kind in ("pem", "key", "csr"))
        alternative = ("IP:" if host.replace(".", "").isdigit() or ":" in host else "DNS:") + host
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={alternative}\n")
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                     "-out", request, "-subj", "/CN=test")
        by = ["-CA", self.ca, "-CAkey", self.folder / "ca.key", "-CAcreateserial"] if issuer == "ca" else \
            ["-signkey", key]
        self.openssl("x509", "-req", "-in", request, *by, "-out", cert, "-days", "2", "-extfile", extensions)
        self.made[host, issuer] = (cert, key)
        return cert, key

    def server_context(self, host, protocols=("http/1.1",), issuer="ca"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.certificate(host, issuer))
        if protocols:
            context.set_alpn_protocols(list(protocols))
        return context


class Handler(http.server.BaseHTTPRequestHandler):
    """Tells what it was sent, and a few special paths."""

    protocol_version = "HTTP/1.1"

    def respond(self):
        body = self.read_body()
        path = self.path.split("?")[0]
        self.server.seen.append((self.command, self.path, self.headers.items(), body))
        if path == "/chunked":
            return self.chunked([b"one", b"two", b"three" * 1000])
        if path.startswith("/big/"):
            return self.big(int(path.split("/")[2]))
        if path == "/until-close":
            return self.until_close()
        if path in ("/204", "/304"):
            self.send_response(int(path[1:]))
            return self.end_headers()
        digest = hashlib.sha256(body).hexdigest()
        self.plain(f"{self.command} {self.path} {len(body)} {digest}".encode())

    def read_body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return body
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def plain(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def chunked(self, pieces):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Trailer", "X-Sum")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\nX-Sum: 42\r\n\r\n")

    def big(self, size):
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        piece = bytes(range(256)) * 256
        while size > 0:
            self.wfile.write(piece[:size])
            size -= len(piece)

    def until_close(self):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"until the end")
        self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = respond

    def log_message(self, *_):
        pass


class HttpServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, context=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = []
        self.context = context
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def finish_request(self, request, client_address):
        if self.context:
            try:
                request = self.context.wrap_socket(request, server_side=True)
            except OSError:
                return
        super().finish_request(request, client_address)
        if self.context:
            try:
                request.unwrap()
            except OSError:
                pass

    def handle_error(self, *_):
        pass


class RawServer:
    """Runs `serve(connection)` for each connection; `received` is what it says it read."""

    def __init__(self, serve, context=None):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.server_address = self.listener.getsockname()
        self.received, self.serve, self.context = [], serve, context
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.settimeout(PATIENCE)
            threading.Thread(target=self.run, args=(connection,), daemon=True).start()

    def run(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            with connection:
                self.serve(self, connection)
        except OSError:
            pass


def read_head(connection):
    """Up to and with the empty line, one byte at a time."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        piece = connection.recv(1)
        if not piece:
            break
        data += piece
    return data


def read_all(connection):
    connection.settimeout(PATIENCE)
    data = b""
    while piece := connection.recv(65536):
        data += piece
    return data
