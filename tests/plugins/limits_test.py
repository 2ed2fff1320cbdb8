# An agent's limits are of all its sandboxes together: a plugin that has one of its own does not have them once more.
import json

import harness
import pytest

import shared_limits
from recipes import tool
from shared_limits import HOLD, used


@pytest.fixture(params=["namespace", "bwrap"])
def limited(daemon, request):
    """An agent with 64 MiB, where a cgroup holds that."""
    probe = daemon("run", "--wide", "--json", "--memory", "64M", "--", "/bin/true").ok()
    if not json.loads(probe.out)["limits"].startswith("cgroup"):
        pytest.skip("no cgroup of memory can be made here")
    name = daemon.create(f"backend={request.param}", "autonomousExec.enabled=true", "limits.memory=64M")
    yield name
    daemon("agent", "remove", name).ok()


def test_memory_is_of_both_together(daemon, limited, recipe):
    shared_limits.memory_is_of_both_together(daemon, limited, recipe)


def test_what_a_plugin_has_is_told_as_the_agents(daemon, limited, recipe):
    daemon("plugin", "install", recipe("Apart", permissions={"network": "none"}, tools=[
        tool("leave", f"setsid {HOLD.format(600)} >/dev/null 2>&1 & sleep 0")]), "--agent", limited).ok()
    daemon.sh(limited, "true").ok()
    before = used(daemon, limited)
    daemon.tool(limited, "apart_leave")
    harness.wait_until(lambda: used(daemon, limited) > before + 39, "what its plugin left is counted")
    daemon("plugin", "remove", "apart").ok()
    harness.wait_until(lambda: used(daemon, limited) < before + 20, "and what has ended is not")
