# What is said of every backend, for a folder that has one of its own: the same tests, from the folders that have them.
import importlib.util
import inspect
import pathlib

import pytest

TESTS = pathlib.Path(__file__).resolve().parent.parent


def with_argument(argument, path, otherwise, quick=None):
    """Names and tests of that file which take the argument, but for those in `otherwise`; where `quick` is given the
    others are slow."""
    spec = importlib.util.spec_from_file_location(f"same_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in vars(module).items():
        if name.startswith("test_") and name not in otherwise and argument in inspect.signature(value).parameters:
            is_quick = quick is None or name in quick
            yield f"{name}__{path.stem}", value if is_quick else pytest.mark.slow(value)


def of_agents_and_commands(otherwise, quick=None):
    """Those of agents, and of how commands run and end."""
    found = {}
    for file in sorted((TESTS / "agents").glob("*_test.py")):
        found.update(with_argument("any_agent", file, otherwise, quick))
    for word in ("ends", "exit", "streams", "terminal"):
        found.update(with_argument("backend", TESTS / "conformance" / f"{word}_test.py", otherwise, quick))
    return found
