# The bridge: what a sandbox may have of the host, as hutch-host asks for it, and as somebody asks who lies.
import base64
import json
import threading
import time

import pytest

import harness

VALUE = "sk-3cRet.value+1/x="
HTTP = """
import json, os, socket, sys
path = os.environ["HUTCH_BRIDGE"]
def ask(raw):
    s = socket.socket(socket.AF_UNIX); s.settimeout(30); s.connect(path)
    try:
        s.sendall(raw)
    except OSError:
        pass
    got = b""
    while True:
        try:
            piece = s.recv(65536)
        except OSError:
            break
        if not piece: break
        got += piece
    return got
"""


@pytest.fixture(params=["namespace", "bwrap", "none"])
def bridged(daemon, request):
    name = daemon.create(f"backend={request.param}")
    yield name
    daemon("agent", "remove", name).ok()


def keep(daemon, agent, name="TOKEN", value=VALUE, *options):
    daemon("secret", "set", "--agent", agent, *options, name, stdin=value.encode()).ok()


def python(daemon, agent, script):
    return daemon.exec(agent, "/usr/bin/python3", "-c", HTTP + script)


def audit(daemon, agent, kind="service"):
    lines = daemon("audit", "--agent", agent, "--kind", kind, "--json").ok().text.splitlines()
    return [json.loads(line) for line in lines]


def test_the_socket_has_the_name_that_recipes_of_elsewhere_use(daemon, bridged):
    """Of the backend none the host's own files are there, among them no such name."""
    keep(daemon, bridged)
    ask = "python3 -c '" + HTTP.replace('os.environ["HUTCH_BRIDGE"]', '"/run/osaurus-bridge.sock"') + (
        'print(ask(b"GET /api/secrets/TOKEN HTTP/1.0\\r\\n\\r\\n").decode())\'')
    done = daemon.sh(bridged, ask)
    if daemon.json("agent", "show", bridged)["backend"] == "none":
        assert done.code != 0, str(done)
        return
    assert VALUE in done.ok().text, str(done)


# As Osaurus' documentation of the bridge has them, in its order; the model and its answer are another test's.
OF_OSAURUS = """osaurus-host secrets get TOKEN
osaurus-host config set key value
osaurus-host config get key
osaurus-host agent dispatch {agent} 'do it'
osaurus-host agent memory store 'the build needs clang'
osaurus-host agent memory query clang
osaurus-host events emit done
osaurus-host events emit done '{{"a": 1}}'
osaurus-host plugin create < recipe.json
osaurus-host log 'all is well'"""


def test_the_commands_of_osaurus_run_unchanged(daemon, bridged):
    keep(daemon, bridged)
    daemon("agent", "set", bridged, "autonomousExec.enabled=true", "codeAgent.command=/bin/true").ok()
    recipe = {"name": f"Of {bridged}", "description": "d", "tools": [{"id": "t", "description": "d", "run": "true"}]}
    daemon.exec(bridged, "/bin/sh", "-c", "cat > recipe.json", options=["-i"], stdin=json.dumps(recipe).encode()).ok()
    # A plugin that an agent makes runs in a sandbox of its own, which the backend none does not have.
    has_plugins = daemon.json("agent", "show", bridged)["backend"] != "none"
    commands = [line for line in OF_OSAURUS.format(agent=bridged).splitlines() if has_plugins or "plugin" not in line]
    said = daemon.sh(bridged, "\n".join(["set -e", *commands])).ok().text
    assert VALUE in said and "value\n" in said and "the build needs clang" in said, said
    assert daemon.sh(bridged, "osaurus-host inference chat -m hi").code == 4
    if has_plugins:
        assert f"of-{bridged}" in said, said
        daemon("plugin", "remove", f"of-{bridged}").ok()


def test_secrets_config_memory_and_log(daemon, bridged):
    keep(daemon, bridged)
    assert daemon.sh(bridged, "hutch-host secrets get TOKEN").ok().text == VALUE + "\n"
    assert json.loads(daemon.sh(bridged, "hutch-host --json secrets get TOKEN").ok().out) == {"value": VALUE}
    assert daemon.sh(bridged, "osaurus-host secrets get TOKEN").ok().text == VALUE + "\n"
    daemon.sh(bridged, "hutch-host config set a.b 'x \"y\"'; printf z | hutch-host config set c -").ok()
    assert daemon.sh(bridged, "hutch-host config get a.b; hutch-host config get c").ok().text == 'x "y"\nz\n'
    daemon.sh(bridged, "hutch-host agent memory store 'the build needs clang'").ok()
    assert daemon.sh(bridged, "hutch-host agent memory query 'what does the build need'").ok().text == \
        "the build needs clang\n"
    daemon.sh(bridged, "hutch-host log --level warning 'it went wrong'").ok()
    found = {(one["service"], one["what"], one["outcome"]) for one in audit(daemon, bridged)}
    assert ("log", "it went wrong", "warning") in found and ("secrets", "TOKEN", "given") in found


