# What is said of plugins on each backend that has them; the suites of these backends take it over.
"""Fixtures that such a suite has: `daemon`, `plugin_agent` (a new agent's name, which may make plugins), `recipe`."""

import contextlib
import json
import os
import pathlib

import harness
from recipes import tool

NAMES = "for n in a.example.com b.example.com c.example.com; do getent hosts $n >/dev/null && echo $n; done; true"
SHOW = "pwd; printf '%s|%s|%s\\n' \"$PARAM_FILE\" \"$PARAM_TOP\" \"$HUTCH_PLUGIN\"; cat done.txt"
ENTRIES = {"type": "integer", "default": "10"}
MARK = f"98{os.getpid()}"
KEYS = (("OWN_KEY", b"own-value-0123456789"), ("OTHER_KEY", b"other-value-0123456789"))


def sleeps():
    """Whether a process of the machine's sleeps so long."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if pathlib.Path(f"/proc/{name}/cmdline").read_bytes() == b"sleep\0%s\0" % MARK.encode():
                return True
    return False


def install(daemon, agent, recipe, name, **members):
    [done] = daemon.json("plugin", "install", recipe(name, **members), "--agent", agent, timeout=180)
    return done


def said(daemon, agent, name, **arguments):
    answer = daemon.tool(agent, name, **arguments)
    assert answer["ok"], answer
    return answer["result"]["stdout"]


def go_by(daemon, agent, network):
    """The agent goes by a policy of that network from its next start on."""
    path = daemon.person.write(daemon.state / f"policy-{agent}.json", json.dumps({"network": network}))
    daemon("agent", "set", agent, f"policy={path}").ok()
    daemon("agent", "stop", agent).ok()


def test_a_plugin_is_installed_called_updated_and_removed(daemon, plugin_agent, recipe):
    def members(text):
        return {"setup": f"echo {text} > done.txt", "files": {"a/count.py": "print(1 + 1)\n"},
                "tools": [tool("show", SHOW, file="string", top=ENTRIES), tool("count", "python3 a/count.py")]}
    done = install(daemon, plugin_agent, recipe, "Word Tools", **members("ready"))
    assert (done["state"], done["tools"]) == ("ready", ["word-tools_show", "word-tools_count"])
    shown = said(daemon, plugin_agent, "word-tools_show", file="a 'b' $HOME").splitlines()
    assert shown[0].endswith("/plugins/word-tools") and shown[1:] == ["a 'b' $HOME|10|word-tools", "ready"]
    assert said(daemon, plugin_agent, "word-tools_count") == "2\n"
    daemon("plugin", "update", "word-tools", recipe("Word Tools", **members("again")), timeout=180).ok()
    assert said(daemon, plugin_agent, "word-tools_show", file="x").splitlines()[2] == "again"
    daemon("plugin", "remove", "word-tools").ok()
    assert daemon.tool(plugin_agent, "word-tools_count")["kind"] == "tool_not_found"
    assert daemon.sh(plugin_agent, "ls -A plugins").text == ""


def test_what_fails_leaves_nothing(daemon, plugin_agent, recipe):
    path = recipe("Broken", tools=[tool("x", "true")], files={"a": "b"}, setup="echo halfway > x; echo no >&2; exit 4")
    refused = daemon("plugin", "install", path, "--agent", plugin_agent, timeout=180)
    assert refused.code == 125 and "exit code 4" in refused.errors, refused
    assert daemon.json("plugin", "list", "--agent", plugin_agent) == []
    assert daemon.sh(plugin_agent, "ls -A plugins").text == ""


def test_directories_that_nobody_may_write_go_as_well(daemon, plugin_agent, recipe):
    """As the caches of package managers are."""
    closed = "mkdir -p a/b c/d/e; touch a/b/x c/d/e/x; chmod 555 a/b; chmod 0 c/d"
    for number in range(3):
        install(daemon, plugin_agent, recipe, "Closed", setup=f"{closed}; echo {number} > done",
                tools=[tool("say", "cat done")])
        assert said(daemon, plugin_agent, "closed_say") == f"{number}\n"
        assert daemon.sh(plugin_agent, "ls -A plugins").text == "closed\n"
    refused = daemon("plugin", "install", recipe("Closed", setup=f"{closed}; exit 4", tools=[tool("say", "cat done")]),
                     "--agent", plugin_agent, timeout=180)
    assert refused.code == 125 and "undone later" not in refused.errors, refused
    assert said(daemon, plugin_agent, "closed_say") == "2\n"
    daemon("plugin", "remove", "closed").ok()
    assert daemon.sh(plugin_agent, "ls -A plugins").text == ""


def test_an_agent_makes_a_plugin(daemon, plugin_agent):
    text = json.dumps({"name": "Made", "description": "d", "tools": [tool("say", "cat x")], "files": {"x": "made\n"},
                       "permissions": {"network": "outbound", "inference": True}})
    daemon.exec(plugin_agent, "/bin/sh", "-c", "hutch-host plugin create", options=["-i"], stdin=text.encode(),
                timeout=180).ok()
    kept = json.loads(daemon("plugin", "export", "made").ok().out)
    assert kept["permissions"] == {"network": "none", "inference": False}
    assert said(daemon, plugin_agent, "made_say") == "made\n"
    daemon("plugin", "remove", "made").ok()


def test_hosts_are_those_that_both_name(daemon, plugin_agent, recipe):
    """A name that may be reached gets an address of the gateway's, whoever has it; another one none."""
    go_by(daemon, plugin_agent, {"allowedDomains": ["a.example.com", "b.example.com"]})
    names = [tool("names", NAMES)]
    install(daemon, plugin_agent, recipe, "Open", tools=names)
    install(daemon, plugin_agent, recipe, "One", tools=names, permissions={"network": "a.example.com,c.example.com"})
    install(daemon, plugin_agent, recipe, "Closed", tools=names, permissions={"network": "none"})
    for _ in range(2):
        assert said(daemon, plugin_agent, "open_names").split() == ["a.example.com", "b.example.com"]
        assert said(daemon, plugin_agent, "one_names").split() == ["a.example.com"]
        assert said(daemon, plugin_agent, "closed_names").split() == []
    for id in ("open", "one", "closed"):
        daemon("plugin", "remove", id).ok()


