# The daemon's pool: a sandbox for whoever asks by HTTP, and hutch pool.
import contextlib
import json
import re
import socket
import threading

import pytest

import daemons
import harness
from api import UnixConnection, wait_until


def stats(api):
    return api.get("/v1/pool").ok()


@pytest.fixture
def acquire(api):
    """acquire(**wish) gives an id; what is not given back is, at the end."""
    held = []

    def answer(**wish):
        told = api.post("/v1/pool/sandboxes", wish).ok(201)
        held.append(told["id"])
        return told

    def one(**wish):
        return answer(**wish)["id"]

    one.answer = answer
    yield one
    for name in held:
        api.request("DELETE", f"/v1/pool/sandboxes/{name}")
    wait_until(lambda: stats(api)["busy"] == 0)


def run(api, name, command, **more):
    return api.post(f"/v1/pool/sandboxes/{name}/exec", {"command": command, **more}).ok()


def test_a_sandbox_is_held_used_and_given_back(api, acquire):
    first = acquire(env={"GIVEN": "yes"}, memory="256m")
    ended = run(api, first, "pwd; echo $GIVEN $MORE; echo mine > mark; cat", env={"MORE": "more"}, stdin="said")
    assert (ended["exitCode"], ended["stdout"]) == (0, "/workspace\nyes more\nsaid")
    late = run(api, first, "echo so far; sleep 60", timeoutMs=300)
    assert late["timedOut"] and late["exitCode"] == 124 and late["stdout"] == "so far\n"
    assert stats(api)["busy"] == 1
    api.post(f"/v1/pool/sandboxes/{first}/release").ok()
    for path, method in ((f"/v1/pool/sandboxes/{first}/release", "POST"), (f"/v1/pool/sandboxes/{first}", "DELETE"),
                         ("/v1/pool/sandboxes/0123456789abcdef", "DELETE")):
        assert api.request(method, path).status == 404
    again = acquire(env={"GIVEN": "yes"}, memory="256m")
    assert again != first
    assert run(api, again, "ls -A")["stdout"] == ""


def test_the_answer_says_what_nothing_limits(api, acquire):
    """By cgroup what nobody has named is limited; elsewhere the answer, the statistics and the doctor say it is not."""
    controllers = json.loads(api("doctor", "--json").ok().text)["limits"]["controllers"]
    missing = [name for name in ("memory", "cpu") if name not in controllers]
    usual = {"memory": 512 << 20, "cpu": 1.0, "pids": 512}
    told = acquire.answer()
    assert told["notHeld"] == missing
    assert told["limits"] == {name: None if name in missing else value for name, value in usual.items()}
    named = acquire.answer(memory="256m")
    assert named["limits"]["memory"] == 256 << 20 and "memory" not in named["notHeld"]
    assert stats(api)["notHeld"] == missing
    assert json.loads(api("doctor", "--json").ok().text)["limits"]["pool_not_held"] == missing
    row = [line for line in api("pool", "stats").ok().text.splitlines() if line.startswith("not held")]
    assert (", ".join(missing) in row[0]) if missing else row == []


def test_what_is_wrong_is_said(api):
    for wish, said in (({"memory": "0m"}, "memory"), ({"memory": "1.5abc"}, "memory"), ({"cpu": "-1"}, "cpu"),
                       ({"backend": "none"}, "isolates nothing"), ({"trust": "host"}, "trust"), ({"pids": 0}, "pids"),
                       ({"mounts": [{"host": "/run", "container": "/data"}]}, "sockets"),
                       ({"mounts": [{"host": "/usr", "container": "/data", "rw": True}]}, "rw"), ({"x": 1}, "x")):
        reply = api.post("/v1/pool/sandboxes", wish)
        assert reply.status == 400 and said in json.dumps(reply.json()), (wish, reply.status, reply.body)
    assert stats(api)["busy"] == 0


def test_the_limit_is_told(api, acquire):
    config = api.state / "config"
    most = stats(api)["max"]
    assert most == 3 and not (config / "config.json").exists()
    held = [acquire() for _ in range(most)]
    assert stats(api)["total"] == most
    assert all(run(api, name, "true")["exitCode"] == 0 for name in held)


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_who_goes_away_while_waiting_keeps_nothing(api, acquire, kind):
    held = [acquire() for _ in range(stats(api)["max"])]
    waiting = api.connection() if kind == "tcp" else UnixConnection(api.state / "run/hutch.sock")
    waiting.request("POST", "/v1/pool/sandboxes", "{}", api.headers({"Content-Type": "application/json"}))
    wait_until(lambda: stats(api)["queued"] == 1)
    waiting.close()
    # At once, so that it may be given before anybody has noticed.
    api.post(f"/v1/pool/sandboxes/{held.pop()}/release").ok()
    wait_until(lambda: (stats(api)["queued"], stats(api)["busy"]) == (0, len(held)))
    assert run(api, acquire(), "true")["exitCode"] == 0


