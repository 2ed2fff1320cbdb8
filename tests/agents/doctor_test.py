# hutch doctor --backend: what a sandbox of a new agent can do, by trying.
import json

import pytest

CHECKS = ["exec", "network", "agentUser", "packageManager", "bridge"]


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_every_check_passes_and_nothing_stays(daemon, backend):
    before = daemon.json("agent", "list")
    said = daemon("doctor", "--backend", backend, "--json").ok()
    told = json.loads(said.text)
    assert [one["check"] for one in told["checks"]] == CHECKS
    assert told["passed"] and all(one["passed"] and one["detail"] for one in told["checks"]), told
    assert daemon.json("agent", "list") == before
    assert not list(daemon.state.rglob("doctor-*"))


def test_it_says_what_does_not_work(daemon):
    said = daemon("doctor", "--backend", "vm")
    assert said.code in (1, 125) and "hutch vm provision" in said.text + said.errors, str(said)
    assert not [one for one in daemon.json("agent", "list") if one["name"].startswith("doctor-")]
    assert not list(daemon.state.rglob("doctor-*"))


def test_it_is_for_people_as_well(daemon):
    said = daemon("doctor", "--backend", "namespace").ok()
    assert [line.split()[:2] for line in said.text.splitlines()] == [[check, "passed"] for check in CHECKS]
    assert daemon("doctor", "--backend", "nowhere").code == 125
