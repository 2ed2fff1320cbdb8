# Whoever names a session of MCP that is not there, or is another agent's, has none.
import pytest

LEGACY = "2025-11-25"
BOTH = {"Accept": "application/json, text/event-stream"}
IDS = {
    "in capitals": str.upper,
    "the first half": lambda own: own[:16],
    "more behind it": lambda own: own + "0",
    "a blank in it": lambda own: own[:8] + " " + own[8:],
    "twice": lambda own: f"{own}, {own}",
    "zeros": lambda own: "0" * len(own),
    "a path": lambda own: f"../{own}",
    "percent-encoded": lambda own: "".join(f"%{ord(letter):02x}" for letter in own),
    "in quotes": lambda own: f'"{own}"',
    "as JSON": lambda own: f'{{"id":"{own}"}}',
    "very long": lambda own: own * 100,
    "a pattern": lambda own: own[:31] + "*",
    "nothing": lambda own: "",
}


def message(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


class Conversation:
    """A session of an agent's."""

    def __init__(self, api, agent):
        self.api = api
        begin = message("initialize", protocolVersion=LEGACY, capabilities={}, clientInfo={"name": "x", "version": "1"})
        self.id = api.post(f"/mcp?agent={agent}", begin, headers=BOTH).headers["mcp-session-id"]
        api.post("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=self.headers())

    def headers(self):
        return {**BOTH, "Mcp-Session-Id": self.id, "MCP-Protocol-Version": LEGACY}


@pytest.fixture
def other(api):
    name = api.create()
    yield name
    api.request("DELETE", f"/v1/agents/{name}")


def named(talk, given, agent=None, **headers):
    path = "/mcp" if agent is None else f"/mcp?agent={agent}"
    return talk.api.post(path, message("tools/list"), headers={**talk.headers(), "Mcp-Session-Id": given, **headers})


@pytest.mark.parametrize("how", IDS)
def test_an_id_that_is_none(api, agent, how):
    talk = Conversation(api, agent)
    assert named(talk, talk.id).status == 200
    reply = named(talk, IDS[how](talk.id))
    assert reply.status in (400, 404), reply.body
    gone = api.request("DELETE", "/mcp", headers={**talk.headers(), "Mcp-Session-Id": IDS[how](talk.id)})
    assert gone.status in (400, 404) and named(talk, talk.id).status == 200


def test_another_agents(api, agent, other):
    talk = Conversation(api, agent)
    assert named(talk, talk.id, agent=other).error(404) == "not_found"
    assert named(talk, talk.id, **{"Hutch-Agent": other}).error(404) == "not_found"
    for headers in ({}, {"Hutch-Agent": other}):
        path = "/mcp" if headers else f"/mcp?agent={other}"
        sent = {**talk.headers(), "Accept": "text/event-stream", **headers}
        assert api.request("GET", path, headers=sent).status == 404
        assert api.request("DELETE", path, headers=sent).status == 404
    assert named(talk, talk.id).status == 200


def test_an_id_that_the_client_chooses_begins_nothing(api, agent):
    begin = message("initialize", protocolVersion=LEGACY, capabilities={}, clientInfo={"name": "x", "version": "1"})
    sent = {"Accept": "application/json, text/event-stream", "Mcp-Session-Id": "0" * 32}
    assert api.post(f"/mcp?agent={agent}", begin, headers=sent).status == 404


def test_without_the_token_an_id_is_nothing(api, agent):
    talk = Conversation(api, agent)
    for given in (None, "Bearer ", f"Bearer {talk.id}", "Basic Og=="):
        headers = {**talk.headers(), "Authorization": given}
        assert api.post("/mcp", message("tools/list"), headers=headers).status == 401
        assert api.request("DELETE", "/mcp", headers=headers).status == 401


def test_the_session_of_an_agent_that_is_gone(api):
    """Another agent that gets the name later is not the one that the session began with."""
    name = api.create()
    talk = Conversation(api, name)
    api.request("DELETE", f"/v1/agents/{name}").ok()
    assert named(talk, talk.id).status == 404
    api.post("/v1/agents", {"name": name}).ok()
    try:
        assert named(talk, talk.id).status == 404
    finally:
        api.request("DELETE", f"/v1/agents/{name}").ok()
