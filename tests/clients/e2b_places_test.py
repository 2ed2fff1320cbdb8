# What fails on this machine is told to who has a key without a place of it.
import os

import pytest

import api as client
import e2b


@pytest.fixture(scope="module")
def api(base):
    """A daemon of an ordinary user's: root is refused nothing."""
    if os.geteuid() != 0:
        pytest.skip("root alone can be several users")
    made = client.Api(base, base.person("user"))
    yield made
    made.stop()


@pytest.mark.parametrize("place", ["data/workspace/agents", "data/output", "data/bridge"])
def test_an_error_names_no_place_of_hutchs(api, place):
    first = e2b.rest(api, "POST", "/sandboxes", {"templateID": "base"}).ok(201)
    os.chmod(api.state / place, 0o500)
    try:
        refused = e2b.rest(api, "POST", "/sandboxes", {"templateID": "base"})
    finally:
        os.chmod(api.state / place, 0o700)
        e2b.rest(api, "DELETE", f"/sandboxes/{first['sandboxID']}")
    assert refused.status >= 400 and "Permission denied" in refused.json()["message"]
    assert str(api.state) not in refused.json()["message"] and str(api.person.home) not in refused.json()["message"]
