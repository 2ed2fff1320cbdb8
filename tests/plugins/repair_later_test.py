# What could not be undone at once is undone later, as its error says: not only when the daemon starts next.
import harness
from recipes import tool

AWAY = "cd ~; mv plugins moved; ln -s /etc plugins; exit 1"
BACK = "rm plugins; mv moved plugins"


def stick(daemon, agent, recipe, name):
    failed = daemon("plugin", "install", recipe(name, setup=AWAY, tools=[tool("x", "true")]), "--agent", agent)
    assert failed.code == 125 and "undone later" in failed.errors, failed


def test_the_next_installation_undoes_it(daemon, agent, recipe):
    stick(daemon, agent, recipe, "Stuck")
    good = recipe("Stuck", tools=[tool("x", "echo well")])
    refused = daemon("plugin", "install", good, "--agent", agent)
    assert refused.code == 125 and "cannot be undone yet" in refused.errors, refused
    daemon.sh(agent, BACK).ok()
    daemon("plugin", "install", good, "--agent", agent).ok()
    assert daemon.tool(agent, "stuck_x")["result"]["stdout"] == "well\n"
    daemon("plugin", "remove", "stuck").ok()


def test_it_is_undone_by_itself(daemon, agent, recipe):
    stick(daemon, agent, recipe, "Left")
    daemon.sh(agent, BACK).ok()
    gone = lambda: daemon.sh(agent, "test ! -e ~/plugins/left").code == 0
    harness.wait_until(gone, "what it made is gone", 40)
    assert "left" not in daemon("plugin", "list", "--agent", agent).ok().text


def test_its_removal_undoes_it(daemon, agent, recipe):
    stick(daemon, agent, recipe, "Unwanted")
    daemon.sh(agent, BACK).ok()
    daemon("plugin", "remove", "unwanted", "--agent", agent)
    assert daemon.sh(agent, "test ! -e ~/plugins/unwanted").code == 0
