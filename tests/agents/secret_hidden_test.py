# Secrets that stay where they were given: bindings that last, and values that nothing shows, cut or spelled otherwise.
import base64
import json
import pathlib
import subprocess
import threading
import urllib.parse

import pytest

import harness
import mcp_stdio
import terminal

VALUE = "sk-3cRet.value+1/x=&y'9"
OTHER = "another-3cRet-Value-0123"


def keep(daemon, agent, *options, name="TOKEN", value=VALUE):
    daemon("secret", "set", "--agent", agent, *options, name, stdin=value.encode()).ok()


def kept(daemon, agent):
    return [(one["name"], one["via"], one["hosts"]) for one in daemon.json("secret", "list", "--agent", agent)]


@pytest.fixture
def maker(daemon):
    """An agent that may call all tools."""
    name = daemon.create("autonomousExec.enabled=true")
    yield name
    daemon("agent", "remove", name).ok()


def test_a_new_value_keeps_its_hosts(daemon, maker):
    keep(daemon, maker, "--host", "api.example.com")
    bound = [("TOKEN", "placeholder", ["api.example.com"])]
    keep(daemon, maker, value=OTHER)
    assert kept(daemon, maker) == bound
    arguments = {"key": "TOKEN", "description": "d", "instructions": "i", "value": OTHER + "x"}
    call = daemon("tool", "call", maker, "sandbox_secret_set", "-", stdin=json.dumps(arguments).encode())
    assert json.loads(call.out)["ok"]
    assert kept(daemon, maker) == bound
    with terminal.Terminal(daemon.person, [str(daemon.program), "secret", "answer"], cwd="/",
                           env={"HUTCH_STATE": str(daemon.state)}) as screen:
        screen.read_until(b"waiting for agents")
        asked = daemon.popen("tool", "call", maker, "sandbox_secret_set",
                             json.dumps({"key": "TOKEN", "description": "d", "instructions": "i"}))
        screen.read_until(b"declines): ")
        screen.send(OTHER.encode() + b"yz\r")
        out, _ = asked.communicate(timeout=60)
        screen.read_until(b"kept")
    assert json.loads(out)["ok"]
    assert kept(daemon, maker) == bound
    taken = daemon.sh(maker, "hutch-host secrets get TOKEN; echo $TOKEN")
    assert OTHER not in taken.text + taken.errors
    keep(daemon, maker, "--via", "placeholder", value=OTHER)
    assert kept(daemon, maker) == bound
    keep(daemon, maker, "--via", "bridge", value=OTHER)
    assert kept(daemon, maker) == [("TOKEN", "bridge", [])], "its person says so"


def test_whoever_waits_is_there_already(daemon, maker):
    """An agent that asks as soon as hutch secret answer says that it waits finds somebody."""
    for _ in range(3):
        with terminal.Terminal(daemon.person, [str(daemon.program), "secret", "answer"], cwd="/",
                               env={"HUTCH_STATE": str(daemon.state)}) as screen:
            screen.read_until(b"waiting for agents")
            asked = daemon.popen("tool", "call", maker, "sandbox_secret_set",
                                 json.dumps({"key": "TOKEN", "description": "d", "instructions": "i"}))
            screen.read_until(b"declines): ")
            screen.send(b"\x03")
            out, _ = asked.communicate(timeout=60)
            assert json.loads(out)["kind"] == "user_denied"


def printed(daemon, agent, script):
    answer = daemon.tool(agent, "sandbox_exec", command=script)
    assert answer["ok"], answer
    return answer["result"]["stdout"]