def test_exit_codes(daemon, bridged):
    for command, code in (("secrets get NONE", 3), ("config get none", 3), ("nothing", 2), ("secrets get", 2),
                          ("agent dispatch somebody x", 4), ("log --level loud x", 7), ("inference chat -m x", 4),
                          ("plugin create </dev/null", 7)):
        assert daemon.sh(bridged, f"hutch-host {command}").code == code, command
    assert daemon.sh(bridged, "HUTCH_BRIDGE=/nowhere hutch-host config get x").code == 6


def test_a_placeholder_is_given_to_nobody(daemon, agent):
    keep(daemon, agent, "TOKEN", VALUE, "--host", "api.example.com")
    refused = daemon.sh(agent, "hutch-host secrets get TOKEN")
    assert refused.code == 4 and VALUE not in refused.text + refused.errors


def test_environment_secrets_are_variables_at_once(daemon, agent):
    daemon.sh(agent, "true").ok()
    keep(daemon, agent, "TOKEN", VALUE, "--via", "environment")
    assert daemon.sh(agent, 'printf %s "$TOKEN"').ok().text == VALUE
    daemon("secret", "remove", "--agent", agent, "TOKEN").ok()
    assert daemon.sh(agent, 'printf %s "$TOKEN"').ok().text == ""


def test_each_agent_has_its_own(daemon, agent):
    other = daemon.create()
    keep(daemon, other)
    daemon.sh(other, "hutch-host config set k v; hutch-host agent memory store 'the other thing'").ok()
    for command in ("secrets get TOKEN", "config get k"):
        assert daemon.sh(agent, f"hutch-host {command}").code == 3
    assert daemon.sh(agent, "hutch-host agent memory query 'the other thing'").ok().text.strip() == ""
    daemon("agent", "remove", other).ok()


def test_what_is_said_of_oneself_means_nothing(daemon, agent):
    other = daemon.create()
    keep(daemon, other)
    script = f"""
for field in ("X-Osaurus-User: agent-{other}", "X-Osaurus-User: {other}", "Authorization: Bearer {other}",
              "Hutch-Agent: {other}", "X-Osaurus-Plugin: {other}", "X-Hutch-Agent: {other}", "Cookie: agent={other}"):
    got = ask(("GET /api/secrets/TOKEN?agent={other} HTTP/1.0\\r\\n" + field + "\\r\\n\\r\\n").encode())
    print(got.split(b" ")[1].decode(), b"{VALUE}" in got)
"""
    lines = python(daemon, agent, script).ok().text.splitlines()
    assert lines == ["404 False"] * 7
    daemon("agent", "remove", other).ok()


def test_another_agents_socket_is_not_there(daemon, agent):
    other = daemon.create()
    keep(daemon, other)
    daemon.sh(other, "true").ok()
    socket = daemon.data / "bridge" / other / "bridge.sock"
    assert socket.exists()
    assert daemon.sh(agent, f"HUTCH_BRIDGE={socket} hutch-host secrets get TOKEN").code == 6
    daemon.sh(agent, f"ln -s {socket} $HOME/s; HUTCH_BRIDGE=$HOME/s hutch-host secrets get TOKEN").text
    assert daemon.sh(agent, "HUTCH_BRIDGE=$HOME/s hutch-host secrets get TOKEN").code == 6
    daemon("agent", "remove", other).ok()
    assert not socket.parent.exists()


def test_dispatch_is_for_oneself_and_those_that_are_listed(daemon, agent):
    other = daemon.create()
    for one in (agent, other):
        daemon.sh(one, "printf '#!/bin/sh\\nprintf %s \"$1\" > told\\n' > coder; chmod 755 coder").ok()
        daemon("agent", "set", one, f"codeAgent.command=/workspace/agents/{one}/coder").ok()
    assert daemon.sh(agent, f"hutch-host agent dispatch {other} 'to the other'").code == 4
    assert daemon.json("task", "list", other) == []
    task = daemon.sh(agent, f"hutch-host agent dispatch {agent} 'to myself'").ok().text.strip()
    harness.wait_until(lambda: daemon.json("task", "show", task)["status"] == "succeeded", "the task's end")
    daemon("agent", "set", agent, f'dispatchTo=["{other}"]').ok()
    task = daemon.sh(agent, f"hutch-host agent dispatch {other} 'to the other'").ok().text.strip()
    harness.wait_until(lambda: daemon.json("task", "show", task)["status"] == "succeeded", "the task's end")
    assert daemon.sh(other, "cat told").ok().text == "to the other"
    daemon("agent", "remove", other).ok()


