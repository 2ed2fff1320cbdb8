# Plugins as a person uses them: installed from a file, called, updated, rolled back, removed; and what fails.
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

from harness import wait_until
from recipes import recipe as made, tool

SEED = pathlib.Path(__file__).with_name("data_tools.json")
SHOW = "pwd; printf '%s|%s|%s\\n' \"$PARAM_FILE\" \"$PARAM_TOP\" \"$HUTCH_PLUGIN\"; cat done.txt"
TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
ENTRIES = {"type": "integer", "default": "10"}


def entries(daemon):
    return {one["id"]: one for one in daemon.json("plugin", "list", "--library")}


def installed(daemon, agent):
    return {one["id"]: one for one in daemon.json("plugin", "list", "--agent", agent)}


def home(daemon, agent):
    return daemon.data / "workspace/agents" / agent


def leaves_nothing(daemon, agent, id):
    assert id not in entries(daemon) and id not in installed(daemon, agent)
    assert not (daemon.data / "plugins" / id).exists()
    assert not (daemon.data / "agents" / agent / "plugins" / f"{id}.json").exists()
    assert list((home(daemon, agent) / "plugins").glob(f"*{id}*")) == []


def test_a_plugin_is_installed_called_and_removed(daemon, any_agent, recipe):
    path = recipe("Word Tools", setup="echo ready > done.txt", files={"a/count.py": "print(1 + 1)\n"},
                  tools=[tool("show", SHOW, file="string", top=ENTRIES), tool("count", "/usr/bin/python3 a/count.py")])
    [done] = daemon.json("plugin", "install", path, "--agent", any_agent)
    assert (done["state"], done["tools"]) == ("ready", ["word-tools_show", "word-tools_count"])
    assert [step["step"] for step in done["log"]] == ["validate", "start", "user", "packages", "files", "secrets",
                                                      "setup", "tools"]
    answer = daemon.tool(any_agent, "word-tools_show", file="a 'b' $HOME")
    place = answer["result"]["cwd"]
    assert answer["tool"] == "word-tools_show" and place.endswith(f"/{any_agent}/plugins/word-tools")
    assert answer["result"]["stdout"] == f"{place}\na 'b' $HOME|10|word-tools\nready\n"
    assert daemon.tool(any_agent, "word-tools_count")["result"]["stdout"] == "2\n"
    listed = {one["name"]: one for one in daemon.json("tool", "list", any_agent)}
    assert listed["word-tools_show"]["inputSchema"]["required"] == ["file"]
    removed = daemon("plugin", "remove", "word-tools").ok().text
    assert removed == f"removed word-tools from the library, for {any_agent}\n"
    assert daemon.tool(any_agent, "word-tools_count")["kind"] == "tool_not_found"
    leaves_nothing(daemon, any_agent, "word-tools")


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_a_plugin_in_node(daemon, agent, recipe):
    script = "console.log(JSON.parse(process.env.PARAM_NUMBERS).reduce((a, b) => a + b, 0))\n"
    path = recipe("Sums", files={"sum.js": script}, tools=[tool("sum", "node sum.js", numbers="array")])
    daemon("plugin", "install", path, "--agent", agent).ok()
    assert daemon.tool(agent, "sums_sum", numbers=[1, 2, 39])["result"]["stdout"] == "42\n"
    daemon("plugin", "remove", "sums").ok()


def test_the_seeds_recipe_is_taken_byte_for_byte(daemon, agent):
    """Without the secret that it lists nothing is kept; the recipe comes out of the library as it was written."""
    text = SEED.read_bytes()
    assert hashlib.sha256(text).hexdigest() == "89c13af7555456624e37037df8dbf8cbbe5a960144846f5ed976cb22d322cdab"
    assert daemon("plugin", "check", "--read-only", "-", stdin=text).ok().text.splitlines()[1] == \
        "tool python-data-tools_analyze_csv"
    daemon("plugin", "import", "-", stdin=text).ok()
    assert json.loads(daemon("plugin", "export", "python-data-tools").ok().out) == json.loads(text)
    daemon("plugin", "remove", "python-data-tools").ok()
    refused = daemon("plugin", "install", "-", "--agent", agent, stdin=text)
    assert refused.code == 125
    assert "OPENAI_API_KEY" in refused.errors or "python3-pip" in refused.errors or "py3-pip" in refused.errors
    leaves_nothing(daemon, agent, "python-data-tools")


