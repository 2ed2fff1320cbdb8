# The clients that people use: both SDKs and the inspector of MCP from npm, on both transports, by both revisions.
import json
import os
import shutil

import pytest

import harness

pytestmark = pytest.mark.slow

# The first SDK speaks revision 2025-11-25 alone; the second one, its successor, and the inspector speak both.
PACKAGES = ["@modelcontextprotocol/sdk@^1.32", "@modelcontextprotocol/client@^2.4",
            "@modelcontextprotocol/inspector@^2.12"]
REVISIONS = {"first": "2025-11-25", "legacy": "2025-11-25", "modern": "2026-07-28"}

# Each line of the script's input is a tool to call with its arguments; its output is one JSON object.
SCRIPT = """
const wanted = JSON.parse(process.env.WANTED);
const from = async (first, second) => await import(wanted.era === "first" ? first : second);
const { Client } = await from("@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/client");
const { StdioClientTransport } = await from("@modelcontextprotocol/sdk/client/stdio.js",
                                            "@modelcontextprotocol/client/stdio");
const { StreamableHTTPClientTransport } = await from("@modelcontextprotocol/sdk/client/streamableHttp.js",
                                                     "@modelcontextprotocol/client");
const transport = wanted.url
  ? new StreamableHTTPClientTransport(new URL(wanted.url), { requestInit: { headers: wanted.headers } })
  : new StdioClientTransport({ command: wanted.command[0], args: wanted.command.slice(1), env: process.env });
const mode = wanted.era === "modern" ? { pin: "2026-07-28" } : "legacy";
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);
const said = { server: client.getServerVersion(), results: [], progress: 0 };
said.revision = client.getNegotiatedProtocolVersion?.() ?? "2025-11-25";
const call = (request, options) => client.callTool(request, ...(wanted.era === "first" ? [undefined] : []), options);
said.tools = (await client.listTools()).tools.map((tool) => tool.name);
const options = { onprogress: () => { said.progress += 1; }, timeout: 120000 };
for (const [name, args] of wanted.calls) {
  said.results.push(await call({ name, arguments: args }, options));
}
said.resources = (await client.listResources()).resources;
said.contents = [];
for (const one of said.resources) said.contents.push(...(await client.readResource({ uri: one.uri })).contents);
const stop = new AbortController();
setTimeout(() => stop.abort(), 500);
said.aborted = await call({ name: "sandbox_exec", arguments: { command: "sleep 200", timeout: 250 } },
                          { signal: stop.signal }).then(() => false, () => true);
if (transport.terminateSession) await transport.terminateSession();
await client.close();
console.log(JSON.stringify(said));
process.exit(0);
"""

# Something for every tool; all that one needs is made by another before it.
CALLS = [
    ["sandbox_write_file", {"path": "p/sum.c", "content": "int main(void) { return 1; }\n"}],
    ["sandbox_read_file", {"path": "p/sum.c"}],
    ["sandbox_list_directory", {"path": "p"}],
    ["sandbox_search_files", {"pattern": "return", "path": "p"}],
    ["sandbox_edit_file", {"path": "p/sum.c", "old_string": "return 1", "new_string": "return 0"}],
    ["sandbox_exec", {"command": "cd p && cc -o sum sum.c && ./sum && echo passed; sleep 0.3; echo"}],
    ["share_artifact", {"path": "p/sum"}],
]


@pytest.fixture(scope="module")
def packages(base):
    """A directory with the packages in its node_modules."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    place = base.unused("npm")
    place.mkdir()
    (place / "package.json").write_text('{"name": "clients", "private": true, "type": "module"}')
    done = harness.subprocess.run(["npm", "install", "--no-audit", "--no-fund", *PACKAGES], cwd=place, timeout=600,
                                  capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    (place / "client.mjs").write_text(SCRIPT)
    yield place
    shutil.rmtree(place)


def run_node(api, packages, wanted):
    environment = {**api.environment(), "WANTED": json.dumps(wanted), "PATH": os.environ["PATH"]}
    done = harness.run_in(api.person, ["node", packages / "client.mjs"], cwd=packages, env=environment, timeout=300)
    assert done.code == 0, str(done)
    return json.loads(done.text)


def transports(api, agent):
    return {"http": {"url": f"http://127.0.0.1:{api.port}/mcp?agent={agent}", "headers": api.headers()},
            "stdio": {"command": [str(api.program), "mcp", "--agent", agent]}}


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("era", ["first", "legacy", "modern"])
def test_the_sdk_works(api, agent, packages, transport, era):
    offered = [tool["name"] for tool in api.get(f"/v1/agents/{agent}/tools").ok()["tools"]]
    others = [[name, {}] for name in offered if name not in [call[0] for call in CALLS]]
    said = run_node(api, packages, {**transports(api, agent)[transport], "era": era, "calls": CALLS + others})
    assert said["server"]["name"] == "hutch" and said["tools"] == offered and said["revision"] == REVISIONS[era]
    # A tool that was not given what it needs says so by its envelope: the protocol itself never fails.
    assert all(isinstance(result["structuredContent"]["ok"], bool) for result in said["results"])
    envelopes = [result["structuredContent"] for result in said["results"][:len(CALLS)]]
    assert all(envelope["ok"] for envelope in envelopes), envelopes
    assert envelopes[5]["result"]["stdout"].startswith("passed")
    assert said["progress"] > 0 and said["aborted"] is True
    assert [one["name"] for one in said["resources"]] == ["sum", "sandbox-plugin-creator"]
    assert said["contents"][0]["blob"].startswith("f0VMR")
    harness.wait_until(lambda: not [one for one in api.get(f"/v1/agents/{agent}/processes").ok()["processes"]
                                    if one["running"] and "sleep 200" in " ".join(one["arguments"])], "it has ended")


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_works(api, agent, packages, transport, era):
    chosen = transports(api, agent)[transport]
    program = [packages / "node_modules/.bin/mcp-inspector", "--cli"]
    if transport == "http":
        target = [chosen["url"], "--transport", "http", "--header", f"Authorization: Bearer {api.token}"]
    else:
        target = [*chosen["command"], "-e", f"HUTCH_STATE={api.state}"]
    environment = {**api.environment(), "PATH": os.environ["PATH"]}

    def ask(method, *words, codes=(0,)):
        line = [*program, *target, "--protocol-era", era, "--format", "json", "--method", method, *words]
        done = harness.run_in(api.person, line, cwd=packages, env=environment, timeout=300)
        assert done.code in codes, str(done)
        return json.loads(done.text)["result"]

    # --strict: also that no schema has what a client's model could not be given.
    offered = [tool["name"] for tool in ask("tools/list", "--strict")["tools"]]
    assert offered == [tool["name"] for tool in api.get(f"/v1/agents/{agent}/tools").ok()["tools"]]
    for name, arguments in CALLS + [[name, {}] for name in offered if name not in [call[0] for call in CALLS]]:
        # 5: the tool itself says that it failed.
        called = ask("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments), codes=(0, 5))
        envelope = called["structuredContent"]
        assert envelope["tool"] == name and envelope["ok"] is not called["isError"], called
        assert envelope["ok"] or [name, arguments] not in CALLS, called
    resource = ask("resources/list")["resources"][0]
    assert ask("resources/read", "--uri", resource["uri"])["contents"][0]["blob"].startswith("f0VMR")
