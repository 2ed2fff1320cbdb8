# Plugins by HTTP: all that the command line does with them.
import json

import pytest

import api
from recipes import recipe as made, tool

COUNT = made("Word Tools", version="1", zebra={"b": 1, "a": 2}, files={"x": "one\n"}, tools=[tool("say", "cat x")])


@pytest.fixture
def ask(daemon):
    """ask(method, path, body): the status and the JSON of the answer; a body that is bytes goes as it is."""
    def asking(method, path, body=None):
        connection = api.UnixConnection(daemon.socket)
        text = body if body is None or isinstance(body, bytes) else json.dumps(body)
        connection.request(method, path, text, {"Content-Type": "application/json"} if body is not None else {})
        answer = connection.getresponse()
        read = answer.read()
        connection.close()
        return answer.status, json.loads(read)
    daemon("agent", "list").ok()
    return asking


def with_file(text, **members):
    return {**COUNT, "files": {"x": text}, **members}


def test_the_library_by_http(daemon, ask):
    status, added = ask("POST", "/v1/plugins?from=a%20test", COUNT)
    assert (status, added["id"], added["number"], added["from"]) == (201, "word-tools", 1, "a test")
    assert [one["id"] for one in ask("GET", "/v1/plugins")[1]["plugins"]] == ["word-tools"]
    assert ask("GET", "/v1/plugins?new=1")[1]["plugins"] == []
    # With its keys in their order.
    assert list(ask("GET", "/v1/plugins/word-tools/recipe")[1]) == list(COUNT)
    status, copied = ask("POST", "/v1/plugins/word-tools/duplicate", {"name": "Other Words"})
    assert (status, copied["id"]) == (201, "other-words")
    assert ask("POST", "/v1/plugins/word-tools/duplicate", {"name": "Other Words"})[0] == 409
    assert ask("DELETE", "/v1/plugins/other-words") == (200, {"id": "other-words", "agents": [], "library": True})
    assert ask("GET", "/v1/plugins/other-words")[0] == 404 and ask("DELETE", "/v1/plugins/other-words")[0] == 404
    assert ask("POST", "/v1/plugins", {"name": "x"})[0] == 400
    assert ask("POST", "/v1/plugins", b"[1")[0] == 400
    assert ask("GET", "/v1/plugins/..%2f..%2fx")[0] == 400
    ask("DELETE", "/v1/plugins/word-tools")


def test_installing_calling_and_removing_by_http(daemon, agent, ask):
    plugins = f"/v1/agents/{agent}/plugins"
    status, done = ask("POST", plugins, COUNT)
    assert (status, done["state"], done["tools"]) == (201, "ready", ["word-tools_say"])
    said = f"/v1/agents/{agent}/tools/word-tools_say"
    assert ask("POST", said, {})[1]["result"]["stdout"] == "one\n"
    assert [one["id"] for one in ask("GET", plugins)[1]["plugins"]] == ["word-tools"]
    [shown] = ask("GET", f"{plugins}/word-tools")[1]["installed"]
    assert [step["step"] for step in shown["log"]][-1] == "tools"
    status, told = ask("POST", "/v1/plugins/word-tools/update", with_file("two\n"))
    assert (status, told["agents"], told["number"]) == (200, [agent], 2)
    assert ask("POST", said, {})[1]["result"]["stdout"] == "two\n"
    assert ask("POST", "/v1/plugins/word-tools/rollback", {})[1]["number"] == 1
    assert ask("POST", said, {})[1]["result"]["stdout"] == "one\n"
    assert ask("POST", "/v1/plugins/word-tools/rollback", {"number": 2})[1]["number"] == 2
    assert ask("PUT", f"{plugins}/word-tools/config/unit", {"value": "km"})[0] == 200
    assert ask("GET", f"{plugins}/word-tools/config/unit")[1]["value"] == "km"
    assert ask("GET", f"{plugins}/word-tools/config")[1]["values"] == {"unit": "km"}
    assert ask("GET", f"{plugins}/word-tools/config/none")[0] == 404
    assert ask("DELETE", f"{plugins}/word-tools")[1] == {"id": "word-tools", "agents": [agent], "library": False}
    assert ask("DELETE", f"{plugins}/word-tools")[0] == 404 and ask("POST", said, {})[0] == 404
    status, again = ask("PUT", f"{plugins}/word-tools")
    assert (status, again["state"]) == (201, "ready")
    broken = ask("POST", plugins, with_file("three\n", setup="echo no >&2; exit 3"))
    assert broken[0] >= 400 and "exit code 3" in broken[1]["error"]["message"]
    assert ask("POST", said, {})[1]["result"]["stdout"] == "two\n"
    assert ask("GET", "/v1/agents/nobody/plugins")[0] == 404
    assert ask("POST", "/v1/agents/nobody/plugins", COUNT)[0] == 404
    assert ask("DELETE", "/v1/plugins/word-tools")[1]["agents"] == [agent]


def test_a_trial_by_http(daemon, ask):
    status, told = ask("POST", "/v1/plugins/check", {**COUNT, "tools": [{**tool("say", "cat x"), "example": {}}]})
    assert status == 200 and told["ok"] and told["tools"][0]["stdout"] == "one\n"
    assert ask("GET", "/v1/plugins")[1]["plugins"] == []