def test_arguments_are_held_to_the_parameters(daemon, agent, recipe):
    path = recipe("Words", tools=[tool("show", "printf %s \"$PARAM_FILE$LD_PRELOAD\"", file="string", top=ENTRIES)])
    daemon("plugin", "install", path, "--agent", agent).ok()
    wrong = [({}, "file"), ({"file": 1}, "file"), ({"file": "x", "top": "many"}, "top"), ({"file": "a\0b"}, "file"),
             ({"file": "x", "LD_PRELOAD": "/x.so"}, "LD_PRELOAD"), ({"file": "x", "PATH": "/x"}, "PATH")]
    for arguments, field in wrong:
        refused = daemon.tool(agent, "words_show", **arguments)
        assert (refused["kind"], refused["field"]) == ("invalid_args", field), arguments
    assert daemon.tool(agent, "words_show", file="a\nLD_PRELOAD=/x.so")["result"]["stdout"] == "a\nLD_PRELOAD=/x.so"
    daemon("plugin", "remove", "words").ok()


def test_limits_hold_for_its_tools(daemon, agent, recipe):
    path = recipe("Slow", tools=[{**tool("wait", "echo began; sleep 1000 & sleep 1000"), "timeout": 1},
                                 tool("fail", "echo no >&2; exit 3")])
    daemon("plugin", "install", path, "--agent", agent).ok()
    late = daemon.tool(agent, "slow_wait")
    assert (late["kind"], late["stdout"]) == ("timeout", "began\n")
    failed = daemon.tool(agent, "slow_fail")
    assert failed["ok"] and failed["result"]["exit_code"] == 3 and failed["result"]["stderr"] == "no\n"
    daemon("plugin", "remove", "slow").ok()


def test_what_fails_leaves_nothing(daemon, agent, recipe):
    for members, said in (({"setup": "echo halfway > x; echo 'it broke' >&2; exit 4"}, "it broke"),
                          ({"secrets": ["ONE_KEY", "TWO_KEY"]}, "ONE_KEY, TWO_KEY"),
                          ({"dependencies": ["no-such-package-of-anybody"]}, "no-such-package-of-anybody"),
                          ({"dependencies": {"dnf": ["x"]}}, "apt")):
        path = recipe("Broken", tools=[tool("x", "true")], files={"a": "b"}, **members)
        refused = daemon("plugin", "install", path, "--agent", agent, timeout=180)
        assert refused.code == 125 and said in refused.errors, refused
        leaves_nothing(daemon, agent, "broken")


def test_what_is_the_agents_own_is_not_taken(daemon, agent, recipe):
    daemon.sh(agent, "mkdir -p plugins/mine && echo precious > plugins/mine/x").ok()
    refused = daemon("plugin", "install", recipe("Mine", files={"x": "other"}), "--agent", agent)
    assert refused.code == 125 and "is there already" in refused.errors
    assert (home(daemon, agent) / "plugins/mine/x").read_text() == "precious\n"


