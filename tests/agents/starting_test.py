# While an agent's sandbox starts: every tool is listed, a call waits as long as it may take, and then it says so.
import os
import shutil
import time

import pytest

import daemons
import harness
from mcp_stdio import Client, names

TEXT = ("Sandbox is still initializing. Real sandbox tools will register on the next turn. Reply without sandbox "
        "tools, or wait and try again.")


class Slow(daemons.Daemon):
    """A daemon whose sandboxes do not start before they are let."""

    def __init__(self, base, person):
        programs = base.path / f"slow-{person.name}"
        programs.mkdir()
        programs.chmod(0o755)
        for name in ("hutch", "hutch-inspect"):
            shutil.copy(base.bin / name, programs / name)
        shutil.copy(base.bin / "hutch-guest", programs / "honest-guest")
        self.gate = programs / "closed"
        guest = programs / "hutch-guest"
        guest.write_text(f'#!/bin/sh\nwhile [ -e {self.gate} ]; do /bin/sleep 0.05; done\n'
                         f'exec {programs}/honest-guest "$@"\n', encoding="ascii")
        guest.chmod(0o755)
        super().__init__(base, person, programs / "hutch")

    def agent(self):
        self.gate.touch()
        return self.create("backend=none", "autonomousExec.enabled=true", "autonomousExec.commandTimeout=2")

    def let(self):
        self.gate.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def daemon(base):
    made = Slow(base, base.person("root" if os.geteuid() == 0 else "user"))
    yield made
    made.let()
    made.stop()


@pytest.fixture
def agent(daemon):
    name = daemon.agent()
    yield name
    daemon.let()
    daemon("agent", "remove", name).ok()


def expect_starting(envelope, tool):
    assert envelope == {"ok": False, "kind": "unavailable", "retryable": True, "message": TEXT, "tool": tool}


@pytest.mark.parametrize("tool, arguments", [
    ("sandbox_exec", {"command": "echo hi", "timeout": 1}),
    ("sandbox_exec_background", {"command": "echo hi"}),
    ("sandbox_run_script", {"script": "echo hi", "language": "sh"}),
    ("sandbox_read_file", {"path": "f"}),
    ("sandbox_write_file", {"path": "f", "content": "x"}),
    ("sandbox_search_files", {"pattern": "x"}),
])
def test_a_call_says_that_the_sandbox_starts(daemon, agent, tool, arguments):
    expect_starting(daemon.tool(agent, tool, **arguments), tool)
    assert daemon.status(agent) == "starting"


def test_a_call_gets_its_answer_once_it_has_started(daemon, agent):
    daemon("agent", "set", agent, "autonomousExec.commandTimeout=60").ok()
    waiting = daemon.popen("tool", "call", agent, "sandbox_exec", '{"command": "echo hi"}')
    time.sleep(0.3)
    assert waiting.poll() is None
    daemon.let()
    assert b'"stdout":"hi\\n"' in waiting.communicate(timeout=60)[0]


def test_the_start_goes_on_behind_it(daemon, agent):
    expect_starting(daemon.tool(agent, "sandbox_exec", command="true", timeout=1), "sandbox_exec")
    daemon.let()
    ended = daemon.tool(agent, "sandbox_exec", command="echo hi", timeout=60)
    assert ended["result"]["stdout"] == "hi\n", ended


def test_every_tool_is_listed_meanwhile(daemon, agent):
    client = Client(daemon, agent)
    client.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"})
    client.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    result, _ = client.ask("tools/call", name="sandbox_exec", arguments={"command": "true", "timeout": 1})
    assert result["isError"] is True
    expect_starting(result["structuredContent"], "sandbox_exec")
    assert {"sandbox_exec", "sandbox_read_file", "share_artifact"} <= names(client.ask("tools/list")[0])
    daemon("agent", "set", agent, "autonomousExec.enabled=false").ok()
    assert client.hear() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    client.close()


def test_what_needs_no_sandbox_waits_for_none(daemon, agent):
    assert daemon.tool(agent, "sandbox_exec", command="true", timeout=301)["kind"] == "invalid_args"
    assert daemon.status(agent) == "pending"


def test_a_stop_ends_the_wait(daemon, agent):
    daemon("agent", "set", agent, "autonomousExec.commandTimeout=60").ok()
    waiting = daemon.popen("tool", "call", agent, "sandbox_exec", '{"command": "true"}')
    harness.wait_until(lambda: daemon.status(agent) == "starting", "the start")
    daemon("agent", "stop", agent).ok()
    assert b"stopped" in waiting.communicate(timeout=60)[0]
