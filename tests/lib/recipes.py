# Recipes of plugins that tests install.
"""Files(daemon)(name, **members) writes one where the daemon's person can read it, and returns its path."""

import itertools
import json

NUMBERS = itertools.count(1)


def tool(id, run, **parameters):
    """A tool whose parameters are texts, or given whole."""
    given = {name: value if isinstance(value, dict) else {"type": value} for name, value in parameters.items()}
    return {"id": id, "description": f"does {id}", "run": run, "parameters": given}


def recipe(name, **members):
    return {"name": name, "description": "made by a test", **members}


class Files:
    def __init__(self, daemon):
        self.daemon = daemon

    def __call__(self, name, **members):
        return self.write(json.dumps(recipe(name, **members)))

    def write(self, text):
        return self.daemon.person.write(self.daemon.state / f"recipe{next(NUMBERS)}.json", text)
