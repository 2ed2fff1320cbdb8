# Placeholders of an agent: the value reaches the hosts that it is bound to, by TLS alone, and nothing inside has it.
import base64
import json

import pytest

import daemons

VALUE = "sk-3cRet-value-0123456789"
CURL = "curl -sS --max-time 40 --noproxy '*' "


class NetDaemon(daemons.Daemon):
    """A daemon whose network is that internet."""

    def __init__(self, internet, *args):
        self.internet = internet
        super().__init__(*args)

    def options(self, given):
        options = super().options(given)
        return {"outer": self.internet.enter(options["cwd"]), **options}


@pytest.fixture
def daemon(internet, base, as_user, backend):
    if backend == "user":
        pytest.skip("an agent's OS user is of the machine, not of the tests' own list of users")
    internet.forget()
    made = NetDaemon(internet, base, as_user)
    policy = {"network": {"allowedDomains": ["good.example", "other.example"], "deniedDomains": [],
                          "tlsTerminate": {"extraCaCertPaths": [str(internet.ca)]}}}
    file = as_user.write(made.state / "policy.json", json.dumps(policy))
    made.create(f"backend={backend}", f"policy={file}", name="alice")
    yield made
    made.stop()


def keep(daemon, *options, value=VALUE):
    daemon("secret", "set", "--agent", "alice", "--host", "good.example", *options, "TOKEN", stdin=value.encode()).ok()


def asked(daemon, script):
    """What the server was sent; it tells in its answer."""
    return json.loads(daemon.sh("alice", script).ok().out)


def test_it_is_put_in_for_its_host_and_nobody_inside_has_it(daemon):
    keep(daemon)
    stand_in = daemon.sh("alice", 'printf %s "$TOKEN"').ok().text
    assert stand_in.startswith("hutch-") and len(stand_in) == len(VALUE) and VALUE not in stand_in
    got = asked(daemon, CURL + '-u "me:$TOKEN" -H "X-Key: $TOKEN" -d "k=$TOKEN" "https://good.example/x?q=$TOKEN"')
    assert got["headers"]["x-key"] == VALUE and got["body"] == f"k={VALUE}" and got["path"] == f"/x?q={VALUE}"
    assert base64.b64decode(got["headers"]["authorization"].split(" ")[1]).decode() == f"me:{VALUE}"
    assert daemon.sh("alice", "env; cat /proc/*/environ 2>/dev/null; true").ok().text.count(VALUE) == 0
    assert VALUE not in daemon("audit", "--json").ok().text


def test_another_host_and_a_connection_without_tls_get_the_stand_in(daemon):
    keep(daemon)
    for url in ("https://other.example/", "http://good.example/"):
        ca = "-k " if url.startswith("https") else ""
        got = asked(daemon, CURL + ca + f'-H "X-Key: $TOKEN" -H "Host: {url.split("/")[2]}" {url}')
        assert got["headers"]["x-key"].startswith("hutch-"), url


def test_a_host_that_only_says_its_name_gets_nothing(daemon):
    keep(daemon)
    script = CURL + "-k --connect-to good.example:443:other.example:443 -H \"X-Key: $TOKEN\" https://good.example/"
    daemon.sh("alice", script)
    script = CURL + "-k -H 'Host: good.example' -H \"X-Key: $TOKEN\" https://other.example/"
    daemon.sh("alice", script)
    assert VALUE not in json.dumps(daemon.internet.log())


def test_a_value_that_is_changed_or_removed(daemon):
    keep(daemon)
    ask = CURL + '-H "X-Key: $TOKEN" https://good.example/'
    assert asked(daemon, ask)["headers"]["x-key"] == VALUE
    other = "another-value-of-some-length"
    keep(daemon, value=other)
    assert asked(daemon, ask)["headers"]["x-key"] == other
    daemon("secret", "remove", "--agent", "alice", "TOKEN").ok()
    assert daemon.sh("alice", 'printf %s "$TOKEN"').ok().text == ""
