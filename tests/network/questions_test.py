# Questions of a run, answered by another program: hutch questions, hutch answer, hutch revoke.
"""Nothing here has a terminal or a control descriptor: whoever answers comes by the run's socket."""

import contextlib
import json
import os
import signal
import socket
import stat

import pytest

import harness
from harness import wait_until

CURL = "curl -sS --max-time 40 --noproxy '*' -o /dev/null -w '%{http_code}\\n' "
ONE = CURL + "http://good.example/"
TALK = """python3 -u -c '
import socket
s = socket.create_connection(("good.example", 7))
while True:
    s.sendall(b"x")
    if not s.recv(1): break
    print("heard", flush=True)
    import time; time.sleep(0.2)
'"""


class Asker:
    """hutch as one person, with a state directory of its own."""

    def __init__(self, hutch, state):
        self.hutch, self.state, self.env = hutch, state, {"HUTCH_STATE": str(state)}

    @property
    def runs(self):
        return self.state / "run/runs"

    def __call__(self, *words):
        return self.hutch(*words, env=self.env)

    def run(self, script, *options, **more):
        return self.hutch.popen("sh", "-c", script, options=options, env=self.env, **more)

    def sockets(self):
        return sorted(self.runs.glob("*.sock"))

    def open(self):
        return [json.loads(line) for line in self("questions", "--json").ok().text.splitlines()]

    def one(self):
        """The one question that is open, once it is."""
        wait_until(self.open, "a question is open")
        [question] = self.open()
        return question

    @contextlib.contextmanager
    def follower(self, *options):
        """hutch questions --follow, and it is there."""
        words = [self.hutch.program, "questions", "--follow", *options]
        with harness.start_in(self.hutch.person, words, cwd=self.hutch.cwd, env=self.env) as process:
            try:
                wait_until((self.runs / "attending").exists, "somebody follows")
                yield process
            finally:
                process.kill()

    def connect(self):
        wait_until(self.sockets, "the run has its socket")
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(60)
        directory = os.open(self.runs, os.O_PATH)
        client.connect(f"/proc/self/fd/{directory}/{self.sockets()[0].name}")
        os.close(directory)
        return client


@pytest.fixture
def asker(hutch, as_user, project):
    return Asker(hutch, as_user.mkdir(as_user.home / f"state-{project.name.split('-')[0]}"))


def test_whoever_follows_is_asked(asker, project):
    with asker.follower("--json") as follower, asker.run(ONE) as run:
        question = json.loads(follower.stdout.readline())
        assert (question["type"], question["kind"]) == ("question", "connect")
        assert (question["host"], question["port"]) == ("good.example", 80)
        assert question["exe"].endswith("/curl") and question["directory"] == str(project)
        assert question["command"] == ["sh", "-c", ONE] and 0 < question["left_ms"] <= 60000
        asker("answer", question["id"], "once").ok()
        assert run.stdout.readline() == b"200\n"
        answered = json.loads(follower.stdout.readline())
        assert (answered["type"], answered["id"], answered["choice"]) == ("answered", question["id"], "once")
        assert answered["by"].startswith("process ")


def test_what_is_open_is_listed(asker, project):
    with asker.follower() as follower, asker.run(ONE) as run:
        question = asker.one()
        text = asker("questions").ok().text
        assert f"{question['id']}  connect good.example:80, by /usr/bin/curl" in text and str(project) in text
        assert f"hutch answer {question['id']} CHOICE" in text and "once session tree project" in text
        assert b"connect good.example:80" in follower.stdout.readline()
        asker("answer", question["id"], "no").ok()
        assert run.wait() != 0
    assert asker("questions").ok().out == b"" and asker("questions", "--json").ok().out == b""


@pytest.mark.parametrize("host", ["192.168.7.7", "169.254.169.254"])
def test_an_address_is_asked_about_as_what_it_is(asker, host):
    """An answer opens it, since the person saw the address; one about a name would say nothing of where it leads."""
    foretold = asker("check", "connect", f"{host}:80")
    assert foretold.code == 1 and foretold.text.startswith("ask: connect "), str(foretold)
    script = f"curl -s -m 30 -o /dev/null -w '%{{http_code}}\\n' http://{host}/; read line; " \
             f"curl -s -m 30 -o /dev/null -w '%{{http_code}}\\n' http://{host}/"
    with asker.follower(), asker.run(script) as run:
        asker("answer", asker.one()["id"], "session").ok()
        assert run.stdout.readline() == b"200\n"
        out, _ = run.communicate(b"go\n")
        assert out == b"200\n"
    with asker.follower(), asker.run(script) as run:
        asker("answer", asker.one()["id"], "once").ok()
        assert run.stdout.readline() == b"200\n"
        run.stdin.write(b"go\n")
        run.stdin.flush()
        asker("answer", asker.one()["id"], "no").ok()
        assert run.stdout.readline() == b"403\n"