def test_hutch_pool(api):
    # Of the kinds that others have asked for, one each is kept ready.
    api("pool", "drain").ok()
    wait_until(lambda: stats(api)["total"] == 0)
    assert json.loads(api("pool", "fill", "2", "--json").ok().out)["idle"] == 2
    lines = [line.split() for line in api("pool", "stats").ok().text.splitlines()]
    assert ["idle", "2"] in lines and ["max", "3"] in lines
    assert json.loads(api("pool", "stats", "--json").ok().out) == stats(api)
    assert json.loads(api("pool", "drain", "--json").ok().out)["idle"] == 0
    wait_until(lambda: stats(api)["total"] == 0)
    too_many = api("pool", "fill", "4")
    assert too_many.code == 125 and "maxConcurrentSandboxes" in too_many.errors
    for words, said in ((["pool"], "stats"), (["pool", "fil"], "fill"), (["pool", "fill", "x"], "whole number"),
                        (["pool", "stats", "--memory", "1G"], "fill"), (["pool", "fill", "--trust", "x"], "trust")):
        wrong = api(*words)
        assert wrong.code == 125 and said in wrong.errors, str(wrong)


def test_the_daemons_end_is_theirs(base):
    import api as client  # pylint: disable=import-outside-toplevel
    made = client.Api(base, base.person("user"))
    mark = "26535897"
    try:
        name = made.post("/v1/pool/sandboxes", {}).ok(201)["id"]
        run(made, name, f"setsid sleep {mark} >/dev/null 2>&1 & echo started")
        harness.wait_until(lambda: harness.processes_with(mark), "it runs on")
    finally:
        made.stop()
    harness.wait_until(lambda: not harness.processes_with(mark), "nothing of a sandbox is left")


class Engine(threading.Thread):
    """Answers as a docker whose cgroups hold nothing, and makes no container: it writes down what it was asked for."""

    ANSWERS = {"/_ping": {}, "/version": {"ApiVersion": "1.43", "MinAPIVersion": "1.24", "Version": "24.0.0"},
               "/info": {"Driver": "overlay2", "MemoryLimit": False, "CpuCfsQuota": False}}

    def __init__(self, path):
        super().__init__(daemon=True)
        self.wanted = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        path.chmod(0o777)
        self.listener.listen(16)
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            # One that only looks whether somebody listens says nothing.
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rwb") as stream:
            if line := stream.readline():
                self.answer(stream, line.decode().split()[1])

    def answer(self, stream, target):
        size = 0
        while (line := stream.readline().strip()):
            name, _, value = line.decode().partition(":")
            size = int(value) if name.lower() == "content-length" else size
        body = stream.read(size)
        path = re.sub(r"^/v[0-9.]+", "", target).partition("?")[0]
        status, answer = 200, self.ANSWERS.get(path, [] if path == "/containers/json" else {"Id": "sha256:0"})
        if path == "/containers/create":
            self.wanted.append(json.loads(body)["HostConfig"])
            status, answer = 500, {"message": "none is made"}
        text = json.dumps(answer).encode()
        head = f"HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n"
        stream.write(f"{head}Connection: close\r\n\r\n".encode() + text)
        stream.flush()


@pytest.fixture
def own_daemon(base):
    made = daemons.Daemon(base, base.person("user"))
    yield made
    for name in [one["name"] for one in made.json("agent", "list")]:
        made("agent", "remove", name).ok()
    made.stop()


def acquire_of(daemon, **wish):
    with contextlib.closing(UnixConnection(daemon.socket)) as connection:
        connection.request("POST", "/v1/pool/sandboxes", body=json.dumps({"trust": "sandboxed", **wish}),
                           headers={"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_an_engine_that_did_not_answer_is_asked_again(own_daemon):
    """The first time nobody listens there: what that engine could hold is not known."""
    path = own_daemon.state / "engine.sock"
    environment = {"DOCKER_HOST": f"unix://{path}"}
    own_daemon("settings", "set", "sandbox.runtime", "docker", env=environment).ok()
    own_daemon("agent", "list", env=environment).ok()
    status, said = acquire_of(own_daemon)
    assert status != 201 and "engine.sock" in said, said
    engine = Engine(path)
    status, said = acquire_of(own_daemon)
    assert status != 201 and engine.wanted, (status, said)
    assert all("Memory" not in one and "NanoCpus" not in one for one in engine.wanted), engine.wanted
    engine.listener.shutdown(socket.SHUT_RDWR)
    engine.listener.close()


def test_auto_is_no_image_of_a_pool(own_daemon):
    """Nothing is installed in its sandboxes; an agent of the same settings gets its image later."""
    own_daemon("settings", "set", "sandbox.image", "auto").ok()
    own_daemon("agent", "list").ok()
    status, said = acquire_of(own_daemon)
    assert status == 201, said
    status, said = acquire_of(own_daemon, image="auto")
    assert status == 400 and "auto" in said and "hutch-sandbox:latest" in said, said
    name = own_daemon.create()
    assert own_daemon.json("agent", "show", name)["image"] == "auto"
    own_daemon("settings", "set", "sandbox.runtime", "bwrap").ok()
    assert own_daemon.json("agent", "show", own_daemon.create())["image"] == ""
    refused = own_daemon("agent", "create", "x", "image=auto")
    assert refused.code != 0 and "image= for none" in refused.errors, str(refused)
