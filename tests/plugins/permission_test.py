# What a recipe's permissions come to: less of the network and of the host for that plugin's processes.
import contextlib
import http.server
import json
import threading

import pytest

import plugin_cases
from recipes import tool

test_its_set_up = plugin_cases.test_its_set_up_has_the_agents_network_and_else_what_its_tools_have

FETCH = "/usr/bin/python3 -c 'import sys, urllib.request; " \
        "print(urllib.request.urlopen(sys.argv[1], timeout=20).read())' "
NAMES = "for n in a.example.com b.example.com c.example.com; do getent hosts $n >/dev/null && echo $n; done; true"


@pytest.fixture(params=["namespace", "bwrap"])
def isolated(daemon, request):
    name = daemon.create(f"backend={request.param}", "autonomousExec.enabled=true")
    yield name
    daemon("agent", "remove", name).ok()


@pytest.fixture
def plugin_agent(isolated):
    return isolated


@contextlib.contextmanager
def policy(daemon, agent, network):
    """The agent goes by a policy of that network from its next start on."""
    path = daemon.person.write(daemon.state / f"policy-{agent}.json", json.dumps({"network": network}))
    daemon("agent", "set", agent, f"policy={path}").ok()
    daemon("agent", "stop", agent).ok()
    yield


@contextlib.contextmanager
def server():
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"reached")

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield listening.server_address[1]
        listening.shutdown()


def install(daemon, agent, recipe, name, **members):
    daemon("plugin", "install", recipe(name, **members), "--agent", agent).ok()


def said(daemon, agent, name, **arguments):
    return daemon.tool(agent, name, **arguments)["result"]["stdout"]


def test_no_network_is_none_although_the_agent_has_some(daemon, isolated, recipe):
    with server() as port, policy(daemon, isolated, {"hostPorts": [port]}):
        run = [tool("get", f"{FETCH} http://127.0.0.1:{port}/ 2>&1 | tail -1")]
        install(daemon, isolated, recipe, "Open", tools=run)
        install(daemon, isolated, recipe, "Closed", tools=run, permissions={"network": "none"})
        assert said(daemon, isolated, "open_get") == "b'reached'\n"
        closed = said(daemon, isolated, "closed_get")
        assert "reached" not in closed and "urlopen error" in closed
        assert said(daemon, isolated, "open_get") == "b'reached'\n"
    for id in ("open", "closed"):
        daemon("plugin", "remove", id).ok()


def test_hosts_are_those_that_both_name(daemon, isolated, recipe):
    """A name that may be reached gets an address of the gateway's, whoever has it; another one none."""
    with policy(daemon, isolated, {"allowedDomains": ["a.example.com", "b.example.com"]}):
        install(daemon, isolated, recipe, "Open", tools=[tool("names", NAMES)])
        install(daemon, isolated, recipe, "One", tools=[tool("names", NAMES)],
                permissions={"network": "a.example.com,c.example.com"})
        assert said(daemon, isolated, "open_names").split() == ["a.example.com", "b.example.com"]
        assert said(daemon, isolated, "one_names").split() == ["a.example.com"]
        # What its person takes back is gone for it as well.
        path = daemon.state / f"policy-{isolated}.json"
        path.write_text(json.dumps({"network": {"allowedDomains": ["b.example.com"]}}))
        daemon("agent", "stop", isolated).ok()
        assert said(daemon, isolated, "one_names").split() == []
    for id in ("open", "one"):
        daemon("plugin", "remove", id).ok()


