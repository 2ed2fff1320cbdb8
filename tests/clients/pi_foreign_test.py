# Tools of other extensions and of servers of MCP in pi: each is asked about before it runs, outside of the sandbox.
import json
import pathlib
import shutil
import sys

import pytest

import harness
import pi as rig
from tmux import Tmux

slow = pytest.mark.slow
pytestmark = pytest.mark.xdist_group("pi")

UNIT = pathlib.Path(__file__).parents[2] / "clients/pi/test/foreign.test.mjs"

# It leaves a mark in the file that it is told, as whoever is outside can.
OTHER = """
import * as fs from 'node:fs'
export default function (pi) {
  const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
  const execute = async (_id, { path }) => {
    fs.appendFileSync(path, 'ran ')
    return { content: [{ type: 'text', text: 'ran outside' }], details: undefined }
  }
  for (const name of ['mark', 'codemode2']) {
    pi.registerTool({ name, label: name, description: 'marks', parameters, execute })
  }
}
"""

# A server of MCP on its standard streams, with one tool that does the same.
SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    method, answer = asked.get("method"), None
    if method == "initialize":
        answer = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "marker", "version": "1"}}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
        answer = {"tools": [{"name": "mark", "description": "marks", "inputSchema": schema}]}
    elif method == "tools/call":
        open(asked["params"]["arguments"]["path"], "a").write("ran ")
        answer = {"content": [{"type": "text", "text": "ran outside"}]}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer or {}}), flush=True)
