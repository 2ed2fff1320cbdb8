# Sessions: a sandbox of a client's own, with the policy that it brings, its questions, and its end.
import contextlib
import json
import os
import signal
import threading
import urllib.parse

import pytest

import harness
from api import Api, Reply, UnixConnection, read_events, text_of, wait_until

LOCKED = {"filesystem": {"denyRead": ["/home", "/root", "~"], "allowRead": ["."], "allowWrite": ["."]},
          "network": {"allowedDomains": []}}


class Session:
    """One that is open: its `state`, what its stream says, and requests to it. Over the Unix socket, or TCP."""

    def __init__(self, api, tcp=False, **wish):
        self.api = api
        self.connection = api.connection() if tcp else UnixConnection(api.socket_path)
        headers = {"Content-Type": "application/json", **(api.headers() if tcp else {})}
        self.connection.request("POST", "/v1/sessions", body=json.dumps(wish), headers=headers)
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            self.refusal = Reply(self.answer.status, self.answer.getheaders(), self.answer.read())
            self.connection.close()
            return
        self.refusal = None
        self.events = read_events(self.answer)
        name, self.state = next(self.events)
        assert name == "session"
        self.id, self.agent = self.state["id"], self.state["agent"]

    def __enter__(self):
        assert self.refusal is None, self.refusal.body
        return self

    def __exit__(self, *_):
        self.leave()
        wait_until(lambda: self.agent not in agents(self.api))

    def leave(self):
        """As a client that is killed: its descriptor is gone, and nothing is said."""
        if self.connection.sock is not None:
            self.connection.sock.close()
        self.answer.close()
        self.connection.close()

    def place(self, rest, **query):
        return f"/v1/sessions/{self.id}{rest}" + (f"?{urllib.parse.urlencode(query)}" if query else "")

    def exec(self, command, **more):
        return self.api.post(self.place("/exec"), {"command": command, **more}).ok()

    def read(self, path):
        return self.api.get(self.place("/files", path=path))

    def reply(self, question, choice):
        return self.api.post(self.place(f"/questions/{question['id']}"), {"choice": choice})


def agents(api):
    """As the daemon's user sees them: by TCP those of a session with its own policy are not there."""
    return [one["name"] for one in local(api, "GET", "/v1/agents").ok()["agents"]]


def local(api, method, path):
    """By the Unix socket."""
    connection = UnixConnection(api.socket_path)
    try:
        return api.request(method, path, connection=connection)
    finally:
        connection.close()


def runs(mark):
    """Whether any process has that in its command line."""
    return mark in harness.subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, check=True).stdout.decode()


@pytest.fixture
def project(api):
    place = api.person.mkdir(api.person.home / f"project-{os.urandom(4).hex()}")
    api.person.write(place / "file", "of the project\n")
    return place


def test_it_has_a_place_and_its_commands(api, project):
    with Session(api, dir=str(project), policy=LOCKED) as session:
        assert session.state["dir"] == str(project) and session.state["state"] == "running"
        assert session.state["status"].startswith("🔒 Sandbox: 0 domains")
        assert session.agent in agents(api) and session.id not in session.agent
        done = session.exec("pwd; cat file; echo made > new; echo err >&2; exit 3")
        assert (done["exitCode"], done["stdout"], done["stderr"]) == (3, f"{project}\nof the project\n", "err\n")
        assert (project / "new").read_text() == "made\n"
        with api.events("POST", session.place("/exec"), {"command": "echo streamed"}) as events:
            assert text_of(list(events), "stdout") == b"streamed\n"
        assert api.get(session.place("")).ok() == session.state
        assert session.exec("exit 0", timeoutMs=60_000)["exitCode"] == 0


def test_its_files_are_what_its_commands_see(api, project):
    secret = api.person.write(api.person.home / f"secret-{project.name}", "theirs")
    with Session(api, dir=str(project), policy=LOCKED) as session:
        assert session.read("file").body == b"of the project\n"
        assert session.read("/etc/hostname").status == 200
        assert session.read(str(secret)).error(404) == "not_found"
        content = bytes(range(256)) * 40_000
        assert api.request("PUT", session.place("/files", path="/tmp/big"), body=content).status == 201
        assert session.exec("sha256sum < /tmp/big; wc -c < /tmp/big")["stdout"].split()[-1] == str(len(content))
        assert session.read("/tmp/big").body == content
        name = "odd\nname \x01"
        assert api.request("PUT", session.place("/files", path=name), body=b"odd").status == 201
        assert (project / name).read_bytes() == b"odd"
        entries = [one["name"] for one in session.read(".").ok()["entries"]]
        assert sorted(entries) == ["file", name]
        refused = []
        place = session.place("/files", path="/usr/new")
        run = in_background(lambda: refused.append(api.request("PUT", place, body=b"x")))
        if api.person.is_root:  # what the file's own mode forbids is not asked
            session.reply(next(session.events)[1], "no").ok()
        run.join(60)
        assert refused[0].status >= 400 and not os.path.exists("/usr/new")
        assert api.request("DELETE", session.place("/files", path=name)).ok()["removed"] == 1
        assert api.request("DELETE", session.place("/files")).error(400) == "invalid_argument"
        assert not (project / name).exists()


