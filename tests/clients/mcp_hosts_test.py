# Other programs that are hosts of MCP servers, unmodified from npm: frameworks, and the coding agents' own lists.
"""hutch mcp is their server, by its standard streams. MCP's own SDKs and inspector: tests/http/clients_test.py."""

import json

import pytest

import daemons
import harness
import pi as rig

pytestmark = pytest.mark.slow

FRAMEWORKS = {
    "@openai/agents": """
import { Agent, MCPServerStdio, Runner } from '@openai/agents'

const args = ['mcp', '--agent', process.env.AGENT]
const server = new MCPServerStdio({ name: 'hutch', command: process.env.HUTCH, args, env: process.env })
await server.connect()
// In the place of a model: it calls the tool once, and then says what it was told.
const model = {
  async getResponse({ input }) {
    const told = Array.isArray(input) ? input.find((item) => item.type === 'function_call_result') : undefined
    const content = [{ type: 'output_text', text: JSON.stringify(told?.output) }]
    const output = told
      ? { type: 'message', role: 'assistant', status: 'completed', content }
      : { type: 'function_call', callId: 'one', name: 'sandbox_exec', status: 'completed',
          arguments: JSON.stringify({ command: process.env.COMMAND }) }
    return { usage: { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }, output: [output] }
  },
}
const agent = new Agent({ name: 'one', instructions: 'go', model, mcpServers: [server] })
const said = (await new Runner({ tracingDisabled: true }).run(agent, 'go')).finalOutput
const tools = (await server.listTools()).map((tool) => tool.name)
await server.close()
console.log(JSON.stringify({ said, tools }))
process.exit(0)
""",
    "@ai-sdk/mcp": """
import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'

const args = ['mcp', '--agent', process.env.AGENT]
const transport = new StdioMCPTransport({ command: process.env.HUTCH, args, env: process.env })
const client = await createMCPClient({ transport })
const tools = await client.tools()
const said = JSON.stringify(await tools.sandbox_exec.execute({ command: process.env.COMMAND },
  { toolCallId: 'one', messages: [] }))
await client.close()
console.log(JSON.stringify({ said, tools: Object.keys(tools) }))
process.exit(0)
""",
}
AGENTS = {
    "claude-code": ("@anthropic-ai/claude-code", "claude", "install.cjs", "Connected"),
    "codex": ("@openai/codex", "codex", None, "enabled"),
    "gemini": ("@google/gemini-cli", "gemini", None, "Connected"),
    "opencode": ("opencode-ai", "opencode", "postinstall.mjs", "connected"),
}


@pytest.fixture(scope="module")
def person(base):
    return base.person("user")


@pytest.fixture(scope="module")
def daemon(base, person):
    made = daemons.Daemon(base, person)
    yield made
    made.stop()


@pytest.mark.parametrize("package", FRAMEWORKS)
def test_a_framework_calls_a_tool(base, daemon, person, npm, package):
    place = npm("@openai/agents", "@ai-sdk/mcp", "zod", f"{rig.NODE}@22")
    agent = daemon.create("autonomousExec.enabled=true")
    secret = person.write(person.home / "of-the-host", "theirs")
    (place / "host.mjs").write_text(FRAMEWORKS[package])
    done = harness.run_in(person, [rig.node(place), place / "host.mjs"], cwd=place, timeout=300,
                          env={"HUTCH_STATE": str(daemon.state), "HUTCH": str(base.bin / "hutch"), "AGENT": agent,
                               "COMMAND": f"whoami; cat {secret}"}).ok()
    heard = json.loads(done.text.splitlines()[-1])
    assert f"agent-{agent}" in heard["said"] and "theirs" not in heard["said"], heard
    assert heard["tools"] == [tool["name"] for tool in json.loads(daemon("tool", "list", agent, "--json").ok().out)]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_coding_agents_list_has_it_connected(base, person, npm, agent):
    package, program, install, word = AGENTS[agent]
    place = npm(package)
    if install:
        script = place / "node_modules" / package / install
        harness.subprocess.run(["node", script], cwd=script.parent, check=True, timeout=300)
    home = person.mkdir(base.path / f"host-{agent}")
    project = person.mkdir(home / "project")
    # Gemini starts no server where its person has not trusted the directory.
    person.write(home / ".gemini/trustedFolders.json", json.dumps({str(project): "TRUST_FOLDER"}))
    environment = {"HOME": str(home), "PATH": f"{base.bin}:{place}/node_modules/.bin:{harness.PATH}",
                   "HUTCH_STATE": str(person.mkdir(home / "state")), "XDG_CONFIG_HOME": None, "XDG_DATA_HOME": None}

    def run(*words):
        return harness.run_in(person, words, cwd=project, env=environment, timeout=300)

    try:
        run("hutch", "mcp", "install", "--client", agent, "--yes").ok()
        listed = run(program, "mcp", "list").ok()
        line = next((one for one in (listed.text + listed.errors).splitlines() if "hutch" in one), "")
        assert word in line, str(listed)
    finally:
        run("hutch", "daemon", "stop")
