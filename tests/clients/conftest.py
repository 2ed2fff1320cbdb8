# The fixtures of the suites that run other people's clients: a daemon for each person, packages from npm.
import json
import os
import shutil

import pytest

import api as client
import harness
import mastra

PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]


@pytest.fixture(scope="module", params=PEOPLE)
def api(request, base):
    """A daemon with a TCP port (api.Api), for the whole module."""
    made = client.Api(base, base.person(request.param))
    yield made
    made.stop()


@pytest.fixture(scope="session")
def npm(base):
    """npm(PACKAGE, ...) is a directory that has them in its node_modules; the test is skipped where npm has none."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    places = {}

    def install(*packages):
        if packages in places:
            return places[packages]
        place = base.unused("npm")
        place.mkdir()
        (place / "package.json").write_text(json.dumps({"name": "clients", "private": True, "type": "module"}))
        line = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1", *packages]
        done = harness.subprocess.run(line, cwd=place, timeout=600, capture_output=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"npm has no {' '.join(packages)}: {done.stderr.decode()[-300:]}")
        places[packages] = place
        return place

    yield install
    for place in places.values():
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def provider(npm):
    """A directory with Mastra's provider of this repository (mastra.build)."""
    return mastra.build(npm)
