# The fixtures of the suites that need an internet: hutch runs in a network namespace that has one.
import subprocess

import pytest

import internet as internets

pytestmark = []


@pytest.fixture(scope="session")
def internet(base):
    """Hosts, names and a DNS of the tests' own (tests/lib/internet.py)."""
    why = internets.missing()
    if why:
        pytest.skip(why)
    made = internets.Internet(base.path / "internet")
    yield made
    made.stop()


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """The backends that have a gateway."""
    return request.param


@pytest.fixture
def hutch(internet, base, as_user, project, backend):
    """hutch as that person in `project`, with the internet as its network."""
    internet.forget()
    return internets.NetHutch(internet, base, as_user, project, backend)


@pytest.fixture(scope="session")
def repository(internet):
    """A name below /git of every host: there lies the bare repository tiny.git with one file in it."""
    name = "public"
    place = internet.www / "git" / name
    place.mkdir(parents=True)
    script = """git init -q -b main work && cd work && echo content > file && git add file &&
        git -c user.name=t -c user.email=t@good.example commit -q -m one && cd .. &&
        git clone -q --bare work tiny.git && git -C tiny.git update-server-info && rm -r work"""
    subprocess.run(["sh", "-c", script], cwd=place, check=True, env={"PATH": "/usr/bin:/bin", "HOME": str(place)})
    return name
