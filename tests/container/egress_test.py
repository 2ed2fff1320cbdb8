# What a container reaches: what the gateway lets through, by the proxy or captured, and what somebody answers.
import contextlib
import json

import pytest

import harness
import internet as internets

IMAGE = "hutch-tests:latest"
# What becomes of each: a URL by the proxy that the environment names, HOST:PORT by a connection of its own.
REACH = ["/usr/bin/python3", "-c", """
import os, socket, sys, urllib.error, urllib.request

def plain(host, port):
    with socket.create_connection((host, int(port)), 20) as s:
        s.sendall(b"GET / HTTP/1.0\\r\\nHost: " + host.encode() + b"\\r\\n\\r\\n")
        return s.makefile("rb").readline().decode().split()[1:2]

for what in sys.argv[1:]:
    data = b"x" if what.startswith("post+") else None
    try:
        if "://" in what:
            print(urllib.request.urlopen(what.removeprefix("post+"), data, timeout=40).status, flush=True)
        else: print("".join(plain(*what.rsplit(":", 1))) or "nothing", flush=True)
    except urllib.error.HTTPError as error: print(error.code, flush=True)
    except OSError as error: print("refused", flush=True)
"""]


@pytest.fixture(scope="module")
def internet(base):
    with internets.running(base.unused("internet-of-containers")) as made:
        yield made


class Hutch(internets.NetHutch):
    """hutch in the internet's near namespace, whose runs are containers of an engine outside of it."""

    def __init__(self, engine, state, *others):
        super().__init__(*others)
        self.state, self.env = state, {"DOCKER_HOST": engine.host, "HUTCH_STATE": str(state)}

    def __call__(self, *args, **options):
        return super().__call__(*args, **{"env": self.env, **options})

    def popen(self, *command, **options):
        return super().popen(*command, **{"env": self.env, **options})

    def backend_option(self, backend):
        return ["--backend", "container", "--image", IMAGE]

    def reach(self, *what, options=()):
        return self.run(*REACH, *what, options=options).ok().text.split()


@pytest.fixture
def hutch(loaded_engine, internet, base, as_user, project):
    internet.forget()
    state = as_user.mkdir(as_user.home / f"egress-{project.name.split('-')[0]}")
    yield Hutch(loaded_engine, state, internet, base, as_user, project)
    harness.wait_until(lambda: not loaded_engine.containers(), "no container is left")


def test_what_is_allowed_is_reached_and_nothing_else(hutch, internet):
    tried = ["http://good.example/", "good.example:80", "http://other.example/", "other.example:80",
             "203.0.113.10:80", "127.0.0.1:80", "http://203.0.113.10/"]
    reached = hutch.reach(*tried, options=["--allow-domain", "good.example"])
    assert reached == ["200", "200", "403", "refused", "refused", "refused", "403"]
    assert {line.get("host", "good.example").partition(":")[0] for line in internet.log("request")} == {"good.example"}


def test_without_a_network_there_is_none(hutch, internet):
    assert hutch.reach("good.example:80", "203.0.113.10:80", options=["--network", "none"]) == ["refused", "refused"]
    assert internet.log("request") == []


def test_requests_are_read_where_a_rule_is_about_them(hutch, internet, project, as_user):
    rule = {"host": "good.example", "methods": ["GET"], "paths": ["/repos/**"]}
    policy = {"network": {"allowedDomains": [], "deniedDomains": [], "rules": [rule],
                          "tlsTerminate": {"extraCaCertPaths": [str(internet.ca)]}}}
    file = as_user.write(project / "rules.json", json.dumps(policy))
    tried = ["https://good.example/repos/x", "https://good.example/users/x", "post+https://good.example/repos/x"]
    # Begun in a directory that no rule shows, and that the image has not: hutch says so.
    assert "working directory" in hutch.run("true", options=["--policy", str(file)]).errors
    assert hutch.reach(*tried, options=["--policy", str(file), "--cwd", "/"]) == ["200", "403", "403"]
    assert [line["path"] for line in internet.log("request")] == ["/repos/x"]


@pytest.fixture
def follower(hutch):
    """Follows the questions."""
    words = [hutch.program, "questions", "--follow", "--json"]
    with harness.start_in(hutch.person, words, cwd=hutch.cwd, env=hutch.env) as process:
        harness.wait_until((hutch.state / "run/runs/attending").exists, "somebody follows")
        yield process
        process.kill()


def test_a_connection_waits_for_its_answer(hutch, follower, internet):
    def answer(host, word):
        question = next(one for one in map(json.loads, follower.stdout) if one.get("host") == host)
        assert (question["type"], question["kind"], question["port"]) == ("question", "connect", 80)
        hutch("answer", question["id"], word).ok()

    tried = ["http://good.example/", "http://other.example/", "good.example:80"]
    with hutch.popen(*REACH, *tried) as process:
        with contextlib.closing(process.stdin):
            answer("good.example", "session")
            answer("other.example", "no")
            out, errors = process.communicate(timeout=harness.PATIENCE)
    # What was allowed for the session is not asked about again.
    assert out.decode().split() == ["200", "403", "200"], errors.decode()
    assert b"other.example:80 was refused" in errors
    assert len(internet.log("request")) == 2