def test_what_it_leaves_running_stays_as_narrow(daemon, isolated, recipe):
    with server() as port, policy(daemon, isolated, {"hostPorts": [port]}):
        fetch = f"{FETCH} http://127.0.0.1:{port}/ > $HUTCH_PLUGIN_DIR/got 2>&1; echo over >> $HUTCH_PLUGIN_DIR/got"
        install(daemon, isolated, recipe, "Closed", permissions={"network": "none"},
                tools=[tool("leave", f"setsid sh -c '{fetch.replace(chr(39), chr(34))}' >/dev/null 2>&1 & sleep 0"),
                       tool("look", "for i in $(seq 200); do grep -q over got && break; sleep 0.1; done; cat got")])
        daemon.tool(isolated, "closed_leave")
        got = said(daemon, isolated, "closed_look")
        assert "over" in got and "reached" not in got
    daemon("plugin", "remove", "closed").ok()


def test_the_files_are_the_agents(daemon, isolated, recipe):
    install(daemon, isolated, recipe, "Closed", permissions={"network": "none"},
            tools=[tool("write", "id -un; echo from the plugin > ~/note; cat ~/given")])
    daemon.sh(isolated, "echo given > given").ok()
    answer = daemon.tool(isolated, "closed_write")
    assert answer["result"]["stdout"] == f"agent-{isolated}\ngiven\n", answer
    assert daemon.sh(isolated, "cat note").ok().text == "from the plugin\n"
    daemon("plugin", "remove", "closed").ok()


def test_a_plugin_without_inference_has_none(daemon, isolated, recipe):
    """The agent may ask a model: there is none here, which is another answer than that it may not."""
    chat = [tool("chat", "hutch-host inference chat -m hello 2>&1; echo $?")]
    install(daemon, isolated, recipe, "With", tools=chat, permissions={"inference": True})
    install(daemon, isolated, recipe, "Without", tools=chat)
    daemon("agent", "set", isolated, "inference=true").ok()
    assert "This plugin may not use a model" in said(daemon, isolated, "without_chat")
    assert "may not" not in said(daemon, isolated, "with_chat")
    for id in ("with", "without"):
        daemon("plugin", "remove", id).ok()


def test_what_a_plugin_left_running_gets_no_model_when_its_agent_may(daemon, isolated, recipe):
    """As long as its agent had none it ran in the agent's sandbox: what it left there is told from nothing else."""
    chat = "hutch-host inference chat -m hello 2>&1"
    later = f"setsid sh -c 'until [ -e ~/now ]; do sleep 0.1; done; ({chat}; echo over) > ~/got' >/dev/null 2>&1 &"
    install(daemon, isolated, recipe, "Without", tools=[tool("leave", later)])
    daemon.tool(isolated, "without_leave")
    daemon("agent", "set", isolated, "inference=true").ok()
    daemon.sh(isolated, "touch now; until grep -q over got; do sleep 0.1; done").ok()
    assert "Not before the sandbox's next start" in daemon.sh(isolated, "cat got").text
    daemon("agent", "stop", isolated).ok()
    assert "no model is configured" in daemon.sh(isolated, chat).text.lower(), daemon.sh(isolated, chat).text
    # From then on it has a sandbox of its own, and the agent keeps its model.
    daemon.tool(isolated, "without_leave")
    assert "may have left" not in daemon.sh(isolated, chat).text
    daemon("plugin", "remove", "without").ok()


def test_one_that_may_as_much_as_its_agent_may_no_more(daemon, isolated, recipe):
    """It runs in the agent's sandbox: what it asks for beyond the agent's is not given."""
    daemon("secret", "set", "--agent", isolated, "OWN_KEY", stdin=b"own-value-0123456789").ok()
    ask = f"{NAMES}; hutch-host inference chat -m hello >/dev/null 2>&1; echo $?; " \
          "hutch-host agent dispatch somebody x 2>/dev/null; echo $?"
    with policy(daemon, isolated, {"allowedDomains": ["a.example.com"]}):
        install(daemon, isolated, recipe, "All", permissions={"network": "outbound", "inference": True},
                tools=[tool("ask", ask)])
        assert said(daemon, isolated, "all_ask").split() == ["a.example.com", "4", "4"]
        assert daemon.sh(isolated, ask).text.split() == ["a.example.com", "4", "4"]
    daemon("plugin", "remove", "all").ok()


