# UDP that a rule lets out, and all that none does.
import json

import pytest

from caller import running
from harness import wait_until

# Sends each word to the host and port, from one socket, and prints what is answered. As who speaks UDP does it sends a
# second time what was not answered: the kernel may drop a datagram, for one while it learns who a neighbour is.
ASK = """
import socket, sys
host, port, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
try:
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.settimeout(15)
    made.connect(address)
    for word in words:
        made.send(word.encode())
        try: answer = made.recv(2000)
        except TimeoutError:
            made.send(word.encode())
            answer = made.recv(2000)
        print(answer.decode(), flush=True)
except OSError as error:
    print(type(error).__name__)
"""
GONE = ("PermissionError\n", "gaierror\n")


def ask(hutch, host, port, *words, options, **kw):
    return hutch.run("python3", "-c", ASK, host, str(port), *(words or ("word",)), options=options, **kw).ok().text


def allow(*rules):
    return [word for rule in rules for word in ("--allow-udp", rule)]


def udp_policy(as_user, project, **network):
    return "--policy", str(as_user.write(project / "udp.json", json.dumps({"network": network})))


@pytest.mark.parametrize("rule,host,addresses", [
    ("good.example:123", "good.example", ("203.0.113.10", "2001:db8:2::10")),
    ("203.0.113.11:123", "203.0.113.11", ("203.0.113.11",)),
    ("[2001:db8:2::10]:123", "2001:db8:2::10", ("2001:db8:2::10",)),
    ("six.example:123", "six.example", ("2001:db8:2::16",)),
    ("OTHER.example.:123", "other.example", ("203.0.113.11",)),
])
def test_what_a_rule_names(hutch, internet, rule, host, addresses):
    assert ask(hutch, host, 123, options=allow(rule)) == "123 word\n"
    seen, *_ = internet.log("datagram")
    assert seen["address"] in addresses


def test_by_the_policy_and_its_record(hutch, as_user, project):
    options = udp_policy(as_user, project, allowedUdp=["good.example:123", "good.example:124"])
    own = {"HUTCH_STATE": str(as_user.runner.mkdir(as_user.home / f"state-of-{project.name}"))}
    assert ask(hutch, "good.example", 123, "one", "two", options=options, env=own) == "123 one\n123 two\n"
    assert ask(hutch, "good.example", 124, options=options, env=own) == "124 word\n"
    lines = hutch("audit", "--type", "connection", "--json", env=own).ok().text.splitlines()
    last = [one for one in map(json.loads, lines) if one["target"].endswith("/udp")]
    assert [one["target"] for one in last] == ["good.example:123/udp", "good.example:124/udp"]
    assert last[0]["bytes_up"] == 6 and last[0]["bytes_down"] == len("123 one") * 2
    assert last[0]["rule"] == 'network.allowedUdp "good.example:123"'


def test_several_hosts_at_once_from_one_socket(hutch):
    script = """
import socket
made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
made.settimeout(30)
places = [("good.example", 123), ("good.example", 124), ("203.0.113.11", 123)]
places = [(socket.gethostbyname(host), port) for host, port in places]
for place in places: made.sendto(b"twice", place)
heard = sorted((made.recvfrom(2000)) for _ in range(6))
assert {place for _, place in heard} == set(places), heard
print(*(text.decode() for text, _ in heard), sep="\\n")
"""
    rules = allow("good.example:123", "good.example:124", "203.0.113.11:123")
    text = hutch.run("python3", "-c", script, options=rules).ok().text
    assert text.splitlines() == ["123 twice"] * 4 + ["124 twice"] * 2


def test_large_and_empty_datagrams(hutch, internet):
    script = """
import socket
made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
made.settimeout(30)
made.connect(("good.example", 123))
for size in (0, 1, 9000, 60000):
    made.send(b"x" * size)
    print(len(made.recv(2000)))
"""
    text = hutch.run("python3", "-c", script, options=allow("good.example:123")).ok().text
    assert [int(line) for line in text.split()] == [4, 5, 1004, 1004]
    assert [one["size"] for one in internet.log("datagram")] == [0, 1, 9000, 60000]


