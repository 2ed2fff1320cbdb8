# Tasks over HTTP: begun, listed, shown and cancelled; what they hold is what docs/openapi.json says of a Task.
import json
import pathlib

import pytest

from api import wait_until

OPENAPI = json.loads((pathlib.Path(__file__).parents[2] / "docs" / "openapi.json").read_text())
TASK = OPENAPI["components"]["schemas"]["Task"]["properties"]
TYPES = {"string": str, "integer": int, "array": list, "boolean": bool}
ABSENT = "00000000-0000-4000-8000-000000000000"


def described(task):
    """The task, after asserting that each of its keys is one of the description, of the type that it says."""
    for key, value in task.items():
        assert key in TASK and type(value) is TYPES[TASK[key]["type"]], (key, value)
    assert task["status"] in TASK["status"]["enum"]
    for change in task.get("filesChanged", []):
        known = TASK["filesChanged"]["items"]["properties"]
        assert set(change) <= set(known) and change["change"] in known["change"]["enum"], change
    return task


def configure(api, agent, script, env=None):
    """A coding agent that is a shell, which runs `script` with the task's text as $0."""
    coder = {"command": "sh", "args": ["-c", script, "{task}"], "env": env or {}}
    api.request("PATCH", f"/v1/agents/{agent}", data={"codeAgent": coder}).ok()


def begin(api, agent, text="x", **more):
    return described(api.post(f"/v1/agents/{agent}/tasks", {"text": text, **more}).ok(201))


def shown(api, task):
    return described(api.get(f"/v1/agents/{task['agent']}/tasks/{task['id']}").ok())


def ended(api, task):
    return wait_until(lambda: (lambda now: now if "ended" in now else None)(shown(api, task)))


def listed(api, agent):
    return [described(one) for one in api.get(f"/v1/agents/{agent}/tasks").ok()["tasks"]]


def test_a_task_from_its_begin_to_its_report(api, agent):
    configure(api, agent, 'printf %s "$0" > given; echo "$A"; echo aside >&2; echo > made; exit 4', {"A": "b  c"})
    text = "it's \"$(touch pwned)\" `id`\n漢字"
    made = begin(api, agent, text, timeoutMs=60_000)
    assert made["text"] == text and made["agent"] == agent and made["timeoutMs"] == 60_000
    assert made["status"] in ("queued", "running") and "exitCode" not in made and "stdout" not in made
    done = ended(api, made)
    assert (done["status"], done["exitCode"], done["stdout"], done["stderr"]) == ("failed", 4, "b  c\n", "aside\n")
    assert {"path": "made", "change": "added"} in done["filesChanged"]
    assert done["filesChangedCount"] == 2 and done["filesTruncated"] is False
    assert api.get(api.files(agent, "given")).body.decode() == text
    assert api.get(api.files(agent, "pwned", stat=1)).error(404) == "not_found"
    output = api.get(f"/v1/agents/{agent}/processes/{done['pid']}/output").ok()
    assert output["stdout"] == "b  c\n"


def test_lists_have_the_short_form(api, agent):
    configure(api, agent, "exit 0")
    made = begin(api, agent, "y" * 5000)
    assert ended(api, made)["text"] == "y" * 5000
    for path in (f"/v1/agents/{agent}/tasks", "/v1/tasks"):
        one = next(one for one in api.get(path).ok()["tasks"] if one["id"] == made["id"])
        assert described(one)["status"] == "succeeded" and one["exitCode"] == 0
        assert len(one["text"]) < 1000 and "stdout" not in one and "filesChanged" not in one


def test_a_task_is_cancelled_and_its_record_stays(api, agent):
    configure(api, agent, "echo begun; (setsid sleep 3957 &); sleep 3957")
    first, second = begin(api, agent, "one"), begin(api, agent, "two")
    path = f"/v1/agents/{agent}/tasks"
    wait_until(lambda: shown(api, first)["status"] == "running")
    assert shown(api, second)["status"] == "queued"
    for task in (second, first):
        one = described(api.request("DELETE", f"{path}/{task['id']}").ok())
        assert one["status"] == "cancelled" and "ended" in one
        assert next(other["status"] for other in listed(api, agent) if other["id"] == task["id"]) == "cancelled"
    assert shown(api, first)["stdout"] == "begun\n"
    assert api.request("DELETE", f"{path}/{first['id']}").ok() == shown(api, first)
    left = api.post(f"/v1/agents/{agent}/exec", {"command": "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"}).ok()
    assert "sleep 3957" not in left["stdout"]