def test_an_address_that_a_range_denies_is_not_asked_about(asker, as_user, project):
    network = {"network": {"deniedResolvedAddresses": ["192.168.0.0/16"]}}
    policy = ("--policy", str(as_user.write(project / "denied.json", json.dumps(network))))
    foretold = asker("check", *policy, "connect", "192.168.7.7:80")
    assert foretold.text.startswith("denied: connect 192.168.7.7:80: network.deniedResolvedAddresses"), str(foretold)
    with asker.follower("--json") as follower, asker.run("curl -sf http://192.168.7.7/", *policy) as run:
        assert run.wait() != 0
        follower.kill()
        assert follower.stdout.read() == b""


def test_the_first_answer_holds_and_late_ones_are_told(asker):
    with asker.follower(), asker.run(f"{ONE}; read line") as run:
        question = asker.one()
        asker("answer", question["id"], "session").ok()
        late = asker("answer", question["id"], "no")
        assert late.code == 1 and "was answered before: session, by process" in late.errors
        assert run.stdout.readline() == b"200\n"
        run.stdin.close()


@pytest.mark.parametrize(
    "words, said",
    [
        (["{id}", "maybe"], "choice must be one of once, session, tree, project, everywhere, no"),
        (["{run}.99", "once"], "no question 99 is open"),
        (["{run}.x", "once"], "no question x is open"),
        (["ffffffffffffffffffff.1", "once"], "no run ffffffffffffffffffff is going on"),
        (["nothing", "once"], "is no question's id"),
        (["{run}.", "once"], "is no question's id"),
    ],
)
def test_a_wrong_answer_changes_nothing(asker, words, said):
    with asker.follower(), asker.run(ONE) as run:
        question = asker.one()
        given = [word.format(id=question["id"], run=question["id"].split(".")[0]) for word in words]
        result = asker("answer", *given)
        assert result.code == 1 and said in result.errors, str(result)
        assert [one["id"] for one in asker.open()] == [question["id"]]
        asker("answer", question["id"], "once").ok()
        assert run.stdout.readline() == b"200\n"


def test_what_is_typed_wrong_is_told(asker):
    for words, said in [
        (["answer"], "a question's id (hutch questions lists them) is missing"),
        (["answer", "3f9a.1"], "a choice (once, session, project, no, ...) is missing"),
        (["answer", "--minutes", "5", "3f9a.1", "once"], "--minutes is for session"),
        (["answer", "--minutes", "0", "3f9a.1", "session"], "from 1 to 525600"),
        (["revoke"], "a host is missing"),
        (["questions", "all"], 'unexpected "all"'),
    ]:
        result = asker(*words)
        assert result.code == 125 and said in result.errors, str(result)


def test_without_anybody_the_answer_is_no_at_once(asker):
    with asker.run(ONE) as run:
        assert run.wait(20) != 0
    assert asker.open() == []


def test_when_who_follows_goes_the_answer_is_no(asker):
    with asker.run(ONE + "; read line", stdin=-1) as run:
        with asker.follower() as follower:
            follower.kill()
        assert run.stdout.readline() == b"000\n"
        run.stdin.close()
    with asker.follower() as follower, asker.run(ONE) as run:
        assert follower.stdout.readline()
        follower.kill()
        assert run.wait(20) != 0


def test_the_project_is_saved(asker, project):
    with asker.follower(), asker.run(f"{ONE}; {ONE}") as run:
        asker("answer", asker.one()["id"], "project").ok()
        assert run.stdout.read() == b"200\n200\n"
    saved = json.loads((asker.state / "config/projects.json").read_text())
    assert saved[str(project)]["network"]["allowedDomains"] == ["good.example:80"]


def test_the_record_says_who_answered(asker):
    with asker.follower(), asker.run(ONE) as run:
        asker("answer", "--minutes", "5", asker.one()["id"], "session").ok()
        assert run.stdout.readline() == b"200\n"
    [record] = [json.loads(line) for line in asker("audit", "--json", "--type", "decision").ok().text.splitlines()]
    assert "good.example:80" in json.dumps(record) and "minutes" in json.dumps(record)
    assert '"process ' in json.dumps(record)


