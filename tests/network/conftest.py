# The fixtures of the suites that need an internet: hutch runs in a network namespace that has one.
import os

import pytest

import harness
import internet as internets
import internet_services as services
import os_user
import people

OF_ROOT = ["user"] if os.geteuid() == 0 else []


# By hutch-helper: what goes out and what does not. Questions and the rest are hutch's own, whoever starts the guest.
BY_HELPER = {"clients_test", "idle_test", "ports_test", "reach_test", "streams_test", "tls_test", "udp_test"}


def pytest_collection_modifyitems(items):
    def fits(item):
        params = getattr(item, "callspec", None) and item.callspec.params or {}
        by_helper = params.get("backend") == "user" and params.get("as_user", "root") != "root"
        return not by_helper or item.module.__name__.rsplit(".", 1)[-1] in BY_HELPER

    items[:] = [item for item in items if fits(item)]


@pytest.fixture(scope="session")
def internet(base):
    """Hosts, names and a DNS of the tests' own (tests/lib/internet.py)."""
    with internets.running(base.unused("internet")) as made:
        yield made


@pytest.fixture(params=["namespace", "bwrap"] + OF_ROOT)
def backend(request):
    """The backends that have a gateway."""
    return request.param


@pytest.fixture(params=harness.PEOPLE)
def as_user(request, base):
    """As everywhere, but with the backend user files are of that user (os_user.person_of)."""
    person = os_user.person_of(request, base)
    if isinstance(person, people.Keeper):
        request.getfixturevalue("internet").lend(person.machine)
    return person


@pytest.fixture
def hutch(internet, base, as_user, project, backend):
    """hutch as that person in `project`, with the internet as its network."""
    internet.forget()
    return internets.NetHutch(internet, base, as_user, project, backend)


@pytest.fixture(scope="session")
def repository(internet):
    """A name below /git of every host: there lies the bare repository tiny.git with one file in it."""
    return services.git_repository(internet, "public").parent.name


@pytest.fixture
def with_ca(internet, backend):
    """Options by which programs may read the file of the internet's own authority."""
    return [] if backend == "user" else ["--allow-read", str(internet.ca)]
