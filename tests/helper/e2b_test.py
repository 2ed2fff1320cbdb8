# /home/user in sandboxes of E2B's clients that are OS users: root's daemon makes a user for each.
import json

import pytest

import api
import daemons
import e2b


@pytest.fixture
def daemon(machine):
    class Daemon(daemons.Daemon):
        def options(self, given):
            return super().options({"outer": machine.enter(), **given})

    made = Daemon(machine.base, machine.base.person("root"))
    made.person.write(made.state / "config/templates.json", json.dumps({"own": {"backend": "user"}}))
    made("agent", "list").ok()
    yield made
    made.stop()


def test_home_user(daemon):
    """What calls name so is the OS user's home, which is where the machine has it."""
    sandbox = e2b.Sandbox(api.OnSocket(daemon.socket), "own")
    home = daemon.json("agent", "show", sandbox.agent)["home"]
    e2b.expect_home(sandbox, home, f"agent-{sandbox.agent}")
    sandbox.kill()