def test_several_runs_at_once(asker):
    with asker.follower("--json") as follower, asker.run(ONE) as one, asker.run(ONE) as other:
        lines = [json.loads(follower.stdout.readline()) for _ in range(2)]
        assert len({line["id"] for line in lines}) == 2 and len(asker.sockets()) == 2
        for line, choice in zip(lines, ["once", "no"]):
            asker("answer", line["id"], choice).ok()
        assert sorted([one.wait() == 0, other.wait() == 0]) == [False, True]


def test_the_socket_is_its_owners_alone_and_goes(asker):
    with asker.run("read line") as run:
        wait_until(asker.sockets, "the run has its socket")
        [path] = asker.sockets()
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600 and stat.S_IMODE(asker.runs.stat().st_mode) == 0o700
        run.stdin.close()
    assert not asker.sockets()


def test_a_socket_of_a_killed_run_is_removed(asker):
    with asker.run("read line") as run:
        wait_until(asker.sockets, "the run has its socket")
        run.send_signal(signal.SIGKILL)
        run.wait()
        assert asker.sockets()
        asker("questions").ok()
        assert not asker.sockets()


def test_a_directory_of_others_is_not_used(asker, as_user):
    as_user.mkdir(asker.runs.parent)
    as_user.mkdir(asker.runs, mode=0o777)
    result = asker.hutch.run("true", env=asker.env)
    assert result.code == 0 and "has to be yours alone" in result.errors
    assert not asker.sockets()


def test_clients_that_do_not_behave_hold_up_nobody(asker):
    with asker.follower(), asker.run(f"{ONE}; {ONE}; read line") as run:
        first = asker.one()
        silent = [asker.connect() for _ in range(40)]  # more than are served
        flood = asker.connect()
        with contextlib.suppress(OSError):
            flood.sendall(b"x" * (3 << 20))  # a line without an end
        for client in silent[:5]:
            with contextlib.suppress(OSError):
                client.sendall(b'{"v":1,"type":"nonsense"}\n' * 2000)
        for client in silent + [flood]:
            client.close()
        asker("answer", first["id"], "once").ok()
        assert run.stdout.readline() == b"200\n"
        asker("answer", asker.one()["id"], "once").ok()
        assert run.stdout.readline() == b"200\n"
        run.stdin.close()


def test_a_client_hears_what_was_open_before(asker):
    with asker.follower(), asker.run(ONE) as run:
        asker.one()
        with asker.connect() as client, client.makefile("r") as lines:
            hello = json.loads(lines.readline())
            assert hello["type"] == "run" and hello["open"] == 1
            question = json.loads(lines.readline())
            assert question["type"] == "question" and question["host"] == "good.example"
            client.sendall(b"no json\n")
            assert json.loads(lines.readline())["type"] == "error"
            answer = {"v": 1, "type": "answer", "id": question["id"], "choice": "once"}
            client.sendall(json.dumps(answer).encode() + b"\n")
            assert {json.loads(lines.readline())["type"] for _ in range(2)} == {"accepted", "answered"}
        assert run.stdout.readline() == b"200\n"


def test_a_saved_change_reaches_what_runs(asker):
    script = f"while read line; do {ONE} || echo no; done"
    with asker.run(script) as run:

        def tried():
            run.stdin.write(b"\n")
            run.stdin.flush()
            return run.stdout.readline().strip().replace(b"000", b"") or run.stdout.readline().strip()

        wait_until(asker.sockets, "the run has its socket")
        assert tried() == b"no"
        asker("config", "add", "network.allowedDomains", "good.example").ok()
        assert tried() == b"200"
        asker("config", "remove", "network.allowedDomains", "good.example").ok()
        assert tried() == b"no"


def test_a_saved_change_ends_connections(asker):
    asker("config", "add", "network.allowedDomains", "good.example").ok()
    with asker.run(TALK) as run:
        assert run.stdout.readline() == b"heard\n"
        asker("config", "add", "network.deniedDomains", "good.example").ok()
        assert run.wait(30) != 0 and b"ConnectionResetError" in run.stderr.read()


def test_a_change_elsewhere_changes_nothing(asker):
    with asker.follower(), asker.run(TALK) as run:
        asker("answer", asker.one()["id"], "once").ok()
        assert run.stdout.readline() == b"heard\n"
        asker("config", "add", "network.allowedDomains", "other.example").ok()
        for _ in range(5):
            assert run.stdout.readline() == b"heard\n", "what was allowed once goes on"
        run.terminate()
        run.stdout.read()


