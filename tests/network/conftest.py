# The fixtures of the suites that need an internet: hutch runs in a network namespace that has one.
import os

import pytest

import harness
import internet as internets
import internet_services as services
import os_user

OF_ROOT = ["user"] if os.geteuid() == 0 else []


def pytest_collection_modifyitems(config, items):
    """The internet and the machine of people who are not root are different mount namespaces."""
    def fits(item):
        params = getattr(item, "callspec", None) and item.callspec.params or {}
        return params.get("backend") != "user" or params.get("as_user", "root") == "root"

    items[:] = [item for item in items if fits(item)]
    internets.leave_pairs(config, items)


@pytest.fixture(scope="session")
def internet(base):
    """Hosts, names and a DNS of the tests' own (tests/lib/internet.py)."""
    with internets.running(base.path / "internet") as made:
        yield made


@pytest.fixture(params=["namespace", "bwrap"] + OF_ROOT)
def backend(request):
    """The backends that have a gateway."""
    return request.param


@pytest.fixture(params=harness.PEOPLE)
def as_user(request, base):
    """As everywhere, but that the backend user is root's with files of that user (os_user.Keeper)."""
    return os_user.person_of(request, base)


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
