# What can be reached by name and by address, and what a program is told of the rest.
import json

import pytest

CURL = ("curl", "-sS", "--max-time", "20")
DIRECT = (*CURL, "--noproxy", "*")
REFUSED = (7, 52, 55, 56)  # a reset, seen while connecting, sending or later


def allow(*names):
    return [word for name in names for word in ("--allow-domain", name)]


def got(result):
    return json.loads(result.ok().out)


@pytest.mark.parametrize("curl", [DIRECT, CURL], ids=["captured", "proxy"])
def test_an_allowed_name(hutch, curl):
    answer = got(hutch.run(*curl, "http://good.example/hello", options=allow("good.example")))
    assert (answer["path"], answer["headers"]["host"]) == ("/hello", "good.example")


@pytest.mark.parametrize("curl", [DIRECT, CURL], ids=["captured", "proxy"])
def test_an_allowed_name_over_tls(hutch, internet, curl, with_ca):
    options = [*allow("good.example"), *with_ca]
    answer = got(hutch.run(*curl, "--cacert", str(internet.ca), "https://good.example/x", options=options))
    assert answer["tls"] and answer["headers"]["host"] == "good.example"


@pytest.mark.parametrize("proxy", ["socks5h", "socks5", "socks4a", "http"])
def test_each_proxy(hutch, proxy):
    result = hutch.run(*CURL, "--proxy", f"{proxy}://127.0.0.1:1023", "--noproxy", "", "http://good.example:8080/p",
                       options=allow("good.example"))
    assert got(result)["port"] == 8080


def test_a_refused_name_by_dns(hutch, internet):
    result = hutch.run(*DIRECT, "http://other.example/", options=allow("good.example"))
    assert result.code == 6, str(result)
    assert "other.example was refused" in result.errors and "--allow-domain other.example" in result.errors
    assert result.errors.count("other.example was refused") == 1
    assert internet.log() == []


def test_the_sandbox_knows_its_own_name(hutch, internet):
    script = "import socket; print(*sorted({found[4][0] for found in socket.getaddrinfo(socket.gethostname(), 80)}))"
    result = hutch.run("python3", "-c", script, options=allow("good.example")).ok()
    assert "127.0.0.1" in result.text.split() and "refused" not in result.errors, str(result)
    assert internet.log() == []


def test_a_refused_name_by_the_proxy(hutch, internet):
    result = hutch.run(*CURL, "-i", "http://other.example/", options=allow("good.example"))
    assert " 403 " in result.text and "X-Proxy-Error: blocked-by-allowlist" in result.text, str(result)
    assert "--allow-domain other.example" in result.text
    assert internet.log() == []


def test_a_refused_name_by_socks(hutch, internet):
    result = hutch.run(*CURL, "--proxy", "socks5h://127.0.0.1:1023", "http://other.example/",
                       options=allow("good.example"))
    assert result.code == 97, str(result)
    assert internet.log() == []


def test_a_refused_address(hutch, internet):
    result = hutch.run(*DIRECT, "http://203.0.113.11/", options=allow("good.example"))
    assert result.code in REFUSED, str(result)
    assert internet.log() == []


def test_an_allowed_address(hutch):
    result = hutch.run(*DIRECT, "http://203.0.113.11/", options=allow("203.0.113.0/24"))
    assert got(result)["address"] == "203.0.113.11"


def test_a_name_that_has_ipv6_alone(hutch):
    assert got(hutch.run(*DIRECT, "http://six.example/", options=allow("six.example")))["path"] == "/"


def test_an_ipv6_address(hutch):
    result = hutch.run(*DIRECT, "http://[2001:db8:2::10]/", options=allow("[2001:db8:2::10]"))
    assert got(result)["headers"]["host"] == "[2001:db8:2::10]"


def test_the_second_address_when_the_first_does_not_answer(hutch):
    assert got(hutch.run(*DIRECT, "http://two.example/", options=allow("two.example")))["path"] == "/"


def test_a_star_is_not_the_name_itself(hutch):
    options = allow("*.good.example")
    assert got(hutch.run(*DIRECT, "http://api.good.example/", options=options))["path"] == "/"
    assert hutch.run(*DIRECT, "http://good.example/", options=options).code == 6


def test_a_port(hutch, internet):
    options = allow("good.example:8080")
    assert got(hutch.run(*DIRECT, "http://good.example:8080/", options=options))["port"] == 8080
    internet.forget()
    assert hutch.run(*DIRECT, "http://good.example/", options=options).code in REFUSED
    assert internet.log("connection") == []


def test_a_denied_name_beats_an_allowed_one(hutch):
    options = [*allow("*.good.example"), "--deny-domain", "api.good.example"]
    assert hutch.run(*DIRECT, "http://api.good.example/", options=options).code == 6


def test_outbound_is_everything_but_private(hutch, internet):
    assert got(hutch.run(*DIRECT, "http://other.example/", options=["--network", "outbound"]))["path"] == "/"
    internet.forget()
    assert hutch.run(*DIRECT, "http://private.example/", options=["--network", "outbound"]).code in REFUSED
    assert internet.log("connection") == []


def test_none_has_loopback_alone(hutch, internet):
    result = hutch.run(*DIRECT, "http://good.example/", options=["--network", "none"])
    assert result.code == 6 and internet.log() == []


def test_its_own_loopback_is_its_own(hutch):
    script = """python3 - <<'EOF'
import socket, threading
for address, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6), ("198.19.255.254", socket.AF_INET)):
    server = socket.socket(family); server.bind((address, 0)); server.listen()
    client = socket.create_connection(server.getsockname()[:2])
    peer, _ = server.accept(); client.sendall(b"x"); assert peer.recv(1) == b"x"
print("own")
EOF"""
    assert hutch.sh(script).ok().text == "own\n"


def test_an_international_name(hutch):
    result = hutch.run(*DIRECT, "http://xn--bcher-kva.example/", options=allow("bücher.example"))
    assert got(result)["path"] == "/"


def test_udp_other_than_dns_has_no_way_out(hutch):
    script = """python3 - <<'EOF'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    s.sendto(b"x", ("203.0.113.10", 443)); print("sent")
except PermissionError: print("refused")
EOF"""
    assert hutch.sh(script, options=["--network", "outbound"]).ok().text == "refused\n"


def test_json_has_the_refused(hutch):
    result = hutch.run(*DIRECT, "http://other.example/", options=["--json", *allow("good.example")])
    refusals = json.loads(result.out)["refusals"]
    assert [(one["host"], one["rule"]) for one in refusals if "host" in one] == [("other.example", "default")]
