# A secret that an agent asks for, typed on a page that an MCP client opens (URL elicitation).
import hashlib
import http.client
import json
import socket
import urllib.parse

import pytest

import harness
import mcp_stdio

VALUE = "v-3cRet & value+1/x="
URL_CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"url": {}}},
              "clientInfo": {"name": "t"}}


@pytest.fixture
def agent(daemon):
    name = daemon.create("autonomousExec.enabled=true")
    yield name
    daemon("agent", "remove", name).ok()


@pytest.fixture
def client(daemon, agent):
    made = mcp_stdio.Client(daemon, agent)
    made.ask("initialize", **URL_CLIENT)
    made.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    yield made
    made.close()


def ask_for(client, key="TOKEN"):
    """The call's number, and the request to open a page."""
    number = client.send("tools/call", name="sandbox_secret_set",
                         arguments={"key": key, "description": "<b>for</b> tests", "instructions": "look\nthere"})
    while (message := client.hear()).get("method") != "elicitation/create":
        assert message.get("id") != number, message
    assert message["params"]["mode"] == "url" and VALUE not in json.dumps(message)
    return number, message


def accept(client, message, action="accept"):
    client.say({"jsonrpc": "2.0", "id": message["id"], "result": {"action": action}})


def result_of(client, number):
    """The call's envelope, and the methods that came before it."""
    before = []
    while (message := client.hear()).get("id") != number:
        before.append(message)
    assert VALUE not in json.dumps([message, before])
    return message["result"]["structuredContent"], [one.get("method") for one in before], before


def browse(url, method="GET", fields=None, **headers):
    """(status, page) of the page at `url`."""
    at = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=20)
    sent = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    connection.request(method, at.path, urllib.parse.urlencode(fields or {}) if method == "POST" else None, sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_typed_stored_and_never_told(daemon, agent, client):
    number, message = ask_for(client)
    url = message["params"]["url"]
    assert url.startswith("http://127.0.0.1:")
    accept(client, message)
    status, page = browse(url)
    assert status == 200 and "TOKEN" in page and "<b>" not in page and "type=\"password\"" in page
    status, page = browse(url, "POST", {"value": VALUE, "do": "store"})
    assert status == 200 and VALUE not in page
    envelope, methods, before = result_of(client, number)
    assert envelope["ok"] and envelope["result"]["stored"] is True
    assert "notifications/elicitation/complete" in methods
    told = next(one for one in before if one.get("method") == "notifications/elicitation/complete")
    assert told["params"]["elicitationId"] == message["params"]["elicitationId"]
    assert daemon("secret", "check", "--agent", agent, "TOKEN").code == 0
    seen = daemon.sh(agent, "printf %s \"$(hutch-host secrets get TOKEN)\" | sha256sum").ok().text
    assert seen.split()[0] == hashlib.sha256(VALUE.encode()).hexdigest()
    # Nobody is there any more.
    with pytest.raises(OSError):
        browse(url)


@pytest.mark.parametrize("end", ["decline", "cancel", "page"])
def test_a_no_ends_it(daemon, agent, client, end):
    number, message = ask_for(client)
    url = message["params"]["url"]
    if end == "page":
        accept(client, message)
        assert browse(url, "POST", {"value": "", "do": "cancel"})[0] == 200
    else:
        accept(client, message, end)
    envelope, _, _ = result_of(client, number)
    assert not envelope["ok"] or envelope["result"].get("stored") is not True
    assert daemon("secret", "check", "--agent", agent, "TOKEN").code == 1
    with pytest.raises(OSError):
        browse(url, "POST", {"value": VALUE})
    assert daemon("secret", "check", "--agent", agent, "TOKEN").code == 1


def test_others_find_nothing_there(daemon, agent, client):
    number, message = ask_for(client)
    url = message["params"]["url"]
    at = urllib.parse.urlsplit(url)
    wrong = f"http://{at.netloc}/" + "0" * 64
    assert browse(wrong)[0] == 404 and browse(wrong, "POST", {"value": "evil"})[0] == 404
    assert browse(url, "POST", {"value": "evil"}, Origin="http://evil.example")[0] == 400
    assert browse(url, Host="evil.example")[0] == 404
    # Whoever only connects holds nobody up for long.
    with socket.create_connection((at.hostname, at.port)):
        assert browse(url)[0] == 200
    assert daemon("secret", "check", "--agent", agent, "TOKEN").code == 1
    # Not from a sandbox, whose loopback is its own.
    inside = daemon.sh(agent, f"curl -sS -m 5 {url}")
    assert "TOKEN" not in inside.text
    accept(client, message, "decline")
    result_of(client, number)


def test_a_client_that_opens_no_pages_is_not_asked(daemon, agent):
    client = mcp_stdio.Client(daemon, agent)
    client.ask("initialize", **{**URL_CLIENT, "capabilities": {"elicitation": {"form": {}}}})
    arguments = {"key": "TOKEN", "description": "d", "instructions": "i"}
    result, before = client.ask("tools/call", name="sandbox_secret_set", arguments=arguments)
    assert result["isError"] and not [one for one in before if one.get("method") == "elicitation/create"]
    client.close()


def test_a_terminal_may_be_faster(daemon, agent, client):
    number, message = ask_for(client)
    accept(client, message)
    daemon("secret", "set", "--agent", agent, "TOKEN", stdin=b"typed elsewhere").ok()
    envelope, _, _ = result_of(client, number)
    assert envelope["ok"]
    with pytest.raises(OSError):
        browse(message["params"]["url"])


def test_the_end_of_the_client_is_the_end_of_the_page(daemon, agent):
    client = mcp_stdio.Client(daemon, agent)
    client.ask("initialize", **URL_CLIENT)
    _, message = ask_for(client)
    client.process.kill()
    client.process.wait()
    client.process.stdout.close()
    client.process.stdin.close()

    def gone():
        try:
            browse(message["params"]["url"])
        except OSError:
            return True
        return False
    harness.wait_until(gone, "the page has gone")
