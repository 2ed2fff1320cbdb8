# Osaurus's own text from its first agent to its plugin and back, by somebody with a fresh account.
"""Each tool of its tables, a plugin as its recipe describes one, secrets, and the bridge by its own name. Its
virtual machine: tests/vm; the literal plugin, which takes pandas: tests/plugins/seed_test.py."""

import json

import pytest

import daemons

RECIPE = {
    "name": "Python Data Tools", "description": "Data analysis toolkit", "version": "1.0.0", "author": "your-name",
    "setup": "echo ready > prepared",
    "files": {"helpers.py": "import csv, sys\n\n\ndef count(name):\n    return len(list(csv.reader(open(name))))\n"},
    "tools": [{"id": "analyze_csv", "description": "Load a CSV file and return how long it is",
               "parameters": {"file": {"type": "string", "description": "Path to the CSV file"}},
               "run": "cd $HOME/plugins/python-data-tools && cat prepared && "
                      "python3 -c \"import helpers; print(helpers.count('$PARAM_FILE'))\""}],
    "secrets": ["OPENAI_API_KEY"],
    "permissions": {"network": "outbound", "inference": True},
}


@pytest.fixture(scope="module")
def osaurus(base, person):
    made = daemons.Daemon(base, person)
    yield made
    made.stop()


def test_from_an_agent_to_a_reset(osaurus, person):
    alice = osaurus.create("autonomousExec.enabled=true", "autonomousExec.maxCommandsPerTurn=0", name="alice")
    call = lambda tool, **arguments: osaurus.tool(alice, f"sandbox_{tool}", **arguments)
    ok = lambda tool, **arguments: call(tool, **arguments)["result"]
    assert ok("write_file", path="data/a.csv", content="1,2\n3,4\n")["path"]
    assert ok("read_file", path="data/a.csv")["content"] == "1,2\n3,4\n"
    assert ok("edit_file", path="data/a.csv", old_string="3,4", new_string="5,6")
    assert "a.csv" in json.dumps(ok("list_directory", path="data"))
    assert "a.csv" in json.dumps(ok("find_files", pattern="*.csv"))
    assert "5,6" in json.dumps(ok("search_files", pattern="5,6"))
    done = ok("exec", command="cat data/a.csv; echo $HOME; whoami; exit 3")
    assert done["stdout"].splitlines()[2:] == ["/workspace/agents/alice", "agent-alice"] and done["exit_code"] == 3
    assert ok("write_file", path="hello.py", content="print(6 * 7)\n")
    assert ok("run_script", path="hello.py")["stdout"] == "42\n"
    assert ok("move", source="hello.py", destination="data/hello.py") and ok("delete", path="data/hello.py")
    assert call("read_file", path="../../etc/passwd")["kind"] == "invalid_args"

    file = person.write(person.home / "python-data-tools.json", json.dumps(RECIPE))
    refused = osaurus("plugin", "install", file, "--agent", alice)
    assert "hutch secret set" in refused.errors, "the person is told what to type"
    osaurus("secret", "set", "--agent", alice, "OPENAI_API_KEY", stdin=b"sk-0123456789abcdef").ok()
    assert ok("secret_check", key="OPENAI_API_KEY") and "sk-0123" not in json.dumps(call("secret_check",
                                                                                       key="OPENAI_API_KEY"))
    osaurus("plugin", "install", file, "--agent", alice).ok()
    counted = osaurus.tool(alice, "python-data-tools_analyze_csv", file="/workspace/agents/alice/data/a.csv")
    assert counted["result"]["stdout"] == "ready\n2\n", counted

    bridge = "osaurus-host secrets get OPENAI_API_KEY; osaurus-host config set k v; osaurus-host config get k; " \
             "osaurus-host agent memory store 'it likes tea'; osaurus-host agent memory query tea; " \
             "osaurus-host events emit done '{}'; osaurus-host log hello"
    said = osaurus.sh(alice, bridge).ok().text.split()
    assert said[0] == "sk-0123456789abcdef" and said[1] == "v" and "tea" in said, said

    bob = osaurus.create(name="bob")
    assert osaurus.sh(bob, "cat /workspace/agents/alice/data/a.csv").code != 0, "agents are apart"
    osaurus("agent", "reset", alice).ok()
    assert ok("read_file", path="data/a.csv")["content"] == "1,2\n5,6\n", "a reset keeps the workspace"
    again = osaurus.tool(alice, "python-data-tools_analyze_csv", file="/workspace/agents/alice/data/a.csv")
    assert again["result"]["stdout"] == "ready\n2\n", "and plugins"
    for name in (alice, bob):
        osaurus("agent", "remove", name).ok()
