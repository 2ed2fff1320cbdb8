# The hosts of a small internet: DNS, HTTP, TLS, an echo. Runs inside of the network namespace that it serves.
"""`internet_server.py DIRECTORY`: reads DIRECTORY/world.json, serves, writes what it was asked to DIRECTORY/log.

Every line of the log is one JSON object with "what": query (name), request (host, path, line), hello (name), connection
(address, port), datagram (address, port, size). Answers to HTTP requests are JSON that says what was asked, unless the
path says otherwise: /big/N is N bytes, and what lies in DIRECTORY/www is served as it is."""

import asyncio
import json
import pathlib
import socket
import ssl
import struct
import sys

UDP_ADDRESSES = ["203.0.113.10", "203.0.113.11", "192.168.7.7", "169.254.169.254", "2001:db8:2::10", "2001:db8:2::16"]


class World:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.names = json.loads((self.directory / "world.json").read_text())
        self.log_file = open(self.directory / "log", "a", buffering=1, encoding="utf-8")

    def log(self, what, **values):
        self.log_file.write(json.dumps({"what": what, **values}) + "\n")

    # --- DNS ---

    def answer(self, query):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
            at += 1 + query[at]
        name = ".".join(labels).lower()
        kind = struct.unpack("!H", query[at + 1:at + 3])[0]
        self.log("query", name=name, type=kind)
        # A file that a test rewrites lets a name move between two queries.
        moved = self.directory / f"name-{name}"
        entry = json.loads(moved.read_text()) if moved.exists() else self.names.get(name)
        question = query[12:at + 5]
        addresses = (entry or {}).get({1: "a", 28: "aaaa"}.get(kind, ""), [])
        header = query[:2] + struct.pack("!HHHHH", 0x8180 if entry else 0x8183, 1, len(addresses), 0, 0)
        body = b""
        for text in addresses:
            data = bytes(map(int, text.split("."))) if kind == 1 else pack_v6(text)
            body += b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(data)) + data
        return header + question + body

    # --- streams ---

    async def http(self, reader, writer):
        local = writer.get_extra_info("sockname")
        self.log("connection", address=local[0], port=local[1])
        try:
            while await self.one_request(reader, writer, local):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ssl.SSLError):
            pass
        finally:
            writer.close()

    async def one_request(self, reader, writer, local):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head.split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:] if line)}
        method, path, _ = lines[0].split(" ", 2)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.log("request", host=headers.get("host"), path=path, line=lines[0], port=local[1])
        if path.startswith("/big/"):
            await self.big(writer, int(path[5:]))
        elif self.is_static(path):
            self.static(writer, method, path)
        else:
            text = json.dumps({"method": method, "path": path, "headers": headers, "body": body.decode("latin-1"),
                               "address": local[0], "port": local[1],
                               "tls": writer.get_extra_info("ssl_object") is not None}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text))
            if method != "HEAD":
                writer.write(text)
        await writer.drain()
        return headers.get("connection", "").lower() != "close"

    def is_static(self, path):
        """Whether a directory of DIRECTORY/www has that name: what is missing in it is a 404."""
        first = path.partition("?")[0].split("/")[1]
        return bool(first) and ".." not in path and (self.directory / "www" / first).is_dir()

    def static(self, writer, method, path):
        found = self.directory / "www" / path.partition("?")[0].lstrip("/")
        if found.is_dir():
            found = found / "index.html"
        text = found.read_bytes() if found.is_file() else b"not found"
        kind = b"text/html" if found.suffix == ".html" else b"application/octet-stream"
        status = b"200 OK" if found.is_file() else b"404 Not Found"
        writer.write(b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (status, kind, len(text)))
        if method != "HEAD":
            writer.write(text)

    async def big(self, writer, size):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        block = bytes(65536)
        while size > 0:
            writer.write(block[:size])
            size -= len(block)
            await writer.drain()

    async def echo(self, reader, writer):
        self.log("connection", address=writer.get_extra_info("sockname")[0], port=7)
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.write(b"end of input")
            await writer.drain()
        except OSError:
            pass
        writer.close()

    async def banner(self, reader, writer):
        """Speaks first, as SSH and SMTP servers do."""
        writer.write(b"220 ready\r\n")
        line = await reader.readline()
        writer.write(b"you said " + line)
        await writer.drain()
        writer.close()

    async def reset(self, reader, writer):
        await reader.read(1)
        # Closing without waiting sends a reset.
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def mute(self, reader, writer):
        await reader.read()
        writer.close()


class Dns(asyncio.DatagramProtocol):
    def __init__(self, world):
        self.world = world

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        try:
            self.transport.sendto(self.world.answer(data), addr)
        except (IndexError, struct.error):
            pass


class Udp(asyncio.DatagramProtocol):
    """Answers with what it was sent, "twice" with two datagrams, "silence" with none."""
    def __init__(self, world):
        self.world = world

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        address, port = self.transport.get_extra_info("sockname")[:2]
        self.world.log("datagram", address=address, port=port, size=len(data))
        for _ in range({b"twice": 2, b"silence": 0}.get(data, 1)):
            self.transport.sendto(f"{port} ".encode() + data[:1000], addr)


def pack_v6(text):
    return socket.inet_pton(socket.AF_INET6, text)


async def serve(directory):
    world = World(directory)
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(lambda: Dns(world), local_addr=("203.0.113.53", 53))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(world.directory / "server.pem", world.directory / "server.key")
    tls.sni_callback = lambda sock, name, ctx: world.log("hello", name=name)
    for handler, port, context in [(world.http, 80, None), (world.http, 8080, None), (world.http, 443, tls),
                                   (world.http, 8443, tls), (world.echo, 7, None), (world.banner, 2525, None),
                                   (world.reset, 9, None), (world.mute, 11, None)]:
        for address in ("0.0.0.0", "::"):
            await asyncio.start_server(handler, address, port, ssl=context, backlog=4096, limit=1 << 20)
    # A wildcard would answer from another address than it was asked at.
    for address in UDP_ADDRESSES:
        for port in (123, 124, 443):
            await loop.create_datagram_endpoint(lambda: Udp(world), local_addr=(address, port))
    print("ready", flush=True)
    await asyncio.Event().wait()


asyncio.run(serve(sys.argv[1]))
