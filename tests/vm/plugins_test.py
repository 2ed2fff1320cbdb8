# A plugin that may do less than its agent, where that is a machine: it has one of its own beside it, on the same files.
import json

import pytest

import recipes
from recipes import tool

# A name that may be reached gets an address of the gateway's, whoever has it.
NAMES = "nslookup a.example.com >/dev/null 2>&1 && echo named"


@pytest.fixture
def agent(daemon):
    policy = daemon.person.write(daemon.state / "policy-narrow.json",
                                 json.dumps({"network": {"allowedDomains": ["a.example.com"]}}))
    name = daemon.create("backend=vm", "autonomousExec.enabled=true", f"policy={policy}")
    yield name
    daemon("agent", "remove", name).ok()


def said(daemon, agent, name, **arguments):
    answer = daemon.tool(agent, name, **arguments)
    assert answer["ok"], answer
    return answer["result"]["stdout"]


def test_it_has_less_of_the_network_and_of_the_host(daemon, agent):
    ask = f"{NAMES}; hutch-host secrets get OTHER_KEY >/dev/null 2>&1; echo $?; " \
          "hutch-host secrets get OWN_KEY >/dev/null 2>&1; echo $?; id -un; cat ~/given; echo made > ~/note"
    for name, value in (("OWN_KEY", b"own-0123456789"), ("OTHER_KEY", b"other-0123456789")):
        daemon("secret", "set", "--agent", agent, name, stdin=value).ok()
    daemon.sh(agent, "echo given > given", timeout=180).ok()
    recipe = recipes.Files(daemon)
    open_path = recipe("Open", secrets=["OWN_KEY"], tools=[tool("ask", ask)])
    narrow = recipe("Narrow", secrets=["OWN_KEY"], permissions={"network": "none"}, tools=[tool("ask", ask)])
    for path in (open_path, narrow):
        daemon("plugin", "install", path, "--agent", agent, timeout=180).ok()
    assert said(daemon, agent, "open_ask").split() == ["named", "0", "0", f"agent-{agent}", "given"]
    assert said(daemon, agent, "narrow_ask").split() == ["4", "0", f"agent-{agent}", "given"]
    assert daemon.sh(agent, "cat note").ok().text == "made\n", "the files are the agent's"
    for id in ("open", "narrow"):
        daemon("plugin", "remove", id).ok()
