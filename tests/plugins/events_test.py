# Events: what programs and plugins tell each other, who hears of it, and where it ends.
import json
import time

import pytest

import api
import harness
from recipes import tool

HEAR = "printf '%s %s\\n' \"$HUTCH_EVENT\" \"$PARAM_PAYLOAD\" >> heard"


def events(*types, tells=()):
    return {"subscribe": list(types), "emit": list(tells)}


def heard(daemon, agent, plugin="ear"):
    return daemon.sh(agent, f"cat plugins/{plugin}/heard 2>/dev/null; true").text


def emit(daemon, agent, type, payload="{}"):
    daemon.sh(agent, f"hutch-host events emit {type} '{payload}'").ok()


def audit(daemon, agent):
    lines = daemon("audit", "--agent", agent, "--kind", "service", "--json").ok().text.splitlines()
    return [one for one in map(json.loads, lines) if one["service"] == "events"]


def test_a_plugin_hears_of_what_it_subscribes_to(daemon, agent, recipe):
    daemon("plugin", "install", recipe("Ear", events=events("csv.ready", "other"), onEvent="hear",
                                       tools=[tool("hear", HEAR)]), "--agent", agent).ok()
    emit(daemon, agent, "csv.ready", '{"file": "/x y", "n": [1]}')
    emit(daemon, agent, "not.mine")
    emit(daemon, agent, "other", "[]")
    harness.wait_until(lambda: len(heard(daemon, agent).splitlines()) == 2, "both are heard of")
    lines = heard(daemon, agent).splitlines()
    assert lines[0].split(" ", 1)[0] == "csv.ready" and lines[1] == "other []"
    assert json.loads(lines[0].split(" ", 1)[1]) == {"file": "/x y", "n": [1]}
    assert "ear_hear: called" in [one["outcome"] for one in audit(daemon, agent)]
    daemon("plugin", "remove", "ear").ok()


def test_a_declared_payload_is_the_value_or_its_text(daemon, agent, recipe):
    for kind in ("object", "string"):
        path = recipe("Ear", events=events("x"), onEvent="hear",
                      tools=[tool("hear", "printf %s \"$PARAM_PAYLOAD\" > heard", payload=kind)])
        daemon("plugin", "install", path, "--agent", agent).ok()
        emit(daemon, agent, "x", '{"a":1}')
        harness.wait_until(lambda: heard(daemon, agent), "it is heard of")
        assert json.loads(heard(daemon, agent)) == {"a": 1}
        daemon("plugin", "remove", "ear").ok()


def test_a_narrowed_plugin_tells_and_hears_what_it_declares(daemon, agent, recipe):
    tell = "; ".join(f"hutch-host events emit {type} '{{}}' 2>/dev/null; echo $?" for type in ("mine", "yours"))
    daemon("plugin", "install", recipe("Mouth", events=events(tells=["mine"]), permissions={"network": "none"},
                                       tools=[tool("tell", tell)]), "--agent", agent).ok()
    daemon("plugin", "install", recipe("Ear", events=events("mine", "yours"), onEvent="hear",
                                       permissions={"network": "none"}, tools=[tool("hear", HEAR)]),
           "--agent", agent).ok()
    assert daemon.tool(agent, "mouth_tell")["result"]["stdout"].split() == ["0", "4"]
    harness.wait_until(lambda: heard(daemon, agent), "it is heard of")
    time.sleep(1)
    assert heard(daemon, agent) == "mine {}\n"
    for id in ("mouth", "ear"):
        daemon("plugin", "remove", id).ok()


@pytest.mark.parametrize("permissions", [{"network": "none"}, {}])
def test_a_loop_ends(daemon, agent, recipe, permissions):
    """A tool that tells what it hears: known as the plugin's it does not hear itself; else it is counted."""
    run = "echo x >> heard; hutch-host events emit again '{}'"
    daemon("plugin", "install", recipe("Ear", events=events("again", tells=["again"]), onEvent="hear",
                                       permissions=permissions, tools=[tool("hear", run)]), "--agent", agent).ok()
    emit(daemon, agent, "again")
    most = 1 if permissions else 30
    harness.wait_until(lambda: heard(daemon, agent).count("x") >= most, "it is heard of")
    time.sleep(3)
    assert heard(daemon, agent).count("x") == most
    if not permissions:
        assert any("does not hear of it: more than 30 in a minute" in one["outcome"] for one in audit(daemon, agent))
    daemon("plugin", "remove", "ear").ok()