def test_many_sockets(hutch):
    """More than there are flows at once: those that were used longest ago give way."""
    script = """
import socket
made = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(400)]
place = socket.gethostbyname("good.example"), 123
for number, one in enumerate(made):
    one.settimeout(30)
    one.sendto(str(number).encode(), place)
    assert one.recv(100).decode().split()[-1] == str(number)
made[0].sendto(b"again", place)
print(made[0].recv(100).decode())
"""
    assert hutch.run("python3", "-c", script, options=allow("good.example:123")).ok().text == "123 again\n"


@pytest.mark.parametrize("host,port", [("good.example", 124), ("good.example", 443), ("other.example", 123),
                                       ("203.0.113.11", 123), ("203.0.113.10", 123), ("2001:db8:2::10", 123)])
def test_what_no_rule_names(hutch, internet, host, port):
    options = [*allow("good.example:123"), "--network", "outbound"]
    assert ask(hutch, host, port, options=options) in GONE
    assert internet.log("datagram") == []


def test_a_name_that_udp_alone_may_reach(hutch, internet):
    curl = ("curl", "-sS", "--max-time", "20", "--noproxy", "*", "http://good.example/")
    result = hutch.run(*curl, options=allow("good.example:123"))
    assert result.code in (7, 52, 56) and "good.example:80 was refused" in result.errors, str(result)
    assert internet.log("connection") == []


@pytest.mark.parametrize("name", ["private.example", "loop.example", "meta.example", "mapped.example", "near.example"])
def test_a_name_that_leads_inside(hutch, internet, name):
    script = ASK.replace("settimeout(15)", "settimeout(1)")
    result = hutch.run("python3", "-c", script, name, "123", "word", options=allow(f"{name}:123"))
    assert result.text == "TimeoutError\n" and f"{name}:123/udp was refused" in result.errors, str(result)
    assert internet.log("datagram") == []


def test_a_private_address_that_an_entry_names(hutch):
    assert ask(hutch, "192.168.7.7", 123, options=allow("192.168.7.7:123")) == "123 word\n"
    options = [*allow("private.example:123"), "--allow-domain", "192.168.7.0/24"]
    assert ask(hutch, "private.example", 123, options=options) == "123 word\n"


def test_a_denial_beats_it(hutch, internet):
    script = ASK.replace("settimeout(15)", "settimeout(1)")
    for rule, deny in (("other.example:123", "203.0.113.0/24"), ("203.0.113.11:123", "203.0.113.11:123")):
        result = hutch.run("python3", "-c", script, rule.split(":")[0], "123", "word",
                           options=[*allow(rule), "--deny-domain", deny])
        assert result.text == "TimeoutError\n" and "was refused" in result.errors, str(result)
    assert internet.log("datagram") == []


# Sends each line that it reads and prints what is answered within two seconds.
TALK = """
import socket, sys
made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
made.settimeout(2)
made.connect((sys.argv[1], 123))
for line in sys.stdin:
    made.send(line.strip().encode())
    try: print(made.recv(2000).decode(), flush=True)
    except TimeoutError: print("silence", flush=True)
"""