def test_events_reach_who_listens(daemon, agent):
    listener = daemon.detach(agent, "hutch-host events listen wanted > heard & echo ready; wait")
    harness.wait_until(lambda: "ready" in daemon("logs", agent, listener).text, "the listener")
    def heard():
        daemon.sh(agent, """hutch-host events emit other; hutch-host events emit wanted '{"a": [1]}'""").ok()
        return daemon.sh(agent, "cat heard").text
    harness.wait_until(heard, "an event")
    event = json.loads(heard().splitlines()[0])
    assert event["type"] == "wanted" and event["payload"] == {"a": [1]}
    assert daemon.sh(agent, "hutch-host events emit wanted 'no json'").code == 7
    assert daemon.sh(agent, """hutch-host events emit wanted '{}, "x": 1'""").code == 7
    daemon("kill", agent, listener)


def test_bodies_and_heads_are_bounded(daemon, agent):
    script = """
print(ask(b"POST /api/log HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 99999999\\r\\n\\r\\n")[:12])
print(ask(b"GET /" + b"x" * 70000 + b" HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")[:12])
two = b"Content-Length: 3\\r\\nTransfer-Encoding: chunked"
print(ask(b"POST /api/log HTTP/1.1\\r\\nHost: x\\r\\n" + two + b"\\r\\n\\r\\n0\\r\\n\\r\\n")[:12])
print(ask(b"\\0" * 100)[:12])
print(ask(b"POST /api/log HTTP/1.0\\r\\nContent-Length: 2\\r\\n\\r\\n[]")[:12])
print(ask(b"POST /api/log HTTP/1.0\\r\\nContent-Length: 20000\\r\\n\\r\\n" + b"[" * 20000)[:12])
"""
    lines = python(daemon, agent, script).ok().text.splitlines()
    assert [line.split(" ")[1].strip("'") for line in lines] == ["413", "431", "400", "400", "400", "400"], lines
    daemon.sh(agent, "hutch-host config set after it").ok()


def test_a_flood_holds_up_nobody(daemon, agent):
    other = daemon.create()
    daemon.sh(other, "true").ok()
    script = """
import threading
held = []
for _ in range(200):
    s = socket.socket(socket.AF_UNIX); s.settimeout(2)
    try:
        s.connect(path); s.sendall(b"GET /api/config/x HTTP/1.1\\r\\n"); held.append(s)
    except OSError as e:
        break
print(len(held), flush=True)
import time; time.sleep(60)
"""
    thread = threading.Thread(target=lambda: python(daemon, agent, script))
    thread.start()
    time.sleep(2)
    begun = time.monotonic()
    daemon.sh(other, "hutch-host config set k v").ok()
    daemon("agent", "list").ok()
    assert time.monotonic() - begun < 20
    daemon("agent", "stop", agent).ok()
    thread.join()
    daemon("agent", "remove", other).ok()


def test_rates_are_counted_by_service(daemon, agent):
    script = """
codes = [ask(b"GET /api/secrets/NONE HTTP/1.0\\r\\n\\r\\n").split(b" ")[1].decode() for _ in range(125)]
print(codes.count("404"), codes.count("429"))
print(ask(b"GET /api/config/NONE HTTP/1.0\\r\\n\\r\\n").split(b" ")[1].decode())
"""
    assert python(daemon, agent, script).ok().text.splitlines() == ["120 5", "404"]


def test_output_of_tools_and_the_record_are_scrubbed(daemon):
    agent = daemon.create("autonomousExec.enabled=true")
    keep(daemon, agent)
    told = daemon.tool(agent, "sandbox_exec", command="hutch-host secrets get TOKEN; hutch-host secrets get TOKEN | "
                       "base64; hutch-host secrets get TOKEN | od -An -tx1 | tr -d ' \\n'; cat /no/$(hutch-host "
                       "secrets get TOKEN | tr -d /)")
    assert told["ok"] and "[REDACTED:TOKEN]" in told["result"]["stdout"], told
    for form in (VALUE, base64.b64encode(VALUE.encode()).decode().rstrip("=")[:-1], VALUE.encode().hex()):
        assert form not in json.dumps(told), form
    keep(daemon, agent, "PLAIN", "plain-0123456789")
    daemon.sh(agent, "touch \"named-$(hutch-host secrets get PLAIN).txt\"").ok()
    for name, more in (("sandbox_list_directory", {}), ("sandbox_find_files", {"pattern": "*.txt"})):
        told = json.dumps(daemon.tool(agent, name, **more))
        assert "named-[REDACTED:PLAIN].txt" in told and "plain-0123456789" not in told, told
    daemon.exec(agent, "/bin/echo", VALUE).ok()
    record = daemon("audit", "--agent", agent, "--json").ok().text
    assert VALUE not in record and "[REDACTED:TOKEN]" in record
    daemon.sh(agent, f"hutch-host log 'it is {VALUE}'").ok()
    assert VALUE not in daemon("audit", "--agent", agent, "--json").ok().text
    daemon("agent", "remove", agent).ok()


