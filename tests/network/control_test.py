# Questions about hosts and other rules, over the control descriptor, while a command runs.
import json

import pytest

from caller import running
from harness import wait_until

CURL = "curl -sS --max-time 30 --noproxy '*' -o /dev/null -w '%{http_code}\\n' "


def test_a_host_is_asked_for_and_waits(hutch, internet):
    with running(hutch, CURL + "http://good.example/; true") as (caller, process):
        question = caller.line("question")
        assert (question["kind"], question["host"], question["port"]) == ("connect", "good.example", 80)
        assert question["exe"].endswith("/curl") and question["pid"] > 0
        assert question["chain"] and "sh" in question["chain"][0]
        assert internet.log("connection") == []
        caller.say(type="answer", id=question["id"], choice="once")
        assert process.stdout.readline() == b"200\n"


def test_no_is_a_refusal(hutch, internet):
    with running(hutch, CURL + "http://good.example/") as (caller, process):
        caller.say(type="answer", id=caller.line("question")["id"], choice="no")
        assert process.wait() != 0
        violation = caller.refused()
        assert violation["what"].startswith("good.example:80 was refused")
        assert violation["exe"].endswith("/curl") and violation["pid"] > 0
    assert internet.log("connection") == []


@pytest.mark.parametrize("choice, kind", [("once", "connection"), ("no", "refusal")])
def test_the_record_says_who_it_was(hutch, choice, kind):
    with running(hutch, CURL + "http://good.example/") as (caller, process):
        question = caller.line("question")
        caller.say(type="answer", id=question["id"], choice=choice)
        outcome = caller.line("done")["outcome"]
    its = question["pid"], question["exe"]
    assert all(its)
    if choice == "no":
        assert its in [(refusal.get("pid"), refusal.get("exe")) for refusal in outcome["refusals"]]
    records = [json.loads(line) for line in hutch("audit", "--json", "--type", kind).ok().text.splitlines()]
    [run] = [record["run"] for record in records if (record.get("pid"), record.get("exe")) == its]
    who = f"{question['exe']} (process {question['pid']})"
    assert who in hutch("audit", "--run", run).ok().text
    if choice == "no":
        assert who in hutch("why", run).ok().text


def test_once_is_asked_again_and_session_is_not(hutch):
    script = f"for i in 1 2 3 4; do {CURL} http://good.example/; done"
    with running(hutch, script) as (caller, process):
        for choice in ("once", "session"):
            caller.say(type="answer", id=caller.line("question")["id"], choice=choice)
        assert process.stdout.read() == b"200\n" * 4


def test_strict_asks_nobody(hutch, project, as_user, internet):
    policy = as_user.write(project / "strict.json", json.dumps(
        {"network": {"allowedDomains": [], "deniedDomains": [], "strictAllowlist": True}}))
    with running(hutch, CURL + "http://good.example/", "--policy", str(policy)) as (caller, process):
        assert process.wait() != 0
        assert caller.refusal().startswith("good.example was refused")


def test_nobody_is_asked_where_nobody_listens(hutch):
    assert hutch.sh(CURL + "http://good.example/").code != 0


def test_a_wrong_answer_is_told(hutch):
    with running(hutch, CURL + "http://good.example/") as (caller, process):
        question = caller.line("question")
        caller.say(type="answer", id="999", choice="once")
        assert "no question 999 is open" in caller.line("error")["message"]
        caller.say(type="answer", id=question["id"], choice="maybe")
        assert "once, session, tree, project, everywhere, no" in caller.line("error")["message"]
        caller.say(type="answer", id=question["id"], choice="once")
        assert process.stdout.readline() == b"200\n"


TALK = """python3 -u - <<'EOF'
import socket, sys
s = socket.create_connection(("good.example", 7))
for line in range(1000):
    s.sendall(b"x" * 10)
    got = s.recv(10)
    if not got: break
    print("heard" if line == 0 else "", end="\\n" if line == 0 else "")
    import time; time.sleep(0.05)
print("cut")
EOF
echo over"""


def test_other_rules_end_what_they_no_longer_allow(hutch):
    with running(hutch, TALK, "--allow-domain", "good.example") as (caller, process):
        assert process.stdout.readline() == b"heard\n"
        caller.say(type="update", policy={"network": {"allowedDomains": [], "deniedDomains": ["good.example"]}})
        assert b"over" in process.stdout.read()
        assert b"ConnectionResetError" in process.stderr.read()


def test_options_hold_on_when_the_policy_is_replaced(hutch):
    script = f"read line; {CURL} http://good.example/"
    with running(hutch, script, "--allow-domain", "good.example") as (caller, process):
        caller.say(type="update", policy={"network": {"allowedDomains": ["other.example"], "deniedDomains": []}})
        caller.say(type="nonsense")
        assert "nonsense" in caller.line("error")["message"]
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"200\n"


@pytest.mark.parametrize("steps", [("good.example", "other.example", "good.example")])
def test_allowed_denied_and_back(hutch, steps, project):
    script = f"while read line; do {CURL} http://good.example/ || echo no; done"
    with running(hutch, script, "--allow-domain", "good.example") as (caller, process):
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"200\n"
        caller.say(type="update", policy={"network": {"allowedDomains": [], "deniedDomains": ["*"]}})
        # The line is read in turn with the sandbox's own traffic: an error line says when it has been.
        caller.say(type="nonsense")
        caller.line("error")
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() in (b"000\n", b"no\n")
        caller.say(type="update", policy={"network": {"allowedDomains": ["good.example"], "deniedDomains": []}})
        caller.say(type="nonsense")
        caller.line("error")
        wait_until(lambda: tried(process) == b"200\n", "allowed again")
        process.stdin.close()


def tried(process):
    process.stdin.write(b"\n")
    process.stdin.flush()
    return next(line for line in iter(process.stdout.readline, b"") if line not in (b"no\n",))


ASK = """/usr/bin/python3 -u - <<'EOF'
import socket, time
made = socket.create_connection(("good.example", %d))
if made.getpeername()[1] == 7: made.sendall(b"\1")
try:
    while True:
        made.sendall(b"GET /page HTTP/1.1\\r\\nHost: good.example\\r\\n\\r\\n")
        if not made.recv(65536): break
        print("heard")
        time.sleep(0.2)
except OSError:
    pass
print("cut")
EOF"""
NARROW = {"network": {"allowedDomains": [], "deniedDomains": [],
                     "rules": [{"host": "good.example", "methods": ["GET"], "paths": ["/other"]}]}}


def is_cut(process):
    """Whether the program is, before it has been answered a hundred times more."""
    return any(process.stdout.readline() == b"cut\n" for _ in range(100))


def test_a_connection_whose_requests_were_not_read(hutch):
    with running(hutch, ASK % 7, "--allow-domain", "good.example") as (caller, process):
        assert process.stdout.readline() == b"heard\n"
        caller.say(type="update", policy={"network": {**NARROW["network"], "allowedDomains": ["good.example"]}})
        assert is_cut(process)


def test_a_connection_whose_requests_were_read_by_other_rules(hutch, project, as_user):
    rules = [{"host": "good.example", "methods": ["GET"]}]
    policy = as_user.write(project / "rules.json", json.dumps({"network": {**NARROW["network"], "rules": rules}}))
    with running(hutch, ASK % 80, "--policy", str(policy)) as (caller, process):
        assert process.stdout.readline() == b"heard\n"
        caller.say(type="update", policy=NARROW)
        assert is_cut(process)
