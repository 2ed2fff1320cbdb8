# A daemon that is stopped while a plugin is installed ends as it should, whatever it undoes meanwhile.
import pytest

import harness
from recipes import Files, tool

ROUNDS = 3


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_it_ends_while_an_installation_is_undone(own_daemon, backend):
    """What is undone would start the agent's sandbox again, and that outlive whoever is told of its states."""
    agent = own_daemon.create(f"backend={backend}")
    path = Files(own_daemon)("Long", setup="touch began; sleep 30", tools=[tool("x", "true")])
    own_daemon("daemon", "stop").ok()
    began = own_daemon.data / "workspace/agents" / agent / "plugins/long/began"
    for _ in range(ROUNDS):
        # The daemon may have ended before it had undone the last round's; the next one does.
        began.unlink(missing_ok=True)
        with own_daemon.popen("serve") as serving:
            harness.wait_until(own_daemon.socket.exists, "the daemon listens")
            with own_daemon.popen("plugin", "install", path, "--agent", agent) as install:
                harness.wait_until(began.exists, "the set-up runs")
                own_daemon("daemon", "stop").ok()
                install.communicate(timeout=harness.PATIENCE)
            serving.communicate(timeout=20)
            assert serving.returncode == 0
        own_daemon.expect_nothing_left()
