# The fixtures of the suites that need an internet: hutch runs in a network namespace that has one.
import pytest

import internet as internets
import internet_services as services


def pytest_collection_modifyitems(config, items):
    internets.leave_pairs(config, items)


@pytest.fixture(scope="session")
def internet(base):
    """Hosts, names and a DNS of the tests' own (tests/lib/internet.py)."""
    with internets.running(base.path / "internet") as made:
        yield made


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
    return services.git_repository(internet, "public").parent.name
