# hutch doctor: what it says of a backend is what then happens.
import json

import pytest


@pytest.fixture
def checkup(hutch):
    """The doctor's findings here, as JSON."""
    return json.loads(hutch("doctor", "--json").ok().text)


def of(checkup, backend):
    return next(found for found in checkup["backends"] if found["name"] == backend)


def test_says_what_happens(hutch, checkup, backend):
    found = of(checkup, backend)
    result = hutch.run("/bin/true")
    if found["available"]:
        assert result.code == 0 and found["reason"] is None and found["remedy"] is None, str(result)
    else:
        assert result.code == 125 and found["reason"] in result.errors and found["remedy"] in result.errors


def test_text_has_the_same(hutch, checkup, backend):
    text = hutch("doctor").ok().text
    found = of(checkup, backend)
    line = next(line for line in text.splitlines() if line.strip().startswith(backend))
    assert ("not available" not in line) == found["available"]
    for value in (checkup["kernel"], checkup["data"], checkup["config"], checkup["guest"]):
        assert value in text


def test_finds_the_machine(checkup, as_user):
    assert checkup["user"]["uid"] == as_user.uid
    assert checkup["limits"]["held_by"] in ("rlimits", "cgroup v1", "cgroup v2", "systemd scope")
    assert checkup["seccomp"] is True and isinstance(checkup["landlock_abi"], int)


PLACES = {
    "a sandbox": ([], "a sandbox makes no other", "outside"),
    "a machine where they are switched off": (["/usr/bin/env", "-u", "HUTCH"], "user.max_user_namespaces is 0",
                                              "sysctl"),
}


@pytest.mark.parametrize("outer", ["namespace", "bwrap"])
@pytest.mark.parametrize("place", PLACES)
def test_without_user_namespaces_it_says_what_is_missing(hutch, outer, place):
    """There are none in a sandbox, which without its variables looks like a machine without them."""
    before, reason, remedy = PLACES[place]
    inner = json.loads(hutch.run(*before, hutch.program, "doctor", "--json", backend=outer).ok().text)
    found = of(inner, "namespace")
    assert not found["available"]
    assert reason in found["reason"] and remedy in found["remedy"]
    refused = hutch.run(*before, hutch.program, "run", "--backend", "namespace", "--", "/bin/true", backend=outer)
    assert refused.code == 125
    assert found["reason"] in refused.errors and found["remedy"] in refused.errors


def test_policy_that_cannot_be_read_is_said(hutch, as_user):
    if as_user.is_root:
        pytest.skip("root's own is /etc/hutch/default.json, which a test leaves alone")
    config = as_user.home / ".config/hutch/default.json"
    as_user.write(config, "{")
    try:
        checkup = json.loads(hutch("doctor", "--json").ok().text)
    finally:
        config.unlink()
    assert "default.json" in checkup["policy"]["error"]
