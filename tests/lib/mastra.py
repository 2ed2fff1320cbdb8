# Mastra, and programs of Node that use it against a daemon.
"""build(npm) is a directory with the provider of this repository; run_node(api, place, script) runs one there."""

import json
import os
import pathlib
import shutil

import harness

CLIENTS = pathlib.Path(__file__).parents[2] / "clients"
OPENAPI = CLIENTS.parent / "docs" / "openapi.json"
CORE = "@mastra/core@1.71.0"


def run_node(api, place, script, **environment):
    (place / "course.mjs").write_text(script)
    environment = {**api.environment(), "PATH": os.environ["PATH"], **environment}
    done = harness.run_in(api.person, ["node", place / "course.mjs"], cwd=place, env=environment, timeout=300)
    assert done.code == 0, str(done)
    return json.loads(done.text.splitlines()[-1])


def build(npm):
    """A directory with Mastra and the two packages of this repository, built, in its node_modules."""
    place = npm("typescript@5.6", "@types/node@20", CORE)
    tsc = place / "node_modules/typescript/bin/tsc"
    skipped = shutil.ignore_patterns("node_modules", "dist", "api.ts")
    for name, lines in (("typescript", [["node", "generate.mjs", OPENAPI, "src/api.ts"], ["node", tsc]]),
                        ("mastra", [["node", tsc, "--skipLibCheck"]])):
        package = json.loads((CLIENTS / name / "package.json").read_text())["name"]
        built = place / "node_modules" / package
        shutil.copytree(CLIENTS / name, built, ignore=skipped)
        for line in lines:
            done = harness.subprocess.run(line, cwd=built, capture_output=True, timeout=600, check=False)
            assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return place
