# Rules about hosts and requests, questions and placeholders: by the gateway, of machines as of every other backend.
import json
import ssl
import tarfile

import harness
import host_image
import internet as internets
import net_machines
import pytest

VALUE = "sk-3cRet-value-0123456789"
STORE = "/etc/ssl/certs/ca-certificates.crt"
# What the server was sent, as it tells in its answer; without the proxies of the environment: captured.
ASK = """
import os, sys, urllib.error, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
token = os.environ.get("TOKEN", "")
for url in sys.argv[1:]:
    request = urllib.request.Request(url.replace("TOKEN", token), headers={"X-Key": token})
    try: print(opener.open(request, timeout=60).read().decode(), flush=True)
    except urllib.error.HTTPError as error: print(error.code, flush=True)
    except Exception as error: print("failed", error, flush=True)
"""


@pytest.fixture(scope="module")
def internet(base):
    with internets.running(base.path / "internet-of-rules") as made:
        yield made


@pytest.fixture(scope="module")
def python_root(base, root_archive):
    """With Python, and a store of authorities that has nobody in it."""
    path = host_image.archive(base.path / "python-root.tar")
    with tarfile.open(path, "a") as archive:
        store = tarfile.TarInfo(STORE[1:])
        store.mode = 0o644
        archive.addfile(store)
    path.chmod(0o644)
    return path


def asks(daemon, agent, *urls):
    said = daemon.exec(agent, "/usr/bin/python3", "-c", ASK, *urls, timeout=300).ok().text
    return [json.loads(line) if line.startswith("{") else line for line in said.splitlines()]


@pytest.fixture(scope="module")
def daemon(internet, python_root, base):
    made = net_machines.NetDaemon(internet, python_root, base, base.person(harness.PEOPLE[-1]))
    yield made
    made.stop()


def test_a_placeholder_is_put_in_for_its_host_and_nobody_inside_has_it(daemon, internet):
    agent = daemon.agent("secretive", allowedDomains=["good.example", "other.example"])
    daemon("secret", "set", "--agent", agent, "--host", "good.example", "TOKEN", stdin=VALUE.encode()).ok()
    stand_in = daemon.sh(agent, 'printf %s "$TOKEN"', timeout=300).ok().text
    assert stand_in.startswith("hutch-") and len(stand_in) == len(VALUE) and VALUE not in stand_in
    by_tls, plain = asks(daemon, agent, "https://good.example/x?q=TOKEN", "http://good.example/")
    assert not isinstance(by_tls, str), (by_tls, plain)
    assert by_tls["headers"]["x-key"] == VALUE and by_tls["path"] == f"/x?q={VALUE}", by_tls
    assert plain["headers"]["x-key"] == stand_in, plain
    assert daemon.sh(agent, "env; cat /proc/*/environ 2>/dev/null; true").ok().text.count(VALUE) == 0
    audit = daemon("audit", "--json").ok().text
    assert VALUE not in audit and agent in audit
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
    allowed, closed, other = asks(daemon, agent, "https://good.example/open/a", "https://good.example/closed",
                                         "https://other.example/open/a")
    assert allowed["path"] == "/open/a" and closed == "403" and other.startswith("failed"), (allowed, closed, other)
    lines = [json.loads(line) for line in daemon("audit", "--json").ok().text.splitlines()]
    of_agent = [line for line in lines if line.get("agent") == agent]
    assert any("other.example" in json.dumps(line) for line in of_agent), of_agent
    daemon("agent", "remove", agent).ok()
