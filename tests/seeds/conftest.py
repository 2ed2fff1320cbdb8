# The rows of what was found to differ between hutch and where its people come from, as cases: the row in the name.
"""A person without any right of the machine's runs them, with a daemon of their own."""

import pytest

import daemons
import npm_packages

npm, packed, provider = npm_packages.npm, npm_packages.packed, npm_packages.provider


@pytest.fixture(scope="module")
def person(base):
    return base.person("user")


@pytest.fixture(scope="module")
def daemon(base, person):
    made = daemons.Daemon(base, person)
    yield made
    made.stop()


@pytest.fixture
def agent(daemon):
    """One whose tools are on."""
    name = daemon.create("autonomousExec.enabled=true", "autonomousExec.maxCommandsPerTurn=0")
    yield name
    daemon("agent", "remove", name).ok()


@pytest.fixture
def project(person, request):
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:60]
    return person.mkdir(person.home / "projects" / name)
