# What a machine reaches: what its card sends meets the gateway, with rules and records as everywhere.
import json
import subprocess

import internet as internets
import pytest


@pytest.fixture(scope="session")
def internet(base):
    """Hosts, names and a DNS of the tests' own (tests/lib/internet.py)."""
    with internets.running(base.unused("internet")) as made:
        yield made


@pytest.fixture
def wget(internet, machines):
    """Runs wget(1) in a machine, with the internet as the network of hutch."""
    internet.forget()

    def run(script, *options):
        return machines.run("sh", "-c", script, options=list(options), outer=internet.enter(machines.cwd), timeout=120)

    return run


FETCH = "unset http_proxy HTTP_PROXY; wget -q -O - http://good.example/hello"


def test_an_allowed_name_by_the_card_and_by_the_proxy(wget):
    script = f"({FETCH}); echo; wget -q -O - http://good.example/proxied; echo; ip addr show eth0; cat /etc/resolv.conf"
    result = wget(script, "--allow-domain", "good.example").ok()
    captured, proxied, *look = result.text.splitlines()
    assert json.loads(captured)["path"] == "/hello" and json.loads(proxied)["path"] == "/proxied", result
    assert "10.0.2.15/24" in result.text and look[-1] == "nameserver 10.0.2.3", result


def test_nothing_else_is_reached(wget, internet):
    script = """
    unset http_proxy HTTP_PROXY
    timeout 5 wget -q -O - http://other.example/ && echo reached
    timeout 5 wget -q -O - http://203.0.113.11/ && echo reached
    timeout 5 wget -q -O - http://10.0.2.2:22/ && echo reached
    timeout 5 nslookup good.example 203.0.113.53 >/dev/null 2>&1
    ping -c 1 -W 2 203.0.113.11 >/dev/null 2>&1 && echo pinged
    true"""
    result = wget(script, "--allow-domain", "good.example").ok()
    assert "reached" not in result.text and "pinged" not in result.text, result
    assert "other.example was refused" in result.errors and "--allow-domain other.example" in result.errors, result
    assert internet.log() == []


SERVE = """
import socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    peer, _ = server.accept()
    peer.sendall(b"of the host\\n")
    peer.close()
"""


def test_a_port_of_the_host_is_at_its_address(wget, internet):
    with subprocess.Popen([*internet.enter(), "python3", "-c", SERVE], stdout=subprocess.PIPE) as server:
        try:
            port = server.stdout.readline().decode().strip()
            script = f"nc -w 10 10.0.2.2 {port}; true"
            assert wget(script, "--allow-host-port", port).text == "of the host\n"
            assert wget(script).text == "", "a port that nobody allowed"
        finally:
            server.kill()


def test_no_network_is_none(wget, internet):
    result = wget(f"ls /sys/class/net; {FETCH} && echo reached; true", "--network", "none").ok()
    assert result.text.split() == ["lo"], result
    assert internet.log() == []