"""


def choose(words):
    """The answer to a dialog with options: the one that begins so."""
    def answer(request):
        found = [one for one in request.get("options", []) if one.startswith(words)]
        return {"value": found[0]} if found else {"cancelled": True}
    return answer


@pytest.fixture
def mark(desk):
    desk.person.write(desk.extensions / "other.js", OTHER)
    return desk.home / "mark"


@pytest.fixture
def saved(desk):
    return desk.state / "config/pi-tools.json"


def ran(mark):
    return mark.read_text().count("ran") if mark.exists() else 0


def test_the_judgement(package):
    done = harness.subprocess.run([rig.node(package), "--test", UNIT], cwd=package, timeout=120, capture_output=True,
                                  check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_a_tool_of_another_extension_is_asked_about(desk, mark):
    pi = desk.pi(dialogs=choose("No"))
    first = pi.tool("mark", path=str(mark))
    assert "outside of the sandbox" in first.error() and "pi-tools.json" in first.text and ran(mark) == 0
    asked = pi.asked[-1]
    assert "run mark of " in asked["title"] and "other.js outside" in asked["title"] and str(mark) in asked["title"]
    assert asked["options"] == ["No", "Yes, for this session", "Yes, for this project", "Yes, for all projects",
                                "Yes, once"]
    pi.dialogs = choose("Yes, once")
    assert pi.tool("mark", path=str(mark)).ok() == "ran outside" and len(pi.asked) == 2
    pi.dialogs = choose("Yes, for this session")
    both = pi.tools(("mark", {"path": str(mark)}), ("mark", {"path": str(mark)}))
    assert [one.ok() for one in both] == ["ran outside"] * 2 and len(pi.asked) == 3 and ran(mark) == 3
    # The other tool of it is another one.
    pi.dialogs = choose("No")
    assert pi.tool("codemode2", path=str(mark)).failed and len(pi.asked) == 4 and ran(mark) == 3
    assert not (desk.state / "config/pi-tools.json").exists()
    pi.dialogs = choose("nothing")
    pi.call("prompt", message="/sandbox")
    assert "asked about: mark (allowed), codemode2" in pi.asked[-1]["title"], pi.asked[-1]["title"]
    # pi's own seven are no question.
    assert pi.tool("bash", command="echo $HUTCH_AGENT").ok().startswith("session-") and len(pi.asked) == 5


@slow
def test_calls_of_one_message_are_one_question(desk, mark):
    pi = desk.pi(dialogs=choose("Yes, for this session"))
    pi.begin_messages([[("mark", {"path": str(mark)})] * 3])
    assert [one.ok() for one in pi.finish()] == ["ran outside"] * 3
    assert ran(mark) == 3 and len(pi.asked) == 1


@slow
@pytest.mark.parametrize("words,place", [("Yes, for this project", None), ("Yes, for all projects", "*")])
def test_an_answer_is_kept_outside_of_the_sandbox(desk, mark, saved, words, place):
    pi = desk.pi(dialogs=choose(words))
    assert pi.tool("mark", path=str(mark)).ok() and len(pi.asked) == 1
    kept = {place or str(desk.project): [{"tool": "mark", "of": str(desk.extensions / "other.js")}]}
    assert json.loads(saved.read_text()) == kept and saved.stat().st_mode & 0o777 == 0o600
    evil = json.dumps({"*": ["*"]})
    tries = pi.tools(("bash", {"command": f"echo '{evil}' > {saved}"}),
                     ("write", {"path": str(saved), "content": evil}))
    assert all(one.failed for one in tries)
    assert json.loads(saved.read_text()) == kept
    asked = len(pi.asked)
    pi.close()
    again = desk.pi(dialogs=choose("No"))
    assert again.tool("mark", path=str(mark)).ok() and again.asked == [] and ran(mark) == 2 and asked >= 1
    # By its extension: another one that has a tool of the name is another.
    again.close()
    (desk.extensions / "other.js").rename(desk.extensions / "third.js")
    third = desk.pi(dialogs=choose("No"))
    assert "third.js" in third.tool("mark", path=str(mark)).error() and len(third.asked) == 1 and ran(mark) == 2


@slow
def test_a_setting_allows_by_name(desk, mark, saved):
    desk.person.write(saved, json.dumps({"*": ["mar*"]}), mode=0o600)
    pi = desk.pi(dialogs=choose("No"))
    assert pi.tool("mark", path=str(mark)).ok() and pi.asked == []
    assert pi.tool("codemode2", path=str(mark)).failed and len(pi.asked) == 1
    # What cannot be believed allows nothing, and is no reason to ask either.
    for text, mode in (("{", 0o600), (json.dumps({"*": ["*"]}), 0o666), (json.dumps({"x": ["*"]}), 0o600)):
        desk.person.write(saved, text, mode=mode)
        saved.chmod(mode)
        assert "pi-tools.json" in pi.tool("mark", path=str(mark)).error() and len(pi.asked) == 1
    assert ran(mark) == 1


@slow
def test_a_server_of_mcp_is_another_tool(desk):
    mark, server = desk.home / "mark", desk.home / "server.py"
    desk.person.write(server, SERVER)
    entry = {"command": sys.executable, "args": [str(server)], "exposure": "direct"}
    desk.person.write(desk.agent / "mcp.json", json.dumps({"mcpServers": {"marker": entry}}))
    pi = desk.pi(dialogs=choose("No"))
    tool = "mcp__marker__mark"
    refused = pi.tool(tool, path=str(mark))
    assert "builtin:mcp" in refused.error() and ran(mark) == 0
    assert "run mcp__marker__mark of builtin:mcp" in pi.asked[0]["title"]
    pi.dialogs = choose("Yes, once")
    assert "ran outside" in pi.tool(tool, path=str(mark)).ok() and ran(mark) == 1


@slow
@pytest.mark.parametrize("arguments", [("-p",), ("--mode", "json")])
def test_where_nobody_can_answer_it_is_refused(desk, mark, saved, arguments):
    def say():
        desk.model.script = [[("mark", {"path": str(mark)})]]
        cli = desk.package / "node_modules" / rig.PACKAGE / "dist/cli.js"
        line = [rig.node(desk.package), cli, "--no-session", "--offline", "--provider", "fake", "--model", "fake-1",
                *arguments, "go"]
        harness.run_in(desk.person, line, env=desk.environment(), cwd=desk.project, timeout=120).ok()
        return desk.model.told

    heard = say()
    assert ran(mark) == 0 and "nobody is there to be asked" in heard and "pi-tools.json" in heard, heard[-2000:]
    desk.person.write(saved, json.dumps({str(desk.project): ["mark"]}), mode=0o600)
    say()
    assert ran(mark) == 1


@slow
def test_without_the_built_package_no_tool_of_others_runs(desk, mark):
    shutil.rmtree(desk.extensions / "hutch-pi/dist")
    pi = desk.pi(dialogs=choose("Yes"))
    assert "not whole" in pi.tool("mark", path=str(mark)).error() and ran(mark) == 0 and pi.asked == []


@slow
def test_a_disabled_sandbox_asks_nothing(desk, mark):
    pi = desk.pi("--no-sandbox", dialogs=choose("No"))
    assert pi.tool("mark", path=str(mark)).ok() and pi.asked == [] and ran(mark) == 1


@slow
def test_the_letters_on_a_terminal(desk, mark, base, saved):
    if shutil.which("tmux") is None:
        pytest.skip("no tmux")
    with Tmux(base, desk.person, desk.project, desk.environment(), columns=130, rows=40) as screen:
        cli = desk.package / "node_modules" / rig.PACKAGE / "dist/cli.js"
        screen.text(f"{rig.node(desk.package)} {cli} --no-session --offline --provider fake --model fake-1")
        screen.keys("Enter")
        screen.wait_for("Sandbox: 0 domains")

        def say():
            before = desk.model.finished
            desk.model.script = [[("mark", {"path": str(mark)})]]
            screen.text("go")
            screen.keys("Enter")
            return lambda: harness.wait_until(lambda: desk.model.finished > before, "the model has heard of it")

        ended = say()
        shown = screen.wait_for("[esc]  Abort", "run mark of")
        for line in ("> [esc]  Abort", "[s]    Allow for this session only", "[P]    Allow for this project",
                     "[A]    Allow for all projects", "[O]    Allow once"):
            assert line in shown, shown
        screen.keys("Escape")
        ended()
        assert ran(mark) == 0
        ended = say()
        screen.wait_for("[esc]  Abort", "run mark of")
        screen.text("p")
        screen.wait_for("> [P]", "press Enter to confirm: Allow for this project")
        screen.keys("Enter")
        ended()
        assert ran(mark) == 1 and list(json.loads(saved.read_text())) == [str(desk.project)]
        say()()
        assert ran(mark) == 2