def test_other_rules_close_it(hutch, internet, as_user, project):
    program = as_user.write(project / "talk.py", TALK)
    options = udp_policy(as_user, project, allowedUdp=["good.example:123"])
    with running(hutch, f"exec python3 {program} good.example", *options) as (caller, process):
        def say(line):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            return process.stdout.readline()
        assert say(b"first") == b"123 first\n"
        internet.forget()
        caller.say(type="update", policy={"network": {"allowedUdp": ["good.example:123"],
                                                      "deniedDomains": ["good.example"]}})
        assert caller.refusal().startswith("good.example:123/udp was refused")
        assert say(b"unheard") == b"silence\n"
        assert internet.log("datagram") == []
        caller.say(type="update", policy={"network": {"allowedUdp": ["other.example:123"]}})
        assert say(b"unheard") == b"silence\n"
        caller.say(type="update", policy={"network": {}})
        assert say(b"unheard") == b"silence\n"
        assert internet.log("datagram") == []
        assert 'network.allowedUdp "other.example:123": can be closed but not opened while the sandbox runs' in \
            caller.line("error")["message"]
        caller.say(type="update", policy={"network": {"allowedUdp": ["good.example:123"]}})
        caller.say(type="nonsense")
        caller.line("error")
        assert say(b"again") == b"123 again\n"
        process.stdin.close()


def test_a_host_that_does_not_answer(hutch, internet):
    """Nobody listens at that port; when somebody does, the next datagram reaches it."""
    script = """
import socket, sys
made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
made.connect(("other.example", 999))
made.settimeout(1)
for _ in range(45):
    made.send(b"x")
    try: print(made.recv(100).decode(), flush=True); break
    except TimeoutError: print("silence", flush=True)
"""
    server = """
import socket
made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
made.bind(("203.0.113.11", 999))
data, place = made.recvfrom(100)
made.sendto(b"late", place)
"""
    with hutch.popen("python3", "-c", script, options=allow("other.example:999")) as process:
        assert process.stdout.readline() == b"silence\n"
        internet.start("python3", "-c", server)
        wait_until(lambda: process.stdout.readline() == b"late\n", "the answer")


@pytest.mark.parametrize("value,complaint", [
    ("*.good.example:123", "has a star; a UDP rule names one host or address and one port, HOST:PORT"),
    ("203.0.113.0/24:123", "is a range; a UDP rule names one host or address and one port, HOST:PORT"),
    ("good.example", "has no port; a UDP rule names one host or address and one port, HOST:PORT"),
    ("good.example:53", "is a DNS server: all names are answered by the gateway itself"),
    ("127.0.0.1:123", "cannot be let out: it is the sandbox's own loopback"),
    ("localhost:123", "cannot be let out: it is the sandbox's own loopback"),
    ("224.0.0.251:5353", "cannot be let out: it is a multicast address"),
])
def test_rules_that_cannot_hold(hutch, as_user, project, value, complaint):
    result = hutch.run("true", options=allow(value))
    assert result.code == 125 and "--allow-udp" in result.errors and complaint in result.errors, str(result)
    result = hutch.run("true", options=udp_policy(as_user, project, allowedUdp=[value]))
    assert result.code == 125 and f"network.allowedUdp[0]: \"{value}\" {complaint}" in result.errors, str(result)


def test_requests_that_would_pass_by_their_rules(hutch, as_user, project):
    rules = [{"host": "good.example", "methods": ["GET"]}]
    result = hutch.run("true", options=udp_policy(as_user, project, rules=rules, allowedUdp=["good.example:443"]))
    assert result.code == 125 and "network.rules is about requests of this host" in result.errors, str(result)


def test_icmp_is_an_error_that_says_why(hutch, as_user, project):
    result = hutch.run("true", options=udp_policy(as_user, project, allowedIcmp=["good.example"]))
    assert result.code == 125 and "network.allowedIcmp: ICMP cannot be let out" in result.errors, str(result)


def test_what_is_said_of_it(hutch):
    options = allow("good.example:123")
    checked = hutch("check", *options, "connect", "good.example:123/udp").ok().text
    assert checked.startswith('allowed: connect good.example:123/udp: --allow-udp "good.example:123"')
    denied = hutch("check", *options, "connect", "good.example:124/udp")
    assert denied.code == 1 and denied.text.startswith("denied: connect good.example:124/udp: network.allowedUdp")
    assert "UDP may reach good.example:123" in hutch("explain", *options).ok().text