def test_an_update_that_fails_leaves_the_one_before(daemon, agent, recipe):
    say = [tool("say", "cat x; cat made 2>/dev/null")]
    daemon("plugin", "install", recipe("Talk", files={"x": "one\n"}, setup="echo m1 > made", tools=say), "--agent",
           agent).ok()
    broken = recipe("Talk", files={"x": "two\n"}, setup="echo m2 > made; exit 1", tools=say)
    for command in (["plugin", "install", broken, "--agent", agent], ["plugin", "update", "talk", broken]):
        assert daemon(*command).code == 125
        assert daemon.tool(agent, "talk_say")["result"]["stdout"] == "one\nm1\n"
        assert entries(daemon)["talk"]["numbers"] == [1]
        assert [one.name for one in (home(daemon, agent) / "plugins").iterdir()] == ["talk"]
    better = recipe("Talk", files={"x": "two\n"}, setup="echo m2 > made", tools=say)
    assert daemon.json("plugin", "update", "talk", better)["agents"] == [agent]
    assert daemon.tool(agent, "talk_say")["result"]["stdout"] == "two\nm2\n"
    assert entries(daemon)["talk"]["numbers"] == [1, 2]
    assert daemon("plugin", "rollback", "talk").ok().text == f"talk, number 1, for {agent}\n"
    assert daemon.tool(agent, "talk_say")["result"]["stdout"] == "one\nm1\n"
    assert [one.name for one in (home(daemon, agent) / "plugins").iterdir()] == ["talk"]
    daemon("plugin", "remove", "talk").ok()


def test_the_library(daemon, agent, recipe):
    path = recipe("Kept", zebra={"b": 1, "a": [None, 2.5]}, tools=[tool("x", "true")])
    daemon("plugin", "import", path).ok()
    assert installed(daemon, agent) == {}
    out = daemon("plugin", "export", "kept").ok().out
    assert json.loads(out)["zebra"] == {"b": 1, "a": [None, 2.5]}
    copied = daemon.json("plugin", "duplicate", "kept", "Kept Too")
    assert copied["id"] == "kept-too" and copied["tools"][0]["name"] == "kept-too_x"
    assert daemon("plugin", "duplicate", "kept", "Kept Too").code == 125
    daemon("plugin", "import", "-", stdin=out).ok()
    assert entries(daemon)["kept"]["numbers"] == [1]
    editor = daemon.person.write(daemon.state / "editor.sh", "sed -i 's/made by a test/made anew/' \"$1\"\n", 0o755)
    daemon("plugin", "edit", "kept", env={"EDITOR": f"sh {editor}"}).ok()
    shown = daemon.json("plugin", "show", "kept")
    assert (shown["description"], shown["numbers"]) == ("made anew", [1, 2])
    assert json.loads(daemon("plugin", "export", "kept").ok().out)["zebra"] == {"b": 1, "a": [None, 2.5]}
    assert json.loads(daemon("plugin", "export", "kept", "1").ok().out)["description"] == "made by a test"
    daemon("plugin", "create", env={"EDITOR": "sed -i s/My/Your/"}).ok()
    daemon("plugin", "install", "your-tool", "--agent", agent).ok()
    hello = json.loads(daemon("tool", "call", agent, "your-tool_hello", '{"name": "you"}').ok().out)
    assert hello["result"]["stdout"] == "hello you\n"
    wrong = daemon("plugin", "edit", "kept", env={"EDITOR": "sed -i '2s/.*/  nonsense/'"})
    assert wrong.code == 125 and "line 2" in wrong.errors, wrong
    for id in ("kept", "kept-too", "your-tool"):
        daemon("plugin", "remove", id).ok()
    assert entries(daemon) == {}


def test_what_turns_text_around_is_shown_by_its_number(daemon, recipe):
    """In a list, and in what is exported, which is the same recipe all the same."""
    name = "Plain \u202e evil \u2066x"
    turned = {**tool("x", "true"), "description": "\u202d turned"}
    path = recipe(name, id="turned", description="\u200f backwards", tools=[turned])
    daemon("plugin", "import", path).ok()
    exported = daemon("plugin", "export", "turned").ok().out
    assert json.loads(exported)["name"] == name and b"\\u202e" in exported
    for out in (exported, daemon("plugin", "list", "--library").ok().out, daemon("plugin", "show", "turned").ok().out):
        assert not set(out.decode()) & set(TURNS), out
    daemon("plugin", "remove", "turned").ok()


