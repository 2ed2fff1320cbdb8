# The fixtures of the suites about plugins: a daemon for each module, root's or an ordinary user's.
import os

import pytest

import daemons
import recipes

PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]


@pytest.fixture(scope="module", params=PEOPLE)
def daemon(request, base):
    """A daemon of that person's (daemons.Daemon), for the whole module; stopped at its end, and nothing is left."""
    made = daemons.Daemon(base, base.person(request.param))
    yield made
    made.stop()


@pytest.fixture
def own_daemon(base):
    """One for a single test; of root, or of whoever runs the tests."""
    made = daemons.Daemon(base, base.person(PEOPLE[0]))
    yield made
    made.stop()


@pytest.fixture
def agent(daemon):
    """A new agent with the default backend, which may do everything; removed at the end of the test."""
    name = daemon.create("autonomousExec.enabled=true")
    yield name
    daemon("agent", "remove", name).ok()


@pytest.fixture(params=["none", "bwrap", "namespace"])
def any_agent(daemon, request):
    """A new agent of each backend."""
    name = daemon.create(f"backend={request.param}")
    yield name
    daemon("agent", "remove", name).ok()


@pytest.fixture
def recipe(daemon, tmp_path_factory):
    """recipe(name, **members): the path of a recipe's file, which the daemon's person can read."""
    return recipes.Files(daemon)
