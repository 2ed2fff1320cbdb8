# The machine's own network in a container: by the user's settings, and by nothing else.
import contextlib
import json
import os
import socket
import threading

import pytest

import engines

IMAGE = "hutch-tests:latest"
TRUSTED = {"backend": "container", "image": IMAGE, "trust": "trusted"}

REACH = ("import socket, sys\n"
         "try: print(socket.create_connection(('127.0.0.1', int(sys.argv[1])), 20).recv(9))\n"
         "except OSError as error: print('refused', error)")
ABSTRACT = ("import socket, sys\n"
            "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + sys.argv[1]); print('reached', s.recv(9))")


@pytest.fixture(autouse=True)
def as_they_were(daemon):
    """The settings and the policy after a test."""
    yield
    for name in ("config.json", "default.json"):
        with contextlib.suppress(FileNotFoundError):
            (daemon.state / "config" / name).unlink()


def post(daemon, path, body=None):
    daemon.json("agent", "list")  # starts it
    connection = engines.LocalConnection(daemon.socket)
    try:
        connection.request("POST", path, json.dumps(body or {}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or "{}")
    finally:
        connection.close()


@contextlib.contextmanager
def acquired(daemon, **wish):
    """said(PROGRAM, ARGUMENT...) in a sandbox of that kind: what python3 says there."""
    daemon("agent", "list").ok()
    status, answer = post(daemon, "/v1/pool/sandboxes", {**TRUSTED, **wish})
    assert status == 201, answer

    def said(program, *arguments):
        command = {"arguments": ["/usr/bin/python3", "-c", program, *map(str, arguments)]}
        status, end = post(daemon, f"/v1/pool/sandboxes/{answer['id']}/exec", command)
        assert status == 200, end
        return end["stdout"] + end["stderr"]

    yield said
    assert post(daemon, f"/v1/pool/sandboxes/{answer['id']}/release")[0] == 200


@contextlib.contextmanager
def serving(server):
    """Says hello to whoever connects."""
    def serve():
        with contextlib.suppress(OSError):
            while True:
                with server.accept()[0] as one:
                    one.sendall(b"hello")

    with server:
        threading.Thread(target=serve, daemon=True).start()
        yield
        server.shutdown(socket.SHUT_RDWR)


def test_it_is_had_by_the_users_settings_alone(daemon, engine):
    abstract = f"hutch-test-{os.getpid()}"
    hidden = socket.socket(socket.AF_UNIX)
    hidden.bind("\0" + abstract)
    hidden.listen()
    tcp = socket.create_server(("127.0.0.1", 0))
    port = tcp.getsockname()[1]
    with serving(tcp), serving(hidden):
        with acquired(daemon) as said:
            assert "refused" in said(REACH, port)
        status, answer = post(daemon, "/v1/pool/sandboxes", {**TRUSTED, "network": "host"})
        assert status == 400 and "network" in json.dumps(answer), answer
        daemon("settings", "set", "sandbox.network", "host").ok()
        with acquired(daemon) as said:
            assert "hello" in said(REACH, port)
            tried = said(ABSTRACT, abstract)
            assert "reached" not in tried and "Error" in tried, tried
            assert "CapEff:\t0000000000000000" in said("print(open('/proc/self/status').read())")
        with acquired(daemon, trust="sandboxed") as said:
            assert "refused" in said(REACH, port)
        agent = daemon.create()
        assert "refused" in daemon.exec(agent, "/usr/bin/python3", "-c", REACH, str(port)).text
        daemon("agent", "remove", agent).ok()


def test_it_is_not_had_where_a_rule_would_hold_nothing(daemon):
    daemon("settings", "set", "sandbox.network", "host").ok()
    daemon("settings", "set", "security.allowedHosts", '["a.example"]').ok()
    status, answer = post(daemon, "/v1/pool/sandboxes", TRUSTED)
    assert status == 400 and "security.allowedHosts" in json.dumps(answer), answer
    daemon("settings", "remove", "security.allowedHosts").ok()
    daemon.person.write(daemon.state / "config/default.json", '{"network": {"deniedDomains": ["b.example"]}}')
    status, answer = post(daemon, "/v1/pool/sandboxes", TRUSTED)
    assert status == 400 and "network.deniedDomains" in json.dumps(answer), answer
    daemon.person.write(daemon.state / "config/default.json", '{"network": "none"}')
    with acquired(daemon) as said:
        assert "refused" in said(REACH, 1)