def test_the_end_of_the_client_is_its_end(api, project):
    session = Session(api, dir=str(project), policy=LOCKED)
    home = next((api.state / "data").rglob(f"agents/{session.agent}"), None)
    session.exec(f"sh -c 'sleep 5000; : {session.agent}' & echo kept > $HOME/kept")
    assert home is not None and (home / "kept").exists()
    assert runs(session.agent)
    session.leave()
    wait_until(lambda: session.agent not in agents(api))
    assert not home.exists() and not runs(session.agent)
    assert api.post(session.place("/exec"), {"command": "true"}).error(404) == "not_found"
    wait_until(lambda: not list((api.state / "data" / "sessions").iterdir()))


def test_it_can_be_ended(api, project):
    session = Session(api, dir=str(project), policy=LOCKED)
    assert api.request("DELETE", session.place("")).status == 204
    assert list(session.events) == [("ended", {})]
    session.leave()
    assert session.agent not in agents(api)
    assert api.request("DELETE", session.place("")).error(404) == "not_found"
    # By whoever removes its agent, too.
    session = Session(api, dir=str(project), policy=LOCKED)
    local(api, "DELETE", f"/v1/agents/{session.agent}").ok()
    assert list(session.events) == [("ended", {})]
    session.leave()
    wait_until(lambda: api.get(session.place("")).status == 404)


def in_background(work):
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_its_questions_are_its_own(api, project):
    made = api.person.home / f"new-{project.name}"
    with Session(api, dir=str(project), policy=LOCKED) as session, \
            Session(api, dir=str(project), policy=LOCKED) as stranger, \
            api.events("GET", "/v1/questions") as everybody:
        assert next(everybody) == ("ready", {})
        results = []
        run = in_background(lambda: results.append(session.exec(f"echo once > {made}; cat {made}")))
        name, question = next(session.events)
        assert name == "question" and question["agent"] == session.agent and question["kind"] == "write"
        assert question["path"] == str(made) and "project" not in question["choices"]
        assert api.get("/v1/questions").ok()["questions"] == []
        assert local(api, "GET", f"/v1/questions?agent={session.agent}").ok()["questions"] == []
        assert api.post(f"/v1/questions/{question['id']}", {"choice": "session"}).error(404) == "not_found"
        assert stranger.reply(question, "session").error(404) == "not_found"
        assert "no question" in api("answer", question["id"], "session").errors
        assert session.reply(question, "session").ok()["choice"] == "session"
        name, answered = next(session.events)
        assert (name, answered["id"], answered["choice"]) == ("answered", question["id"], "session")
        run.join(60)
        assert results[0]["stdout"] == "once\n" and made.read_text() == "once\n"
        # Nobody else heard of it: what comes first there is an agent's own.
        agent = api.create(dir=str(project))
        command = {"command": "bash -c 'exec 3<>/dev/tcp/heard.example/80 && read -t 2 line <&3'", "timeoutMs": 20_000}
        ask = in_background(lambda: api.post(f"/v1/agents/{agent}/exec", command))
        name, heard = next(everybody)
        assert name == "question" and heard["agent"] == agent
        api.post(f"/v1/questions/{heard['id']}", {"choice": "no"}).ok()
        ask.join(60)
        api.request("DELETE", f"/v1/agents/{agent}").ok()


def test_nobody_answers_for_a_client_that_says_no(api, project):
    made = api.person.home / f"new-{project.name}"
    with Session(api, dir=str(project), policy=LOCKED) as session:
        results = []
        run = in_background(lambda: results.append(session.exec(f"echo x > {made}")))
        session.reply(next(session.events)[1], "no").ok()
        run.join(60)
        assert results[0]["exitCode"] != 0 and not made.exists()


