# Plugins of agents that are containers: what is said of every backend that has them (tests/lib/plugin_cases.py).
import pytest

import plugin_cases
import recipes
import seed_plugin

globals().update({name: test for name, test in vars(plugin_cases).items() if name.startswith("test_")})


@pytest.fixture
def plugin_agent(daemon):
    name = daemon.create("autonomousExec.enabled=true")
    yield name
    daemon("agent", "remove", name).ok()


@pytest.fixture
def recipe(daemon):
    return recipes.Files(daemon)


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_the_seeds_plugin_works_byte_for_byte(daemon, engine, pandas_archive):
    engine.load(pandas_archive, "hutch-pandas:latest")
    name = daemon.create("image=hutch-pandas:latest", "inference=true")
    seed_plugin.works(daemon, name)
    daemon("agent", "remove", name).ok()
