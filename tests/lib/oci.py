# Images of the OCI format, made by hand: layers over each other, in a directory or at a registry.
import contextlib
import gzip
import hashlib
import http.server
import json
import threading

LAYER = "application/vnd.oci.image.layer.v1.tar"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


class Image:
    """The blobs of an image of these layers (bytes of tars), the lowest first, by their digests."""

    def __init__(self, layers, environment=(), kind=LAYER, pack=None):
        self.blobs = {}
        self.layers = [self.add(pack(layer) if pack else layer, kind) for layer in layers]
        config = {"architecture": "amd64", "os": "linux", "config": {"Env": list(environment)},
                  "rootfs": {"type": "layers", "diff_ids": [digest(layer) for layer in layers]}}
        self.config = self.add(json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json")
        self.manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": self.config,
                                    "layers": self.layers}).encode()
        self.descriptor = self.add(self.manifest, MANIFEST)

    def add(self, content, kind):
        self.blobs[digest(content)] = content
        return {"mediaType": kind, "digest": digest(content), "size": len(content)}

    def write(self, where, person):
        """An image layout (OCI image specification) in that directory; what skopeo calls it."""
        person.write(where / "oci-layout", '{"imageLayoutVersion": "1.0.0"}')
        person.write(where / "index.json", json.dumps({"schemaVersion": 2, "manifests": [self.descriptor]}))
        for name, content in self.blobs.items():
            person.write(where / "blobs" / name.replace(":", "/"), content)
        return f"oci:{where}"

    def write_blobs(self, where, person, **instead):
        """The directory that skopeo itself would leave; `instead` are other bytes under a blob's name."""
        person.write(where / "manifest.json", instead.pop("manifest", self.manifest))
        person.write(where / "version", "Directory Transport Version: 1.1\n")
        for name, content in self.blobs.items():
            person.write(where / name.partition(":")[2], instead.get("blobs", {}).get(name, content))
        return f"dir:{where}"


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def gzipped(content):
    return gzip.compress(content, mtime=0)


@contextlib.contextmanager
def registry(image, name, tag):
    """A registry on loopback (OCI distribution specification, "Pull") that has this image; gives its HOST:PORT."""
    class Answer(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            known = {"/v2/": (b"{}", "application/json")}
            for place in (tag, digest(image.manifest)):
                known[f"/v2/{name}/manifests/{place}"] = (image.manifest, MANIFEST)
            for blob, content in image.blobs.items():
                known[f"/v2/{name}/blobs/{blob}"] = (content, "application/octet-stream")
            content, kind = known.get(self.path, (b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}', "application/json"))
            self.send_response(200 if self.path in known else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