def test_a_command_has_a_hidden_file_asked_about(api, project):
    """The routes of files ask nothing: what is hidden is not there for them, until somebody has allowed it."""
    secret = api.person.write(api.person.mkdir(api.person.home / f"other-{project.name}") / "secret", "theirs")
    with Session(api, dir=str(project), policy=LOCKED) as session:
        assert session.read(str(secret)).error(404) == "not_found"
        run = in_background(lambda: session.exec(f": < {secret}"))
        name, question = next(session.events)
        assert name == "question" and question["kind"] == "read" and question["path"] == str(secret)
        session.reply(question, "session").ok()
        run.join(60)
        assert session.read(str(secret)).body == b"theirs"


def test_a_policy_comes_on_the_unix_socket_alone(api, project):
    for key in ("policy", "firstPolicy"):
        refused = Session(api, tcp=True, dir=str(project), **{key: LOCKED}).refusal
        assert refused.error(403) == "permission_denied"
    with Session(api, tcp=True, dir=str(project)) as session:
        assert session.exec("cat file")["stdout"] == "of the project\n"
    assert api.request("POST", "/v1/sessions", data={"dir": str(project)},
                       headers={"Authorization": "Bearer wrong"}).status == 401


def test_a_token_has_no_part_in_what_a_policy_of_its_own_allows(api, project):
    """By TCP the agent of a session that brought a policy is not there: what it may write, a token could write."""
    outside = api.person.mkdir(api.person.home / f"outside-{project.name}")
    policy = json.loads(json.dumps(LOCKED))
    policy["filesystem"]["allowWrite"].append(str(outside))
    with Session(api, dir=str(project), policy=policy) as session:
        agent = f"/v1/agents/{session.agent}"
        assert session.agent in agents(api)
        assert session.agent not in [one["name"] for one in api.get("/v1/agents").ok()["agents"]]
        asked = [("GET", "", None), ("PATCH", "", {"commands": "ask"}), ("DELETE", "", None), ("POST", "/start", {}),
                 ("POST", "/stop", {}), ("POST", "/reset", {}), ("GET", "/processes", None), ("GET", "/events", None),
                 ("GET", "/files?path=file", None), ("GET", "/tools", None), ("GET", "/artifacts", None),
                 ("POST", "/exec", {"command": f"echo x > {outside}/by-token"}), ("POST", "/tasks", {"text": "x"}),
                 ("GET", "/tasks", None), ("GET", "/plugins", None)]
        for method, path, data in asked:
            assert api.request(method, agent + path, data=data).error(404) == "not_found", path
        assert api.request("PUT", f"{agent}/files?path={outside}/by-token", body=b"x").error(404) == "not_found"
        for path in ("/v1/events", "/v1/questions"):
            assert api.get(f"{path}?agent={session.agent}").error(404) == "not_found"
        begin = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert api.post(f"/mcp?agent={session.agent}", begin).error(404) == "not_found"
        assert not list(outside.iterdir())
        # Whoever holds the session has all of it, and so has the daemon's user.
        session.exec(f"echo x > {outside}/own")
        assert local(api, "GET", agent).ok()["name"] == session.agent
    # One without a policy is under those that hold for the token.
    with Session(api, dir=str(project)) as session:
        assert api.get(f"/v1/agents/{session.agent}").ok()["name"] == session.agent


def test_the_first_policy_is_for_whoever_has_none(api, project):
    config = api.state / "config"
    secret = api.person.write(api.person.mkdir(api.person.home / f"opened-{project.name}") / "file", "opened")
    first = json.loads(json.dumps(LOCKED))
    first["filesystem"]["allowRead"].append(str(secret))
    wish = {"dir": str(project), "firstPolicy": first}
    made = api.person.home / f"new-{project.name}"
    try:
        with Session(api, **wish) as session:
            assert session.exec(f"cat {secret}")["stdout"] == "opened"
            results = []
            run = in_background(lambda: results.append(session.exec(f"echo x > {made}")))
            question = next(session.events)[1]
            assert {"project", "everywhere"} <= set(question["choices"])
            session.reply(question, "project").ok()
            run.join(60)
            assert results[0]["exitCode"] == 0
        saved = json.loads((config / "projects.json").read_text())[str(project)]
        assert str(secret) in saved["filesystem"]["allowRead"], "it began with the first policy"
        assert any(path == str(made) for path in saved["filesystem"]["allowWrite"])
        (config / "projects.json").unlink()
        api.person.write(config / "default.json", json.dumps(LOCKED))
        with Session(api, **wish) as session:
            assert session.exec(f"timeout 20 cat {secret} & sleep 0.1; kill %1", timeoutMs=5000)["stdout"] == ""
    finally:
        for name in ("default.json", "projects.json"):
            with contextlib.suppress(FileNotFoundError):
                (config / name).unlink()


