# /home/user in sandboxes of E2B's clients that are machines.
import api
import daemons
import e2b
import pytest


@pytest.fixture
def daemon(base, python_root):
    """One whose machines have a shell that is no busybox's."""
    made = daemons.Daemon(base, base.person("user"))
    made("vm", "provision", "--root", python_root, timeout=300).ok()
    yield made
    made.stop()


def test_home_user(daemon):
    daemon("agent", "list").ok()
    sandbox = e2b.Sandbox(api.OnSocket(daemon.socket), "vm")
    e2b.expect_home(sandbox)
    sandbox.kill()
