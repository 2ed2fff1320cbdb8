# Recipes that are fetched by http: in a sandbox of their own, whose gateway lets the host of the address through alone.
import contextlib
import http.server
import json
import subprocess
import threading

import pytest

import daemons
from recipes import recipe as made, tool

TEXT = json.dumps(made("Fetched", tools=[tool("x", "echo fetched")]))


@contextlib.contextmanager
def server(answers):
    """The port of one that answers with (status, headers, body) by path; and the paths that were asked for."""
    asked = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            status, headers, body = answers.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield listening.server_address[1], asked
        listening.shutdown()


@pytest.fixture
def daemon(base, as_user):
    made_one = daemons.Daemon(base, as_user)
    yield made_one
    made_one.stop()


def test_an_address_is_fetched(daemon):
    with server({"/x.json": (200, {}, TEXT.encode())}) as (port, asked):
        daemon("plugin", "import", f"http://127.0.0.1:{port}/x.json", timeout=120).ok()
        assert asked == ["/x.json"]
        assert daemon.json("plugin", "show", "fetched")["from"] == f"http://127.0.0.1:{port}/x.json"
        missing = daemon("plugin", "import", f"http://127.0.0.1:{port}/none.json", timeout=120)
        assert missing.code == 125 and "404" in missing.errors


def test_another_host_is_not_reached_whoever_leads_there(daemon):
    with server({"/x.json": (200, {}, TEXT.encode())}) as (other, asked):
        elsewhere = {"/x.json": (302, {"Location": f"http://127.0.0.1:{other}/x.json"}, b"")}
        with server(elsewhere) as (port, _):
            refused = daemon("plugin", "import", f"http://127.0.0.1:{port}/x.json", timeout=120)
            assert refused.code == 125 and "alone" in refused.errors, refused
        assert asked == []
        # By another name of this machine neither.
        with server({"/x.json": (302, {"Location": f"http://localhost:{other}/x.json"}, b"")}) as (port, _):
            assert daemon("plugin", "import", f"http://127.0.0.1:{port}/x.json", timeout=120).code == 125
        assert asked == []
        # Nor anything besides http.
        with server({"/x.json": (302, {"Location": "file:///etc/hostname"}, b"")}) as (port, _):
            assert daemon("plugin", "import", f"http://127.0.0.1:{port}/x.json", timeout=120).code == 125


def test_what_the_policy_denies_is_denied(daemon):
    with server({"/x.json": (200, {}, TEXT.encode())}) as (port, asked):
        config = daemon.state / "config"
        daemon("plugin", "list").ok()
        daemon.person.mkdir(config) if not config.exists() else None
        for network in ({"deniedDomains": ["127.0.0.1"]}, "none"):
            daemon.person.write(config / "default.json", json.dumps({"network": network}))
            refused = daemon("plugin", "import", f"http://127.0.0.1:{port}/x.json", timeout=120)
            assert refused.code == 125, refused
        assert asked == []
        (config / "default.json").unlink()


def test_a_large_recipe_comes_whole_and_a_larger_one_not_at_all(daemon):
    large = json.dumps(made("Large", files={f"f{n}": "x" * 700_000 for n in range(4)}))
    larger = json.dumps(made("Larger", files={f"f{n}": "x" * 900_000 for n in range(5)}))
    with server({"/l": (200, {}, large.encode()), "/m": (200, {}, larger.encode())}) as (port, _):
        daemon("plugin", "import", f"http://127.0.0.1:{port}/l", timeout=120).ok()
        assert json.loads(daemon("plugin", "export", "large").ok().out) == json.loads(large)
        assert daemon("plugin", "import", f"http://127.0.0.1:{port}/m", timeout=120).code == 125


@contextlib.contextmanager
def git_server(root):
    """The port of one whose repositories are those below that directory, by git's own program."""
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            environment = {"PATH": "/usr/bin:/bin", "GIT_PROJECT_ROOT": str(root), "GIT_HTTP_EXPORT_ALL": "1",
                           "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command,
                           "CONTENT_TYPE": self.headers.get("Content-Type", ""), "HOME": "/nonexistent",
                           "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                           "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                           "CONTENT_LENGTH": str(len(body)), "GIT_CONFIG_COUNT": "1",
                           "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
            out = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True).stdout
            head, _, content = out.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield listening.server_address[1]
        listening.shutdown()


@pytest.mark.parametrize("name", ["plugin.json", "osaurus.json"])
def test_a_repository_by_http(daemon, name):
    tree = daemon.person.mkdir(daemon.state / "tools.git")
    daemon.person.write(tree / name, TEXT)
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "safe.directory=*",
                        "-C", tree, *command], check=True)
    with git_server(daemon.state) as port:
        daemon("plugin", "import", f"http://127.0.0.1:{port}/tools.git", timeout=120).ok()
        assert json.loads(daemon("plugin", "export", "fetched").ok().out) == json.loads(TEXT)


def test_a_repositorys_link_is_not_followed(daemon):
    tree = daemon.person.mkdir(daemon.state / "tools.git")
    (tree / "plugin.json").symlink_to("/etc/hostname")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "safe.directory=*",
                        "-C", tree, *command], check=True)
    with git_server(daemon.state) as port:
        refused = daemon("plugin", "import", f"http://127.0.0.1:{port}/tools.git", timeout=120)
        assert refused.code == 125 and "no JSON" in refused.errors, refused