def test_what_it_leaves_running_stays_as_narrow_and_ends_with_it(daemon, plugin_agent, recipe):
    go_by(daemon, plugin_agent, {"allowedDomains": ["a.example.com"]})
    leave = "setsid sh -c 'sleep 1; getent hosts a.example.com; echo over $?' > got 2>&1 & echo left"
    install(daemon, plugin_agent, recipe, "Closed", permissions={"network": "none"},
            tools=[tool("leave", leave),
                   tool("look", "for i in $(seq 300); do grep -q over got && break; sleep 0.1; done; cat got"),
                   tool("stay", f"setsid sleep {MARK} >/dev/null 2>&1 & echo left")])
    assert said(daemon, plugin_agent, "closed_leave") == "left\n"
    assert said(daemon, plugin_agent, "closed_look") == "over 2\n"
    assert said(daemon, plugin_agent, "closed_stay") == "left\n"
    harness.wait_until(sleeps, "it is left running")
    daemon("plugin", "remove", "closed").ok()
    harness.wait_until(lambda: not sleeps(), "what it left has ended with it")


def test_its_files_are_the_agents(daemon, plugin_agent, recipe):
    install(daemon, plugin_agent, recipe, "Closed", permissions={"network": "none"},
            tools=[tool("write", "id -u; echo from the plugin > ~/note; cat ~/given")])
    daemon.sh(plugin_agent, "echo given > given").ok()
    uid = daemon.sh(plugin_agent, "id -u").ok().text
    assert said(daemon, plugin_agent, "closed_write") == f"{uid}given\n"
    assert daemon.sh(plugin_agent, "cat note").ok().text == "from the plugin\n"
    daemon("plugin", "remove", "closed").ok()


def test_the_bridge_knows_the_plugin(daemon, plugin_agent, recipe):
    for name, value in KEYS:
        daemon("secret", "set", "--agent", plugin_agent, name, stdin=value).ok()
    ask = "hutch-host secrets get OTHER_KEY; echo $?; hutch-host secrets get OWN_KEY >/dev/null; echo $?; " \
          "hutch-host agent dispatch '' x; echo $?; echo '{\"name\":\"X\",\"description\":\"d\"}' | " \
          "hutch-host plugin create; echo $?; hutch-host config set k v; echo $?"
    install(daemon, plugin_agent, recipe, "Narrow", secrets=["OWN_KEY"], permissions={"network": "none"},
            tools=[tool("ask", f"({ask}) 2>/dev/null")])
    assert said(daemon, plugin_agent, "narrow_ask").split() == ["4", "0", "4", "4", "0"]
    assert [one["id"] for one in daemon.json("plugin", "list", "--agent", plugin_agent)] == ["narrow"]
    # The agent's own processes are not held by what a plugin may.
    assert daemon.sh(plugin_agent, "hutch-host secrets get OTHER_KEY >/dev/null").code == 0
    daemon("plugin", "remove", "narrow").ok()