def test_from_a_repository(daemon, agent):
    tree = daemon.person.mkdir(daemon.state / "repository")
    daemon.person.write(tree / "osaurus.json", json.dumps(made("From Git", tools=[tool("x", "echo git")])))
    for command in (["init", "-q"], ["add", "."],
                    ["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "one"]):
        subprocess.run(["git", "-c", "safe.directory=*", "-C", tree, *command], check=True)
    for path in tree.rglob("*"):
        daemon.person.own(path)
    daemon("plugin", "install", f"git+file://{tree}", "--agent", agent).ok()
    assert daemon.tool(agent, "from-git_x")["result"]["stdout"] == "git\n"
    assert daemon.json("plugin", "show", "from-git")["from"] == f"git+file://{tree}"
    daemon("plugin", "remove", "from-git").ok()
    assert list((daemon.state / "run").glob("fetch-*")) == []


def test_what_an_agent_removed_is_installed_again(daemon, agent, recipe):
    daemon("plugin", "install", recipe("Back", files={"x": "here\n"}, setup="echo m > made",
                                       tools=[tool("say", "cat x made")]), "--agent", agent).ok()
    daemon.sh(agent, "rm -r plugins").ok()
    assert daemon.tool(agent, "back_say")["result"]["stdout"] == "here\nm\n"
    assert entries(daemon)["back"]["numbers"] == [1] and installed(daemon, agent)["back"]["state"] == "ready"
    # Where it would not be what it was, it is said.
    daemon("plugin", "import", recipe("Back", tools=[tool("say", "echo other")])).ok()
    daemon.sh(agent, "rm -r plugins").ok()
    refused = daemon.tool(agent, "back_say")
    assert not refused["ok"] and "hutch plugin update back" in refused["message"]
    daemon("plugin", "update", "back").ok()
    assert daemon.tool(agent, "back_say")["result"]["stdout"] == "other\n"
    daemon("plugin", "remove", "back").ok()


def test_secrets_are_variables_of_its_tools_alone(daemon, agent, recipe):
    value = "sk-very-secret-0123456789"
    daemon("secret", "set", "--agent", agent, "TOOL_KEY", stdin=value.encode()).ok()
    path = recipe("Keyed", secrets=["TOOL_KEY"], tools=[tool("len", "printf %s \"$TOOL_KEY\" | wc -c"),
                                                        tool("leak", "echo \"$TOOL_KEY\"; exit 0")])
    daemon("plugin", "install", path, "--agent", agent).ok()
    assert daemon.tool(agent, "keyed_len")["result"]["stdout"].strip() == str(len(value))
    assert value not in json.dumps(daemon.tool(agent, "keyed_leak"))
    assert daemon.sh(agent, "printf %s \"$TOOL_KEY\"").ok().text == ""
    daemon("plugin", "remove", "keyed").ok()


def test_an_agents_end_is_its_plugins(daemon, recipe):
    name = daemon.create()
    daemon("plugin", "install", recipe("Gone", tools=[tool("x", "true")]), "--agent", name).ok()
    daemon("agent", "remove", name).ok()
    assert not (daemon.data / "agents" / name).exists()
    assert daemon.create(name=name) == name and installed(daemon, name) == {}
    daemon("agent", "remove", name).ok()
    daemon("plugin", "remove", "gone").ok()


def test_a_client_that_leaves_ends_a_set_up_that_says_nothing(daemon, agent, recipe):
    path = recipe("Silent", setup="touch ~/begun; exec sleep 600", tools=[tool("show", "true")])
    first = daemon.popen("plugin", "install", path, "--agent", agent)
    wait_until(lambda: daemon.sh(agent, "test -e ~/begun").code == 0, "it is set up")
    # The second waits for the end of the first, and leaves as well.
    other = daemon.popen("plugin", "install", recipe("Other", tools=[tool("show", "true")]), "--agent", agent)
    for client in (other, first):
        os.killpg(client.pid, signal.SIGKILL)
        client.communicate(timeout=60)
    wait_until(lambda: daemon.json("plugin", "list", "--agent", agent) == [], "both are undone")
    daemon("plugin", "install", recipe("Other", tools=[tool("show", "true")]), "--agent", agent).ok()
    daemon("plugin", "remove", "other").ok()
