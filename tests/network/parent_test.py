# Parent proxies: the gateway itself goes out through one, as the caller's environment or the policy says.
import json
import subprocess
import sys

import pytest

CURL = ("curl", "-sS", "--max-time", "20", "--noproxy", "*")

# Answers CONNECT with the right credentials, and says on standard output what it was asked.
PROXY = r"""
import base64, socket, socketserver, sys, threading
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline().decode()
        headers = {}
        while (text := self.rfile.readline().decode().strip()):
            name, _, value = text.partition(":")
            headers[name.lower()] = value.strip()
        print(line.split()[0], line.split()[1], headers.get("proxy-authorization", "-"), flush=True)
        wanted = "Basic " + base64.b64encode(b"me:a secret").decode()
        if sys.argv[1] == "strict" and headers.get("proxy-authorization") != wanted:
            self.wfile.write(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
            return
        if sys.argv[1] == "endless":
            while True:
                self.wfile.write(b"x" * 4096)
        host, port = line.split()[1].rsplit(":", 1)
        with socket.create_connection((host, int(port)), 10) as there:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nVia: test\r\n\r\n")
            def back():
                while data := there.recv(65536):
                    self.connection.sendall(data)
                self.connection.shutdown(socket.SHUT_WR)
            thread = threading.Thread(target=back); thread.start()
            while data := self.connection.recv(65536):
                there.sendall(data)
            there.shutdown(socket.SHUT_WR)
            thread.join()
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True; daemon_threads = True
with Server(("203.0.113.53", 3128), Handler) as server:
    print("ready", flush=True); server.serve_forever()
"""


@pytest.fixture
def proxy(internet):
    """proxy(manner) starts it where the hosts are, which the proxy finds by their addresses alone."""
    started = []

    def start(manner="open"):
        process = subprocess.Popen(["nsenter", "--target", str(internet.far.pid), "--net", "--", sys.executable, "-c",
                                    PROXY, manner], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


ADDRESS = "http://203.0.113.10:8080/"
ALLOWED = ["--allow-domain", "203.0.113.10:8080", "--allow-domain", "other.example:8080"]


def test_by_the_environment(hutch, proxy):
    running = proxy()
    env = {"HTTPS_PROXY": "http://203.0.113.53:3128", "NO_PROXY": "other.example"}
    result = hutch.run(*CURL, ADDRESS, "http://other.example:8080/", options=ALLOWED, env=env)
    assert result.code == 0 and result.text.count('"method"') == 2, str(result)
    assert running.stdout.readline() == "CONNECT 203.0.113.10:8080 -\n"
    running.kill()
    assert running.stdout.read() == "", "a host of NO_PROXY went through the proxy"


def test_by_the_policy_with_credentials_that_are_never_shown(hutch, proxy, as_user, project):
    running = proxy("strict")
    policy = as_user.write(project / "p.json", json.dumps({"network": {
        "allowedDomains": ["203.0.113.10:8080"], "deniedDomains": [],
        "parentProxy": {"http": "http://me:a%20secret@203.0.113.53:3128",
                        "https": "http://me:a%20secret@203.0.113.53:3128"}}}))
    result = hutch.run("sh", "-c", f"env; {' '.join(CURL[:-1])} '*' {ADDRESS}", options=["--policy", str(policy)])
    assert '"method"' in result.ok().text
    assert running.stdout.readline().startswith("CONNECT 203.0.113.10:8080 Basic ")
    shown = result.text + result.errors + hutch("explain", "--policy", str(policy)).text
    assert "secret" not in shown and "bWU6YS" not in shown


@pytest.mark.parametrize("manner", ["strict", "endless"])
def test_one_that_does_not_do_as_it_should(hutch, proxy, manner):
    proxy(manner)
    env = {"HTTPS_PROXY": "http://203.0.113.53:3128"}
    result = hutch.run("curl", "-sS", "--max-time", "20", "-p", "-i", "--noproxy", "", ADDRESS, options=ALLOWED,
                       env=env)
    assert result.code != 0 or " 502 " in result.text, str(result)


def test_what_is_not_allowed_is_not_asked_of_it(hutch, proxy):
    running = proxy()
    env = {"HTTPS_PROXY": "http://203.0.113.53:3128", "HTTP_PROXY": "http://203.0.113.53:3128"}
    result = hutch.run(*CURL, "http://203.0.113.11:8080/", options=ALLOWED, env=env)
    assert result.code != 0
    running.kill()
    assert running.stdout.read() == ""
