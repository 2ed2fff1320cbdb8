# What limits of an agent come to for a plugin that has a sandbox of its own, by whoever makes the agent.
import harness

from recipes import tool

HOLD = "/usr/bin/python3 -c 'x = bytearray(40 << 20); import time; print(len(x), flush=True); time.sleep({})'"


def used(daemon, agent):
    return daemon.json("agent", "show", agent)["resources"]["memoryUsedMB"]


def memory_is_of_both_together(daemon, limited, recipe):
    """Of an agent with 64 MiB."""
    daemon("plugin", "install", recipe("Apart", permissions={"network": "none"}, tools=[tool("hold", HOLD.format(0))]),
           "--agent", limited).ok()
    alone = daemon.tool(limited, "apart_hold")
    assert alone["result"]["stdout"].strip() == str(40 << 20), "as much as that it has by itself"
    before = used(daemon, limited)
    process = daemon.detach(limited, f"exec {HOLD.format(600)}")
    harness.wait_until(lambda: used(daemon, limited) > before + 39, "the agent has 40 MiB")
    beside = daemon.tool(limited, "apart_hold")
    held = daemon.processes(limited)[process]
    # Whichever the kernel takes for the worse of the two.
    ended = [beside["result"]["exit_code"] == 137, not held["running"] and held["end"]["ended_by"] == "memory limit"]
    assert sorted(ended) == [False, True], (beside, held)
    assert used(daemon, limited) <= 64
    daemon("plugin", "remove", "apart").ok()