def test_output_is_scrubbed_before_it_is_cut(daemon, maker):
    keep(daemon, maker)
    for before in (19_990, 20_000 - len(VALUE) // 2, 40_000, 1 << 20, (1 << 20) - 12):
        shown = printed(daemon, maker, "V=$(hutch-host secrets get TOKEN); python3 -c \"import os, sys\n"
                        f"sys.stdout.write('a' * {before} + sys.argv[1] + 'b' * 3_000_000)\" \"$V\"")
        assert VALUE[:8] not in shown and VALUE[-8:] not in shown, before
    daemon.sh(maker, "V=$(hutch-host secrets get TOKEN); printf 'a%.0s' $(seq 90) > f; printf %s \"$V\" >> f; "
              "printf 'b%.0s' $(seq 900) >> f").ok()
    for most in (95, 100, 105):
        content = daemon.tool(maker, "sandbox_read_file", path="f", max_chars=most)["result"]["content"]
        assert VALUE[:6] not in content, content
    daemon.sh(maker, "V=$(hutch-host secrets get TOKEN); printf 'a%.0s' $(seq 990) > g; echo \"$V\" >> g").ok()
    found = daemon.tool(maker, "sandbox_search_files", pattern="aaa", path="g")
    assert found["ok"] and "aaaa" in found["result"]["matches"] and VALUE[:6] not in json.dumps(found), found


def test_output_is_scrubbed_of_each_spelling(daemon, maker):
    keep(daemon, maker)
    spelled = [urllib.parse.quote(VALUE, safe=""), "".join(f"%{ord(c):02x}" for c in VALUE),
               "".join(f"&#{ord(c):05}" for c in VALUE), json.dumps({"v": VALUE}).replace("/", "\\/"),
               "".join(f"\\u{ord(c):04X}" for c in VALUE), "".join(f"\\{ord(c):03o}" for c in VALUE),
               base64.b64encode(json.dumps({"authorization": "Bearer " + VALUE}).encode()).decode(),
               base64.b64encode(base64.b64encode(VALUE.encode())).decode(), VALUE.encode().hex(" ")]
    daemon.tool(maker, "sandbox_write_file", path="spelled", content="\n".join(f"<{one}>" for one in spelled))
    lines = printed(daemon, maker, "cat spelled").splitlines()
    assert len(lines) == len(spelled) and all("[REDACTED:TOKEN]" in line for line in lines), lines
    lines = daemon.tool(maker, "sandbox_read_file", path="spelled")["result"]["content"].splitlines()
    assert all("[REDACTED:TOKEN]" in line for line in lines), lines
    printed(daemon, maker, "set -x; V=$(hutch-host secrets get TOKEN); printf '%q' \"$V\"; echo \"${V@Q}\"")


def test_the_record_holds_no_value(daemon, maker):
    keep(daemon, maker)
    daemon.sh(maker, "V=$(hutch-host secrets get TOKEN | tr -dc a-zA-Z0-9); true").ok()
    plain = "sk3cRetvalue1xy9"
    keep(daemon, maker, name="PLAIN", value=plain)
    daemon.sh(maker, f"cp /bin/true ~/{plain} && ~/{plain} {plain}; hutch-host agent dispatch {plain} x; "
              f"hutch-host log {plain}; cat < /dev/tcp/{plain}.example.com/80; "
              f"hutch-host inference chat -m {plain}; hutch-host secrets get {plain}; true")
    daemon.exec(maker, f"/bin/{plain}", plain)
    text = daemon("audit", "--agent", maker, "--json").ok().text
    assert "[REDACTED:PLAIN]" in text and plain not in text, [l for l in text.splitlines() if plain in l]
    assert plain not in daemon("log").text


def test_lists_show_no_value(daemon, maker):
    keep(daemon, maker, name="PLAIN", value=OTHER)
    daemon.sh(maker, f"echo x > /output/{OTHER}.txt; echo {OTHER} > /output/plain.txt").ok()
    for name in (f"{OTHER}.txt", "plain.txt"):
        shared = daemon.tool(maker, "share_artifact", path=f"/output/{name}", description=f"with {OTHER}")
        assert shared["ok"] and OTHER not in json.dumps(shared), shared
    recipe = {"id": "words", "name": "Words", "description": f"does {OTHER}", "version": "1.0.0",
              "tools": [{"id": "count", "description": f"counts {OTHER}", "run": "true",
                         "parameters": {"text": {"type": "string", "description": OTHER}}}]}
    made = daemon.exec(maker, "/bin/sh", "-c", "hutch-host --json plugin create", options=["-i"],
                       stdin=json.dumps(recipe).encode())
    assert made.code == 0, str(made)
    plugin = json.loads(made.out)["plugin_id"]
    daemon.sh(maker, f"hutch-host agent memory store 'it is {OTHER}'; hutch-host config set k {OTHER}").ok()
    daemon("task", "run", maker, f"say {OTHER}")
    daemon.exec(maker, "/bin/echo", OTHER).ok()
    assert "[REDACTED:PLAIN]" in daemon("ps", maker, "--json").ok().text
    for words in (["artifacts", "list", maker], ["artifacts", "list", maker, "--json"], ["plugin", "list", "--library"],
                  ["plugin", "list", "--library", "--json"], ["plugin", "show", plugin], ["plugin", "export", plugin],
                  ["plugin", "show", plugin, "--json"], ["plugin", "list", "--agent", maker, "--json"],
                  ["memory", "query", maker], ["task", "list", "--json"], ["task", "list"], ["tool", "list", maker],
                  ["tool", "list", maker, "--json"], ["plugin", "list", "--new", "--json"], ["ps", maker],
                  ["ps", maker, "--json"]):
        shown = daemon(*words)
        assert shown.code == 0 and OTHER not in shown.text + shown.errors, (words, str(shown))
    client = mcp_stdio.Client(daemon, maker)
    client.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t"})
    client.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools, _ = client.ask("tools/list")
    assert any(one["name"].endswith("_count") for one in tools["tools"]) and OTHER not in json.dumps(tools)
    resources, _ = client.ask("resources/list")
    assert OTHER not in json.dumps(resources)
    uri = [one["uri"] for one in resources["resources"] if one["name"] == "plain.txt"][0]
    read, _ = client.ask("resources/read", uri=uri)
    client.close()
    assert read["contents"][0]["text"] == "[REDACTED:PLAIN]\n"


ECHO = r"""
import http.server, json, sys, urllib.parse
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Authorization"].removeprefix("Bearer ")
        how = body["messages"][-1]["content"]
        if how == "error":
            self.send_response(401); self.end_headers()
            self.wfile.write(json.dumps({"error": {"message": "e" * 500 + "bad key " + key}}).encode() + b"\n"); return
        self.send_response(200); self.end_headers()
        text = urllib.parse.quote(key, safe="") if how == "quoted" else key
        for piece in ["your key: ", *(text if how == "letters" else [text[:9], text[9:]]), ".", ""]:
            self.wfile.write(b"data: " + json.dumps({"choices": [{"delta": {"content": piece}}]}).encode() + b"\n\n")
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True); server.serve_forever()
"""


def test_an_endpoint_that_echoes_its_key_shows_it_to_nobody(daemon, maker):
    server = subprocess.Popen(["/usr/bin/python3", "-c", ECHO], stdout=subprocess.PIPE)
    try:
        port = int(server.stdout.readline())
        daemon("settings", "set", "inference.baseUrl", f"http://127.0.0.1:{port}/v1").ok()
        daemon("settings", "set", "inference.model", "small").ok()
        daemon("settings", "set", "inference.keySecret", "MODEL_KEY").ok()
        daemon("secret", "set", "--own", "MODEL_KEY", stdin=VALUE.encode()).ok()
        daemon("agent", "set", maker, "inference=true").ok()
        for how in ("whole", "letters", "quoted"):
            assert daemon.sh(maker, f"hutch-host inference chat -m {how}").ok().text == \
                "your key: [REDACTED:MODEL_KEY].\n", how
        failed = daemon.sh(maker, "hutch-host inference chat -m error")
        assert failed.code != 0 and "bad key" in failed.errors and VALUE[:6] not in failed.errors, str(failed)
        assert VALUE[:6] not in daemon("audit", "--agent", maker, "--json").ok().text
    finally:
        daemon("settings", "remove", "inference").ok()
        daemon("secret", "remove", "--own", "MODEL_KEY").ok()
        server.kill()
        server.wait()


@pytest.mark.parametrize("damage", ["store", "key", "no key"])
def test_where_secrets_cannot_be_read_nothing_is_shown(own_daemon, damage):
    agent = own_daemon.create("autonomousExec.enabled=true")
    other = own_daemon.create("autonomousExec.enabled=true")
    keep(own_daemon, agent)
    own_daemon.sh(agent, f"printf '%s' \"{VALUE}\" > f; hutch-host agent memory store \"it is {VALUE}\"").ok()
    own_daemon("daemon", "stop").ok()
    place = pathlib.Path(own_daemon.data) / "secrets"
    broken = place / (f"{agent}.sealed" if damage == "store" else "key")
    before = broken.read_bytes()
    broken.unlink() if damage == "no key" else broken.write_bytes(bytes(32) if damage == "key" else b"?" + before[1:])
    shown = [own_daemon("tool", "call", agent, "sandbox_read_file", '{"path": "f"}'),
             own_daemon("tool", "call", agent, "sandbox_exec", '{"command": "cat f"}'),
             own_daemon("memory", "query", agent), own_daemon("memory", "query", agent, "--json"),
             own_daemon("task", "run", agent, "x"), own_daemon("artifacts", "list", agent)]
    shown.append(own_daemon("audit", "--agent", agent, "--json"))
    for one in shown:
        assert VALUE not in one.text + one.errors, str(one)
    assert "cannot be read" in shown[0].text and "cannot be read" in shown[2].text, (str(shown[0]), str(shown[2]))
    without = own_daemon.tool(other, "sandbox_exec", command="echo hello")
    assert without["result"]["stdout"] == "hello\n", "an agent that has none"
    broken.write_bytes(before)
    broken.chmod(0o600)
    own_daemon("daemon", "stop").ok()
    assert own_daemon.tool(agent, "sandbox_exec", command="cat f")["result"]["stdout"] == "[REDACTED:TOKEN]"


def test_one_agent_keeps_no_other_from_asking(daemon, maker):
    other = daemon.create("autonomousExec.enabled=true")
    with terminal.Terminal(daemon.person, [str(daemon.program), "secret", "answer"], cwd="/",
                           env={"HUTCH_STATE": str(daemon.state)}) as screen:
        screen.read_until(b"waiting for agents")
        calls = [daemon.popen("tool", "call", maker, "sandbox_secret_set",
                              json.dumps({"key": f"K{i}", "description": "d", "instructions": "i"})) for i in range(12)]
        done = []
        threads = [threading.Thread(target=lambda c=c: done.append(c.communicate(timeout=120)[0]))
                   for c in calls]
        for one in threads:
            one.start()
        screen.read_until(b"declines): ")
        harness.wait_until(lambda: len(done) == 4, "all have asked, and eight wait")
        asked = daemon.popen("tool", "call", other, "sandbox_secret_set",
                             json.dumps({"key": "OTHER", "description": "d", "instructions": "i"}))
        for number in range(1, 10):
            # Only while it reads a line, or else it is the command that ends.
            while screen.seen.count(b"declines): ") < number:
                assert screen.read_some(30), screen.seen
            screen.send(b"\x03")
            while screen.seen.count(b"declined") < number:
                assert screen.read_some(30), screen.seen
        out, _ = asked.communicate(timeout=120)
        for one in threads:
            one.join()
    assert json.loads(out)["kind"] == "user_denied"
    assert [b"too many" in one for one in done] == [True] * 4 + [False] * 8, done
    daemon("agent", "remove", other).ok()