def test_a_task_goes_on_without_its_client_and_ends_in_time(api, agent):
    configure(api, agent, "echo begun; sleep 600")
    connection = api.connection()
    reply = api.post(f"/v1/agents/{agent}/tasks", {"text": "x", "timeoutMs": 1500}, connection=connection)
    connection.close()
    done = ended(api, reply.ok(201))
    assert (done["status"], done["exitCode"], done["stdout"]) == ("timed_out", 124, "begun\n")


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": 3}, {"text": None}, {"text": ["x"]}, {"text": "a\0b"},
                                  {"text": "x" * (97 << 10)}, {"text": "x", "timeoutMs": 0}, {"text": "x", "what": 1},
                                  {"text": "x", "timeoutMs": -1}, {"text": "x", "timeoutMs": 86_400_001},
                                  {"text": "x", "timeoutMs": 10 ** 30}, {"text": "x", "timeoutMs": "1000"},
                                  {"text": "x", "timeoutMs": 1.5}, {"text": "x", "timeoutMs": None}])
def test_tasks_that_are_none(api, agent, body):
    configure(api, agent, "exit 0")
    assert api.post(f"/v1/agents/{agent}/tasks", body).error(400) == "invalid_argument"
    assert listed(api, agent) == []


def test_bodies_that_are_no_task(api, agent):
    configure(api, agent, "exit 0")
    path = f"/v1/agents/{agent}/tasks"
    for body in (b"", b"{", b"[]", b'"x"', b'{"text": "\xff"}', b'{"text": "\\ud800"}'):
        reply = api.request("POST", path, body=body, headers={"Content-Type": "application/json"})
        assert reply.error(400) == "invalid_argument", (body, reply.body)
    assert api.request("POST", path, body=b"text=x", headers={"Content-Type": "text/plain"}).status == 415
    assert listed(api, agent) == []


def test_a_text_is_no_option(api, agent):
    configure(api, agent, "exit 0")
    api.request("PATCH", f"/v1/agents/{agent}", data={"codeAgent": {"command": "echo", "args": []}}).ok()
    refused = api.post(f"/v1/agents/{agent}/tasks", {"text": "--version"})
    assert refused.error(400) == "invalid_argument" and "--" in refused.json()["error"]["message"]


def test_without_a_coding_agent(api, agent):
    refused = api.post(f"/v1/agents/{agent}/tasks", {"text": "x"})
    assert refused.error(422) == "unsupported" and "codeAgent.command" in refused.json()["error"]["message"]
    api.request("PATCH", f"/v1/agents/{agent}", data={"codeAgent": {"command": "/nowhere/coder"}}).ok()
    done = ended(api, begin(api, agent))
    assert done["status"] == "failed" and done["exitCode"] in (125, 127) and "reason" in done, done


def test_what_is_not_there(api, agent):
    configure(api, agent, "exit 0")
    task = begin(api, agent)
    other = api.create()
    for method in ("GET", "DELETE"):
        for path in (f"/v1/agents/{agent}/tasks/{ABSENT}", f"/v1/agents/{agent}/tasks/x",
                     f"/v1/agents/{agent}/tasks/%2e%2e", f"/v1/agents/{other}/tasks/{task['id']}",
                     f"/v1/agents/nobody/tasks/{task['id']}"):
            assert api.request(method, path).error(404) == "not_found", path
    assert api.get("/v1/agents/nobody/tasks").error(404) == "not_found"
    assert api.post("/v1/agents/nobody/tasks", {"text": "x"}).error(404) == "not_found"
    assert listed(api, other) == []
    for method, path in (("PUT", f"/v1/agents/{agent}/tasks"), ("POST", f"/v1/agents/{agent}/tasks/{task['id']}"),
                         ("POST", "/v1/tasks")):
        assert api.request(method, path, data={"text": "x"}).status == 405
    assert api.get("/v1/tasks", headers={"Authorization": None}).status == 401
    assert ended(api, task)["status"] == "succeeded"
    api.request("DELETE", f"/v1/agents/{other}").ok()


def test_more_than_may_wait_are_refused(api, agent):
    configure(api, agent, "sleep 600")
    tasks = [begin(api, agent) for _ in range(17)]
    assert api.post(f"/v1/agents/{agent}/tasks", {"text": "x"}).error(409) == "conflict"
    for task in tasks[::-1]:
        api.request("DELETE", f"/v1/agents/{agent}/tasks/{task['id']}").ok()
    assert {one["status"] for one in listed(api, agent)} == {"cancelled"}


def test_an_agent_that_is_removed_takes_its_tasks_along(api):
    name = api.create()
    configure(api, name, "sleep 600")
    tasks = [begin(api, name) for _ in range(2)]
    wait_until(lambda: shown(api, tasks[0])["status"] == "running")
    api.request("DELETE", f"/v1/agents/{name}").ok()
    wait_until(lambda: name not in [one["agent"] for one in api.get("/v1/tasks").ok()["tasks"]])
    api.post("/v1/agents", {"name": name}).ok(201)
    assert listed(api, name) == []
    api.request("DELETE", f"/v1/agents/{name}").ok()