def test_a_saved_change_answers_what_is_open(asker):
    with asker.follower("--json") as follower, asker.run(ONE) as run:
        question = json.loads(follower.stdout.readline())
        asker("config", "add", "network.allowedDomains", "good.example").ok()
        assert run.stdout.readline() == b"200\n"
        answered = json.loads(follower.stdout.readline())
        assert (answered["id"], answered["by"]) == (question["id"], "your policy")


def test_what_cannot_change_while_it_runs_is_told(asker):
    with asker.run("read line") as run:
        wait_until(asker.sockets, "the run has its socket")
        result = asker("config", "add", "network.allowedUdp", "good.example:123").ok()
        assert "network.allowedUdp good.example:123 holds from the next start on" in result.errors
        run.stdin.close()


def test_an_answer_of_one_run_reaches_the_others(asker):
    script = f"while read line; do {ONE} || echo no; done"
    with asker.follower(), asker.run(script) as other:
        wait_until(asker.sockets, "the run has its socket")
        with asker.run(ONE) as run:
            asker("answer", asker.one()["id"], "project").ok()
            assert run.stdout.readline() == b"200\n"
        other.stdin.write(b"\n")
        other.stdin.flush()
        assert other.stdout.readline() == b"200\n"
        other.stdin.close()


def test_an_update_of_the_callers_policy_is_not_undone(asker, as_user, project):
    files = "{}" if asker.hutch.backend == "user" else '{"filesystem": {"allowRead": ["."]}}'
    policy = as_user.write(project / "policy.json", files)
    with asker.run(f"read line; {ONE}", "--policy", str(policy)) as run:
        wait_until(asker.sockets, "the run has its socket")
        asker("config", "add", "network.allowedDomains", "good.example").ok()
        run.stdin.close()
        assert run.wait() != 0, "it has a policy of its own"


def test_what_is_revoked_ends_and_is_asked_again(asker):
    with asker.follower(), asker.run(f"{TALK}; {ONE}") as run:
        asker("answer", asker.one()["id"], "session").ok()
        assert run.stdout.readline() == b"heard\n"
        result = asker("revoke", "good.example").ok()
        assert "1 of its connections ended; it keeps what it has read already; --kill ends it" in result.text
        question = asker.one()
        assert question["port"] == 80
        asker("answer", question["id"], "once").ok()
        assert b"200\n" in run.stdout.read()
    assert asker("revoke", "good.example").code == 1


def test_revoke_can_end_the_command(asker):
    with asker.follower(), asker.run(TALK) as run:
        asker("answer", asker.one()["id"], "once").ok()
        assert run.stdout.readline() == b"heard\n"
        result = json.loads(asker("revoke", "--kill", "--json", "good.example:7").ok().text)
        assert [one["ended"] for one in result["runs"]] == [True] and result["file"] is None
        assert run.wait(30) != 0


def test_revoke_takes_an_entry_out_of_the_policy(asker):
    asker("config", "add", "network.allowedDomains", "good.example:7").ok()
    with asker.run(TALK) as run:
        assert run.stdout.readline() == b"heard\n"
        assert "is no longer in" in asker("revoke", "good.example:7").ok().text
        assert run.wait(30) != 0
    assert asker("config", "get", "network.allowedDomains").text.strip() == ""


def test_revoke_takes_out_what_an_answer_saved(asker):
    with asker.follower(), asker.run(f"{ONE}; read line; {ONE}", stdin=-1) as run:
        asker("answer", asker.one()["id"], "project").ok()
        assert run.stdout.readline() == b"200\n"
        assert "good.example:80" in asker("config", "get", "network.allowedDomains").text
        assert "is no longer in" in asker("revoke", "Good.Example").ok().text
        run.stdin.write(b"\n")
        run.stdin.close()
        asker("answer", asker.one()["id"], "no").ok()
        assert run.stdout.readline() == b"000\n"
    assert asker("config", "get", "network.allowedDomains").text.strip() == ""


@pytest.mark.parametrize(
    "host, said",
    [
        ("a b", "a host name holds no blanks"),
        ("http://good.example/", "write the host alone: good.example"),
        ("good.example:99999", "a port is a number"),
        ("good.example:", "a port is a number"),
    ],
)
def test_what_is_no_host_cannot_be_revoked(asker, host, said):
    result = asker("revoke", host)
    assert result.code == 125 and said in result.errors, str(result)
