# The fixtures of the suites that speak HTTP: a daemon for each module, root's or an ordinary user's.
import os

import pytest

import api as client

PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]


@pytest.fixture(scope="module", params=PEOPLE)
def api(request, base):
    """A daemon with a TCP port (api.Api), for the whole module."""
    made = client.Api(base, base.person(request.param))
    yield made
    made.stop()


@pytest.fixture
def agent(api):
    """A new agent whose tools are on, removed at the end of the test."""
    name = api.create(autonomousExec={"enabled": True, "maxCommandsPerTurn": 0})
    yield name
    api.request("DELETE", f"/v1/agents/{name}").ok()