def test_a_flood_is_bounded_and_holds_up_nobody(daemon, agent, recipe):
    daemon("plugin", "install", recipe("Ear", events=events("flood"), onEvent="hear",
                                       tools=[tool("hear", "echo x >> heard; sleep 0.1")]), "--agent", agent).ok()
    daemon.sh(agent, "for i in $(seq 200); do hutch-host events emit flood '{}'; done", timeout=120).ok()
    begun = time.monotonic()
    daemon.sh(agent, "true").ok()
    assert time.monotonic() - begun < 10
    harness.wait_until(lambda: heard(daemon, agent).count("x") == 30, "as many as may be")
    time.sleep(1)
    assert heard(daemon, agent).count("x") == 30
    daemon("plugin", "remove", "ear").ok()


def test_clients_of_the_daemon_see_them(daemon, agent):
    connection = api.UnixConnection(daemon.socket)
    connection.request("GET", f"/v1/events?agent={agent}")
    answer = connection.getresponse()

    def following():
        """The next event's name and data."""
        name = None
        for line in iter(answer.readline, b""):
            if line.startswith(b"event: "):
                name = line[7:].strip().decode()
            if line.startswith(b"data: "):
                return name, json.loads(line[6:])
    assert following()[0] == "ready"
    daemon.sh(agent, "hutch-host events emit build.done '{\"ok\": true}'").ok()
    name, data = following()
    while name != "event":
        name, data = following()
    assert (data["agent"], data["type"], data["payload"], data["number"]) == (agent, "build.done", {"ok": True}, 1)
    connection.close()
    daemon.sh(agent, "for i in $(seq 120); do hutch-host events emit ring '{}'; done", timeout=120).ok()
    asked = api.UnixConnection(daemon.socket)
    asked.request("GET", f"/v1/agents/{agent}/events")
    last = json.loads(asked.getresponse().read())["events"]
    assert len(last) == 100 and last[-1]["number"] == 121 and {one["type"] for one in last} == {"ring"}
    asked.close()


def test_its_person_looks_at_the_last_ones(daemon, agent):
    """As lines in which nothing moves a terminal's cursor, and without what the agent keeps secret."""
    assert daemon("events", agent).ok().text == ""
    daemon("secret", "set", "--agent", agent, "TOKEN", stdin=b"tok-0123456789").ok()
    daemon.sh(agent, "hutch-host events emit a '{\"n\": 1}'; hutch-host events emit b '\"\\u001b[2J\\u202e\"'; "
                     "hutch-host events emit a \"[\\\"$(hutch-host secrets get TOKEN)\\\"]\"").ok()
    lines = daemon("events", agent).ok().text.splitlines()
    assert [line.split("  ")[1:] for line in lines] == \
        [["a", '{"n":1}'], ["b", '"\\u001b[2J\\xe2\\x80\\xae"'], ["a", '["[REDACTED:TOKEN]"]']]
    found = [json.loads(line) for line in daemon("events", agent, "a", "--json").ok().text.splitlines()]
    assert [(one["number"], one["payload"]) for one in found] == [(1, {"n": 1}), (3, ["[REDACTED:TOKEN]"])]
    asked = api.UnixConnection(daemon.socket)
    asked.request("GET", f"/v1/agents/{agent}/events")
    assert [one["number"] for one in json.loads(asked.getresponse().read())["events"]] == [1, 2, 3]
    asked.close()
    refused = daemon("events", "nobody-here")
    assert refused.code == 125 and "nobody-here" in refused.errors


def test_its_person_follows_until_the_agent_is_removed(daemon):
    agent = daemon.create()
    daemon.sh(agent, "hutch-host events emit first").ok()
    with daemon.popen("events", agent, "--follow", "--json") as following:
        assert json.loads(following.stdout.readline())["type"] == "first"
        daemon.sh(agent, "hutch-host events emit second '[2]'").ok()
        second = json.loads(following.stdout.readline())
        assert (second["number"], second["payload"]) == (2, [2])
        daemon("agent", "remove", agent).ok()
        assert following.wait(timeout=60) == 0


def test_what_is_declared_wrong_is_refused(daemon, agent, recipe):
    hear = [tool("hear", HEAR)]
    for members, said in (({"onEvent": "no", "events": events("x"), "tools": hear}, "onEvent"),
                          ({"onEvent": "hear", "tools": hear}, "events.subscribe"),
                          ({"events": {"subscribe": ["a b"]}}, "type of an event"),
                          ({"events": {"emit": [1]}}, "no text"), ({"events": ["x"]}, "events is an object"),
                          ({"onEvent": "hear", "events": events("x"), "tools": [tool("hear", HEAR, file="string")]},
                           "requires file")):
        refused = daemon("plugin", "install", recipe("Ear", **members), "--agent", agent)
        assert refused.code == 125 and said in refused.errors, refused
