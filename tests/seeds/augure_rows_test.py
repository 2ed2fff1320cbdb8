# Augure: rows 140 to 173.
import json

import pytest

import api as client
import sources
from seed_pages import rows, says

DIFFERS = {
    140: "The default image is made by mmdebstrap",
    142: "Trusted sandboxes have the gateway, not the host's network.",
    144: "A sandbox is used once.",
    153: "Output keeps the first and the last MiB",
    154: "512 MB, 1.0 CPU and 512 processes hold where a cgroup or the engine can hold them.",
    155: "The answer's notHeld, hutch pool stats and hutch doctor name what is not limited.",
    160: "sandboxOnly holds for agents from the start",
    163: "An empty allowedHosts means all public hosts for trusted pool sandboxes, and no more hosts for agents.",
    164: '["*"] is refused.',
    171: "the same names in hutch-augure",
    173: "Skills are a program of yours.",
}


@pytest.mark.parametrize("row, sentence", rows(DIFFERS))
def test_what_differs_is_told(row, sentence):
    says("augure", sentence)


@pytest.fixture(scope="module")
def api(base, person):
    made = client.Api(base, person)
    yield made
    made.stop()


@pytest.fixture
def pooled(api):
    """The answer to who acquires a sandbox without a word."""
    made = api.request("POST", "/v1/pool/sandboxes", data={"trust": "sandboxed"}).ok(201)
    yield made
    api.request("DELETE", f"/v1/pool/sandboxes/{made['id']}").ok()


def test_row_144_nothing_is_used_twice(api):
    first = api.request("POST", "/v1/pool/sandboxes", data={}).ok(201)["id"]
    api.request("POST", f"/v1/pool/sandboxes/{first}/exec", data={"command": "echo x > /tmp/mine"}).ok()
    api.request("POST", f"/v1/pool/sandboxes/{first}/release", data={}).ok()
    second = api.request("POST", "/v1/pool/sandboxes", data={}).ok(201)["id"]
    done = api.request("POST", f"/v1/pool/sandboxes/{second}/exec", data={"command": "cat /tmp/mine"}).ok()
    assert second != first and done["exitCode"] != 0
    api.request("DELETE", f"/v1/pool/sandboxes/{second}").ok()


def test_row_153_output_is_capped_and_counted(api, pooled):
    line = {"command": "head -c 3000000 /dev/zero | tr '\\0' x"}
    done = api.request("POST", f"/v1/pool/sandboxes/{pooled['id']}/exec", data=line).ok()
    assert done["stdoutOmittedBytes"] == 3_000_000 - 2 * (1 << 20), {**done, "stdout": len(done["stdout"])}


def test_row_154_and_155_what_is_not_held_is_named(api, pooled):
    held = pooled["limits"]
    for name, usual in (("memory", 512 << 20), ("cpu", 1.0)):
        assert held[name] == usual or (held[name] is None and name in " ".join(pooled["notHeld"])), pooled
    assert held["pids"] == 512


def test_row_160_agents_have_none_only_by_the_setting(daemon, project):
    refused = daemon("agent", "create", "none", "backend=none")
    assert refused.code == 125 and "hutch settings set security.sandboxOnly false" in refused.errors
    daemon("run", "--backend", "none", "--", "true", cwd=project).ok()
    daemon("settings", "set", "security.sandboxOnly", "true").ok()
    try:
        assert "security.sandboxOnly" in daemon("run", "--backend", "none", "--", "true", cwd=project).errors
    finally:
        daemon("settings", "set", "security.sandboxOnly", "false").ok()


def test_row_164_every_host_is_no_entry(daemon):
    refused = daemon("settings", "set", "security.allowedHosts", json.dumps(["*"]))
    assert refused.code == 125 and "would allow every host" in refused.errors


def test_row_171_its_interfaces_are_a_package(packed):
    """What it does: tests/clients/augure_test.py."""
    assert packed["hutch-augure"].exists()


def test_row_173_the_skill_loop_is_an_example():
    assert (sources.ROOT / "examples/skill-loop/skills.mjs").exists()
