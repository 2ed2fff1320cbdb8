# The fixtures of the suites about agents: a daemon for each module, root's or an ordinary user's.
import itertools
import os

import pytest

import daemons

PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]
numbers = itertools.count(1)


@pytest.fixture(scope="module", params=PEOPLE)
def daemon(request, base):
    """A daemon of that person's (daemons.Daemon), for the whole module; stopped at its end, and nothing is left."""
    made = daemons.Daemon(base, base.person(request.param))
    yield made
    made.stop()


@pytest.fixture
def own_daemon(request, base):
    """One for a single test; of root, or of whoever runs the tests."""
    made = daemons.Daemon(base, base.person(PEOPLE[0]))
    yield made
    made.stop()


@pytest.fixture
def agent(daemon):
    """A new agent with the default backend, removed at the end of the test."""
    name = daemon.create()
    yield name
    daemon("agent", "remove", name).ok()


@pytest.fixture(params=["none", "bwrap", "namespace"])
def any_agent(daemon, request):
    """A new agent of each backend. `name` is a str with the backend beside it."""
    name = daemon.create(f"backend={request.param}")
    yield name
    daemon("agent", "remove", name).ok()
