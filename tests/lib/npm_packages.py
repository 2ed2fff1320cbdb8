# Fixtures of the suites that install packages from npm, this repository's own among them.
"""A conftest imports those that its tests take."""

import json
import pathlib
import shutil

import pytest

import clients
import harness
import mastra
import pi as rig


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
            pytest.skip(f"npm has no {' '.join(str(one) for one in packages)}: {done.stderr.decode()[-300:]}")
        places[packages] = place
        return place

    yield install
    for place in places.values():
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def packed(base, npm):  # npm: skipped where there is none
    """{name: file} of this repository's packages, where everybody can read them."""
    made = clients.packed()
    if isinstance(made, str):
        pytest.skip(made)
    place = base.unused("packed")
    place.mkdir()
    return {name: pathlib.Path(shutil.copy(file, place)) for name, file in made.items()}


@pytest.fixture(scope="session")
def provider(npm, packed):
    """A directory that was empty, with Mastra, this repository's two packages for it, and a compiler."""
    return npm(*mastra.PACKAGES, packed["hutch-mastra"], packed["hutch-sdk"])


@pytest.fixture(scope="session")
def package(npm, packed):
    """A directory that was empty, with pi, a node that it runs on, and this repository's package for it."""
    return npm(*rig.PACKAGES, packed["hutch-pi"])
