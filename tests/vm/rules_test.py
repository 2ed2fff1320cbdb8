# Rules about hosts and requests, questions and placeholders: by the gateway, of machines as of every other backend.
import json
import ssl

import harness
import internet as internets
import net_machines
import placeholders
import pytest

STORE = "/etc/ssl/certs/ca-certificates.crt"


@pytest.fixture(scope="module")
def internet(base):
    with internets.running(base.unused("internet-of-rules")) as made:
        yield made


@pytest.fixture(scope="module")
def daemon(internet, python_root, base):
    made = net_machines.NetDaemon(internet, python_root, base, base.person(harness.PEOPLE[-1]))
    yield made
    made.stop()


def test_a_placeholder_is_put_in_for_its_host_and_nobody_inside_has_it(daemon, internet):
    agent = daemon.agent("secretive", allowedDomains=["good.example", "other.example"])
    placeholders.is_put_in(daemon, agent)
    # Programs that know no variable look where the image has its store.
    stored = daemon.sh(agent, f"cat {STORE}").ok().text
    assert "BEGIN CERTIFICATE" in stored and "hutch" in names_in(stored), names_in(stored)
    assert daemon.sh(agent, f"echo x >> {STORE}").code != 0
    daemon("agent", "remove", agent).ok()


def names_in(bundle):
    """What its last authority is called is in there."""
    last = bundle[bundle.rindex("-----BEGIN CERTIFICATE-----"):].strip()
    return ssl.PEM_cert_to_DER_cert(last).decode("latin-1")


def test_rules_about_requests_hold_and_are_in_the_record(daemon, internet):
    rule = {"host": "good.example", "methods": ["GET"], "paths": ["/open/**"]}
    agent = daemon.agent("ruled", allowedDomains=[], rules=[rule])
    urls = [f"https://{place}" for place in ("good.example/open/a", "good.example/closed", "other.example/open/a")]
    allowed, closed, other = placeholders.asks(daemon, agent, *urls)
    assert allowed["path"] == "/open/a" and closed == "403" and other.startswith("failed"), (allowed, closed, other)
    lines = [json.loads(line) for line in daemon("audit", "--json").ok().text.splitlines()]
    of_agent = [line for line in lines if line.get("agent") == agent]
    assert any("other.example" in json.dumps(line) for line in of_agent), of_agent
    daemon("agent", "remove", agent).ok()


def test_a_connection_waits_for_its_answer(daemon, internet):
    agent = daemon.agent("asking", allowedDomains=[])
    with daemon.popen("questions", "--follow", "--json") as follower:
        harness.wait_until((daemon.state / "run/runs/attending").exists, "somebody follows")
        twice = ["http://good.example/"] * 2
        words = [agent, "--", "/usr/bin/python3", "-c", placeholders.ASK, *twice]
        with daemon.popen("exec", *words) as process:
            question = next(one for one in map(json.loads, follower.stdout) if one.get("host") == "good.example")
            assert (question["type"], question["kind"], question["port"]) == ("question", "connect", 80), question
            daemon("answer", question["id"], "session").ok()
            out, errors = process.communicate(timeout=300)
        follower.kill()
    assert [json.loads(line)["path"] for line in out.decode().splitlines()] == ["/", "/"], (out, errors)
    daemon("agent", "remove", agent).ok()
