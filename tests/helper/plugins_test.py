# Plugins of agents that are OS users: of root's daemon, and of a person's who is not root (tests/lib/plugin_cases.py).
import pathlib
import sys

import pytest

import plugin_cases
import recipes
import shared_limits

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tools_test  # noqa: E402

globals().update({name: test for name, test in vars(plugin_cases).items() if name.startswith("test_")})


@pytest.fixture(scope="module", params=tools_test.PEOPLE)
def daemon(request, machine):
    person = machine.base.person("root") if request.param == "root" else machine.person(request.param)
    made = tools_test.Daemon(machine, person)
    yield made
    made.stop()


@pytest.fixture
def plugin_agent(daemon):
    name = daemon.create("autonomousExec.enabled=true")
    yield name
    daemon("agent", "remove", name).ok()


@pytest.fixture
def recipe(daemon):
    return recipes.Files(daemon)


def test_its_limits_are_the_agents(daemon, recipe):
    """Each sandbox is held by a helper of its own."""
    name = daemon.create("autonomousExec.enabled=true", "limits.memory=64M")
    shared_limits.memory_is_of_both_together(daemon, name, recipe)
    daemon("agent", "remove", name).ok()
