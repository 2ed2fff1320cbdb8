# The fixtures of the suites that run other people's clients: a daemon for each person, packages from npm.
import os

import pytest

import api as client
import desks
import harness
import npm_packages
import pi as rig

npm, packed, provider, package = (npm_packages.npm, npm_packages.packed, npm_packages.provider, npm_packages.package)

PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]


@pytest.fixture(scope="module", params=PEOPLE)
def api(request, base):
    """A daemon with a TCP port (api.Api), for the whole module."""
    made = client.Api(base, base.person(request.param))
    yield made
    made.stop()


@pytest.fixture(params=harness.PEOPLE)
def person(request, base):
    return base.person(request.param)


@pytest.fixture
def desk(base, person, package):
    made = desks.Desk(base, person, package)
    rig.install(package, person, made.extensions)
    with made.model:
        yield made
        made.end()