def test_its_set_up_has_the_agents_network_and_else_what_its_tools_have(daemon, plugin_agent, recipe):
    go_by(daemon, plugin_agent, {"allowedDomains": ["a.example.com"]})
    for name, value in KEYS:
        daemon("secret", "set", "--agent", plugin_agent, name, stdin=value).ok()
    daemon("agent", "set", plugin_agent, "inference=true").ok()
    ask = f"{NAMES}; hutch-host secrets get OTHER_KEY; echo $?; hutch-host secrets get OWN_KEY >/dev/null; echo $?; " \
          "hutch-host agent dispatch '' x; echo $?; hutch-host config set k v; echo $?; " \
          "hutch-host inference chat -m hello; echo $?"
    install(daemon, plugin_agent, recipe, "Narrow", secrets=["OWN_KEY"], permissions={"network": "none"},
            setup=f"({ask}) > told 2>/dev/null; setsid sleep {MARK} >/dev/null 2>&1 & sleep 0.2; echo over >> told",
            tools=[tool("told", f"cat told; hutch-host config get k; {NAMES}")])
    assert said(daemon, plugin_agent, "narrow_told").split() == \
        ["a.example.com", "4", "0", "4", "0", "4", "over", "v"]
    harness.wait_until(lambda: not sleeps(), "what its set-up left running has ended with it")
    daemon("agent", "set", plugin_agent, "inference=false").ok()
    daemon("plugin", "remove", "narrow").ok()


def test_a_plugin_without_inference_has_none(daemon, plugin_agent, recipe):
    """The agent may ask a model: there is none here, which is another answer than that it may not."""
    chat = [tool("chat", "hutch-host inference chat -m hello 2>&1; echo $?")]
    install(daemon, plugin_agent, recipe, "With", tools=chat, permissions={"inference": True})
    install(daemon, plugin_agent, recipe, "Without", tools=chat)
    daemon("agent", "set", plugin_agent, "inference=true").ok()
    assert "This plugin may not use a model" in said(daemon, plugin_agent, "without_chat")
    assert "may not" not in said(daemon, plugin_agent, "with_chat")
    for id in ("with", "without"):
        daemon("plugin", "remove", id).ok()


def test_the_bridge(daemon, plugin_agent):
    """Every service of it that answers with a value, and that another agent's things are not there."""
    other = daemon.create()
    daemon("secret", "set", "--agent", plugin_agent, "TOKEN", stdin=b"token-0123456789").ok()
    daemon("secret", "set", "--agent", other, "OTHERS", stdin=b"token-9876543210").ok()
    assert daemon.sh(plugin_agent, "hutch-host secrets get TOKEN; osaurus-host secrets get TOKEN").ok().text == \
        "token-0123456789\n" * 2
    daemon.sh(plugin_agent, "hutch-host config set a.b 'x \"y\"'; printf z | hutch-host config set c -").ok()
    assert daemon.sh(plugin_agent, "hutch-host config get a.b; hutch-host config get c").ok().text == 'x "y"\nz\n'
    daemon.sh(plugin_agent, "hutch-host agent memory store 'the build needs clang'").ok()
    assert daemon.sh(plugin_agent, "hutch-host agent memory query 'what does the build need'").ok().text == \
        "the build needs clang\n"
    daemon.sh(plugin_agent, "hutch-host log --level warning 'it went wrong'; hutch-host events emit x '{}'").ok()
    for command, code in (("secrets get NONE", 3), ("secrets get OTHERS", 3), ("config get none", 3), ("nothing", 2),
                          ("agent dispatch somebody x", 4), ("log --level loud x", 7), ("inference chat -m x", 4)):
        assert daemon.sh(plugin_agent, f"hutch-host {command}").code == code, command
    assert daemon.sh(other, "hutch-host config get c; hutch-host secrets get TOKEN").code == 3
    daemon("agent", "remove", other).ok()