def test_the_bridge_knows_the_plugin(daemon, isolated, recipe):
    for name, value in (("OWN_KEY", b"own-value-0123456789"), ("OTHER_KEY", b"other-value-0123456789")):
        daemon("secret", "set", "--agent", isolated, name, stdin=value).ok()
    ask = "hutch-host secrets get OTHER_KEY; echo $?; hutch-host secrets get OWN_KEY >/dev/null; echo $?; " \
          "hutch-host agent dispatch '' x; echo $?; echo '{\"name\":\"X\",\"description\":\"d\"}' | " \
          "hutch-host plugin create; echo $?; hutch-host config set k v; echo $?"
    install(daemon, isolated, recipe, "Narrow", secrets=["OWN_KEY"], permissions={"network": "none"},
            tools=[tool("ask", f"({ask}) 2>/dev/null")])
    assert said(daemon, isolated, "narrow_ask").split() == ["4", "0", "4", "4", "0"]
    assert [one["id"] for one in daemon.json("plugin", "list", "--agent", isolated)] == ["narrow"]
    # The agent's own processes are not held by what a plugin may.
    assert daemon.sh(isolated, "hutch-host secrets get OTHER_KEY >/dev/null").code == 0
    daemon("plugin", "remove", "narrow").ok()


def test_where_it_cannot_be_held_it_is_refused(daemon, recipe):
    name = daemon.create("backend=none")
    for permissions in ({"network": "none"}, {"network": "a.example.com"}):
        refused = daemon("plugin", "install", recipe("Closed", permissions=permissions, tools=[tool("x", "true")]),
                         "--agent", name)
        assert refused.code == 125 and "permissions" in refused.errors, refused
    assert daemon.json("plugin", "list", "--library") == []
    daemon("plugin", "install", recipe("Quiet", tools=[tool("x", "echo x")]), "--agent", name).ok()
    assert daemon.tool(name, "quiet_x")["ok"]
    # What the agent may do more from now on the plugin may not, so that it does not run at all.
    daemon("agent", "set", name, "inference=true").ok()
    refused = daemon.tool(name, "quiet_x")
    assert (refused["ok"], refused["kind"]) == (False, "unavailable") and "permissions" in refused["message"]
    daemon("agent", "remove", name).ok()
    daemon("plugin", "remove", "quiet").ok()


def test_its_sandbox_ends_with_the_agents(daemon, isolated, recipe):
    install(daemon, isolated, recipe, "Closed", permissions={"network": "none"},
            tools=[tool("leave", "setsid sleep 98765 >/dev/null 2>&1 & echo left")])
    assert said(daemon, isolated, "closed_leave") == "left\n"
    before = daemon.guests()
    daemon("plugin", "remove", "closed").ok()
    assert daemon.guests() == before - 1


def test_what_an_agent_makes_is_set_up_from_the_hosts_of_packages_alone(daemon, isolated):
    """The look at its text finds no name that a program puts together; the gateway does not have to."""
    with policy(daemon, isolated, {"allowedDomains": ["a.example.com", "b.example.com"]}):
        daemon("settings", "set", "security.allowedHosts", '["a.example.com"]').ok()
        daemon.sh(isolated, "true").ok()
        hidden = "for n in a b c; do getent hosts $n.example.com >/dev/null && echo $n; done > told; true"
        made = {"name": "Made", "description": "d", "setup": hidden, "tools": [tool("told", "cat told")]}
        done = daemon.exec(isolated, "/bin/sh", "-c", "hutch-host plugin create", options=["-i"],
                           stdin=json.dumps(made).encode())
        assert done.code == 0, str(done)
        assert said(daemon, isolated, "made_told").split() == ["a"]
        assert daemon.sh(isolated, "getent hosts b.example.com").code == 0, "which the agent may reach"
    daemon("plugin", "remove", "made").ok()
    daemon("settings", "set", "security.allowedHosts", "[]").ok()
