# Plugins of agents that are containers: what is said of every backend that has them (tests/lib/plugin_cases.py).
import os
import pathlib

import pytest

import plugin_cases
import recipes

globals().update({name: test for name, test in vars(plugin_cases).items() if name.startswith("test_")})


@pytest.fixture
def plugin_agent(daemon):
    name = daemon.create("autonomousExec.enabled=true")
    yield name
    daemon("agent", "remove", name).ok()


@pytest.fixture
def recipe(daemon):
    return recipes.Files(daemon)


SEED = pathlib.Path(plugin_cases.__file__).parents[1] / "plugins/data_tools.json"


@pytest.fixture(scope="module")
def pandas(engine):
    """The name of an image of Debian's own packages, pandas and what comes with it among them."""
    path = os.environ.get("HUTCH_TEST_PANDAS_IMAGE", "")
    if not path:
        pytest.skip("HUTCH_TEST_PANDAS_IMAGE names no archive of a Debian with python3-pandas, python3-matplotlib, "
                    "python3-seaborn and python3-pip")
    engine.load(path, "hutch-pandas:latest")
    return "hutch-pandas:latest"


def test_the_seeds_plugin_works_byte_for_byte(daemon, pandas):
    name = daemon.create(f"image={pandas}")
    daemon("secret", "set", "--agent", name, "OPENAI_API_KEY", stdin=b"sk-0123456789abcdef").ok()
    [done] = daemon.json("plugin", "install", "-", "--agent", name, stdin=SEED.read_bytes(), timeout=600)
    assert done["state"] == "ready"
    daemon.sh(name, "printf 'a,b\\n1,2\\n3,4\\n' > x.csv").ok()
    home = daemon.sh(name, "pwd").ok().text.strip()
    answer = daemon.tool(name, "python-data-tools_analyze_csv", file=f"{home}/x.csv")
    assert answer["ok"] and answer["result"]["exit_code"] == 0, answer
    rows = dict(line.split(None, 1) for line in answer["result"]["stdout"].splitlines()[1:])
    assert rows["mean"].split() == ["2.000000", "3.000000"] and rows["count"].split() == ["2.000000", "2.000000"]
    daemon("agent", "remove", name).ok()
    daemon("plugin", "remove", "python-data-tools").ok()
