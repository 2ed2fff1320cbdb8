# Mastra, and programs of Node that use it against a daemon.
"""run_node(api, place, script) runs one in a directory that has them."""

import json
import os

import harness

CORE = "@mastra/core@1.71.0"
PACKAGES = ("typescript@5.6", "@types/node@20", CORE)


def run_node(api, place, script, **environment):
    (place / "course.mjs").write_text(script)
    environment = {**api.environment(), "PATH": os.environ["PATH"], **environment}
    done = harness.run_in(api.person, ["node", place / "course.mjs"], cwd=place, env=environment, timeout=300)
    assert done.code == 0, str(done)
    return json.loads(done.text.splitlines()[-1])
