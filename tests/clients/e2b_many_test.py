# Many sandboxes of the E2B-compatible API at once, with many commands: each gets its own output, and nothing is left.
import concurrent.futures
import os

import pytest

import e2b
import harness

pytestmark = pytest.mark.slow

SANDBOXES, COMMANDS, AT_ONCE = 200, 20_000, 24


def test_many_sandboxes_with_many_commands(api):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        sandboxes = list(pool.map(lambda _: e2b.Sandbox(api, timeout=3600), range(SANDBOXES)))
        assert len({one.id for one in sandboxes}) == SANDBOXES
        held = descriptors(api)

        def run(number):
            sandbox = sandboxes[number % SANDBOXES]
            stream = sandbox.start(f"echo {number} $HUTCH_AGENT; exit {number % 3}")
            _, out, err, end = stream.run()
            stream.close()
            right = out == f"{number} {sandbox.agent}\n".encode() and end and end["exitCode"] == number % 3
            return None if right else (number, out, err, end, stream.error)

        assert [wrong for wrong in pool.map(run, range(COMMANDS)) if wrong] == []
        # Connections of the test's own may be open still; nothing of the commands is.
        harness.wait_until(lambda: descriptors(api) <= held + 2 * AT_ONCE, "the daemon has closed what it opened")
        assert all(one.status == 204 for one in pool.map(lambda one: one.kill(), sandboxes))
    assert e2b.rest(api, "GET", "/v2/sandboxes").ok() == [] and api.get("/v1/agents").ok()["agents"] == []
    harness.wait_until(lambda: threads(api) < 50, "its threads have ended")


def descriptors(api):
    return len(os.listdir(f"/proc/{api.process.pid}/fd"))


def threads(api):
    return len(os.listdir(f"/proc/{api.process.pid}/task"))