def test_nothing_is_left_when_the_daemon_is_killed(own_daemon):
    agent = own_daemon.create()
    own_daemon.sh(agent, "hutch-host config set k v").ok()
    own_daemon.kill()
    assert own_daemon.sh(agent, "hutch-host config get k").ok().text == "v\n"


def test_a_person_sees_and_changes_what_is_remembered(daemon, agent):
    daemon.sh(agent, "hutch-host agent memory store 'from inside \033[2J'").ok()
    daemon("memory", "add", agent, "from outside").ok()
    found = daemon.json("memory", "query", agent, "from")
    assert {one["source"] for one in found} == {"sandbox", "user"}
    assert "\x1b" not in daemon("memory", "query", agent).ok().text
    assert daemon.sh(agent, "hutch-host agent memory query outside").ok().text == "from outside\n"
    for one in found:
        daemon("memory", "remove", agent, str(one["id"])).ok()
    assert daemon.json("memory", "query", agent) == []
    assert daemon("memory", "remove", agent, "x").code == 125
    daemon("secret", "set", "--agent", agent, "TOKEN", stdin=b"tok-0123456789").ok()
    daemon.sh(agent, "hutch-host agent memory store \"it is $(hutch-host secrets get TOKEN)\"").ok()
    assert [one["content"] for one in daemon.json("memory", "query", agent)] == ["it is [REDACTED:TOKEN]"]


ENDPOINT = r"""
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        open(sys.argv[1], "a").write(json.dumps([self.path, self.headers["Authorization"], body]) + "\n")
        text = body["messages"][-1]["content"]
        self.send_response(200 if text != "fail" else 500); self.end_headers()
        if text == "fail":
            self.wfile.write(b'{"error": {"message": "no such model"}}\n'); return
        for piece in ("you said ", text):
            self.wfile.write(b"data: " + json.dumps({"choices": [{"delta": {"content": piece}}]}).encode() + b"\n\n")
        if text != "break": self.wfile.write(b"data: [DONE]\n\n")
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True); server.serve_forever()
"""


@pytest.fixture
def model(daemon, tmp_path):
    """An endpoint as OpenAI's, on the host's loopback; the file of what it was asked."""
    import subprocess
    asked = tmp_path / "asked"
    asked.write_text("")
    server = subprocess.Popen(["/usr/bin/python3", "-c", ENDPOINT, str(asked)], stdout=subprocess.PIPE)
    port = int(server.stdout.readline())
    daemon("settings", "set", "inference.baseUrl", f"http://127.0.0.1:{port}/v1").ok()
    daemon("settings", "set", "inference.model", "small").ok()
    yield asked
    daemon("settings", "remove", "inference").ok()
    server.kill()
    server.wait()


def test_a_model_answers_who_may_ask(daemon, agent, model):
    assert daemon.sh(agent, "hutch-host inference chat -m hello").code == 4
    assert model.read_text() == ""
    daemon("agent", "set", agent, "inference=true").ok()
    daemon("secret", "set", "--own", "MODEL_KEY", stdin=VALUE.encode()).ok()
    daemon("settings", "set", "inference.keySecret", "MODEL_KEY").ok()
    assert daemon.sh(agent, "hutch-host inference chat -m 'hello \"you\"'").ok().text == 'you said hello "you"\n'
    assert json.loads(daemon.sh(agent, "hutch-host --json inference chat -m hello").ok().out) == \
        {"content": "you said hello"}
    path, key, body = json.loads(model.read_text().splitlines()[0])
    assert path == "/v1/chat/completions" and key == f"Bearer {VALUE}" and body["model"] == "small"
    assert daemon.sh(agent, "hutch-host secrets get MODEL_KEY").code == 3, "it is hutch's own"
    failed = daemon.sh(agent, "hutch-host inference chat -m fail")
    assert failed.code == 1 and "no such model" in failed.errors
    broken = daemon.sh(agent, "hutch-host inference chat -m break")
    assert broken.code == 1 and "broke off" in broken.errors
    daemon("secret", "remove", "--own", "MODEL_KEY").ok()
    assert daemon.sh(agent, "hutch-host inference chat -m hello").code == 6
