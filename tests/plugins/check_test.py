# `hutch plugin check`: a recipe is set up in a sandbox of nobody's, its tools are called, and nothing of it is kept.
import json

from recipes import recipe as made, tool


def example(one, **arguments):
    return {**one, "example": arguments}


GOOD = {"files": {"a/count.py": "import os\nprint(int(os.environ['PARAM_N']) + 1)\n"}, "setup": "echo ready > done",
        "tools": [example(tool("count", "cat done; python3 a/count.py", n="integer"), n=41), tool("other", "false")]}


def check(daemon, path, *options, **given):
    return daemon("plugin", "check", path, *options, timeout=120, **given)


def test_what_works_is_told(daemon, agent, recipe):
    path = recipe("Words", **GOOD)
    told = json.loads(check(daemon, path, "--json").ok().out)
    assert told["ok"] and [one["step"] for one in told["steps"]] == ["packages", "files", "setup"]
    [count, other] = told["tools"]
    assert count["tried"] and count["stdout"] == "ready\n42\n" and count["name"] == "words_count"
    assert not other["tried"] and other["ok"]
    text = check(daemon, path).ok().text
    assert "tool words_count: ok\n  ready\n  42\n" in text and "tool words_other: ok, it has no example" in text
    assert daemon.json("plugin", "list", "--library") == [] and daemon.json("plugin", "list") == []


def test_what_fails_is_told_and_the_exit_code_is_1(daemon, recipe):
    for members, step, said in (({"setup": "echo halfway; exit 3"}, "setup", "exit code 3: halfway"),
                                ({"dependencies": ["no-such-package-of-anybody"]}, "packages", "no-such-package")):
        refused = check(daemon, recipe("Broken", **{**GOOD, **members}), "--json")
        told = json.loads(refused.out)
        assert refused.code == 1 and not told["ok"] and told["tools"] == []
        [failed] = [one for one in told["steps"] if not one["ok"]]
        assert failed["step"] == step and said in failed["log"]
    for one, said in ((example(tool("x", "exit 7")), "exit code 7"), (example(tool("x", "true"), no=1), "no"),
                      ({**example(tool("x", "sleep 100")), "timeout": 1}, "too long")):
        refused = check(daemon, recipe("Broken", tools=[one]), "--json")
        [told] = json.loads(refused.out)["tools"]
        assert refused.code == 1 and not told["ok"] and said in told["message"], told


def test_it_has_no_network_and_nothing_of_an_agents(daemon, agent, recipe):
    daemon.sh(agent, "echo mine > note").ok()
    look = f"ls /workspace /workspace/agents/{agent} 2>/dev/null; getent hosts example.com; cat /proc/net/route | wc -l"
    told = json.loads(check(daemon, recipe("Look", tools=[example(tool("x", look))]), "--json").out)
    assert told["tools"][0]["stdout"] == "/workspace:\nplugins\n1\n", told


def test_the_recipe_alone_is_read_by_option(daemon, recipe):
    said = check(daemon, recipe("Broken", **{**GOOD, "setup": "exit 3"}), "--read-only").ok().text
    assert said.splitlines()[1:] == ["tool broken_count", "tool broken_other"]
    assert check(daemon, "-", stdin=b"{}").code == 125


def test_an_agent_tries_before_it_registers(daemon, agent):
    def ask(recipe):
        return daemon.exec(agent, "/bin/sh", "-c", "hutch-host --json plugin check", options=["-i"],
                           stdin=json.dumps(recipe).encode(), timeout=120)
    told = json.loads(ask(made("Words", **GOOD)).ok().out)
    assert told["ok"] and told["tools"][0]["stdout"] == "ready\n42\n"
    assert not json.loads(ask(made("Words", **{**GOOD, "setup": "exit 1"})).ok().out)["ok"]
    refused = ask(made("Words", setup="curl https://elsewhere.example/x"))
    assert refused.code == 7 and "elsewhere.example" in refused.errors
    # What it wrote into its directory, with the files there.
    manifest = made("Words", tools=GOOD["tools"], setup=GOOD["setup"])
    daemon.exec(agent, "/bin/sh", "-c", "mkdir -p plugins/words/a && cat > plugins/words/plugin.json && "
                "printf '%s' \"$0\" > plugins/words/a/count.py", GOOD["files"]["a/count.py"], options=["-i"],
                stdin=json.dumps(manifest).encode()).ok()
    told = json.loads(daemon.sh(agent, "hutch-host --json plugin check words", timeout=120).ok().out)
    assert told["ok"] and told["tools"][0]["stdout"] == "ready\n42\n", told
    assert daemon.sh(agent, "hutch-host plugin check ../words").code == 7
    assert daemon.json("plugin", "list", "--library") == []
    daemon("agent", "set", agent, "autonomousExec.pluginCreate=false").ok()
    assert ask(made("Words", **GOOD)).code == 4