def test_an_answer_for_all_projects_leaves_the_first_policy_be(api, project):
    """It makes default.json of the built-in policy; whoever brings a first one has theirs, and what was answered."""
    default = api.state / "config" / "default.json"
    secret = api.person.write(api.person.mkdir(api.person.home / f"first-{project.name}") / "secret", "opened")
    made = [api.person.home / f"{name}-{project.name}" for name in ("one", "two")]
    first = {"filesystem": {"denyRead": ["/home", "/root", "~"], "allowRead": [".", str(secret)], "allowWrite": ["."]}}

    def answer_everywhere(session, file):
        results = []
        run = in_background(lambda: results.append(session.exec(f"echo x > {file}")))
        session.reply(next(session.events)[1], "everywhere").ok()
        run.join(60)
        assert results[0]["exitCode"] == 0
        next(session.events)

    try:
        with Session(api, dir=str(project)) as session:
            answer_everywhere(session, made[0])
        with Session(api, dir=str(project), firstPolicy=first) as session:
            # Where it is not the first policy that holds, somebody is asked and nobody answers.
            assert session.exec(f"cat {secret}; echo y > {made[0]}", timeoutMs=15_000)["stdout"] == "opened"
            answer_everywhere(session, made[1])
        assert made[0].read_text() == "y\n"
        saved = json.loads(default.read_text())["filesystem"]
        assert [str(path) for path in made] == saved["allowWrite"][1:]
        assert str(secret) not in saved["allowRead"], "what others find there is not begun with a first policy"
        shown = json.loads(api("config", "show", "--json").ok().text)
        assert shown["file"] == str(default) and shown["added"]["filesystem"]["allowWrite"] == saved["allowWrite"][1:]
    finally:
        default.unlink(missing_ok=True)


def test_a_no_to_a_file_holds_for_its_command(api, project):
    """Within it nobody is asked twice; the next command asks again."""
    secret = api.person.write(api.person.mkdir(api.person.home / f"no-{project.name}") / "secret", "theirs")
    with Session(api, dir=str(project)) as session:
        for choice, told in (("no", ""), ("no", ""), ("session", "theirstheirs")):
            results = []
            run = in_background(lambda said=results: said.append(session.exec(f"cat {secret}; cat {secret}; true")))
            kind, question = next(session.events)
            assert kind == "question" and question["path"] == str(secret)
            session.reply(question, choice).ok()
            assert next(session.events)[0] == "answered"
            run.join(60)
            assert results[0]["stdout"] == told


@pytest.mark.parametrize("wish", [
    {}, {"dir": "relative"}, {"dir": "/nowhere-at-all"}, {"dir": 7}, {"dir": "{}", "policy": "file"},
    {"dir": "{}", "policy": {"netwrok": {}}}, {"dir": "{}", "policy": {}, "firstPolicy": {}},
    {"dir": "{}", "nonsense": 1}, {"dir": "{}", "backend": "none"}, {"dir": "{}", "policy": {"enabled": False}},
], ids=str)
def test_what_is_wrong_is_said_and_leaves_nothing(api, project, wish):
    before = agents(api)
    wish = {key: str(project) if value == "{}" else value for key, value in wish.items()}
    refused = Session(api, **wish).refusal
    assert refused is not None and refused.status in (400, 403, 404, 422), refused
    assert refused.json()["error"]["message"]
    assert agents(api) == before and not list((api.state / "data" / "sessions").iterdir())


@pytest.mark.slow
def test_so_many_at_once(api, project):
    with contextlib.ExitStack() as open_ones:
        for _ in range(64):
            open_ones.enter_context(Session(api, dir=str(project)))
        assert Session(api, dir=str(project)).refusal.error(409) == "conflict"
    with Session(api, dir=str(project)) as session:
        assert session.exec("echo again")["stdout"] == "again\n"


def test_a_daemon_that_was_killed_leaves_none(base, project, api):
    own = Api(base, api.person)
    try:
        session = Session(own, dir=str(project))
        assert session.exec("true")["exitCode"] == 0
        own.process.send_signal(signal.SIGKILL)
        own.process.wait(30)
        assert list(session.events) == []
        session.leave()
        assert own("agent", "list").ok().text.find("session-") < 0
        assert not list((own.state / "data" / "sessions").iterdir())
    finally:
        own.stop()
