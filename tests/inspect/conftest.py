# Fixtures of the inspector's tests.
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import inspector as inspectors  # noqa: E402
import servers  # noqa: E402


@pytest.fixture(scope="session")
def pki(tmp_path_factory):
    return servers.Pki(tmp_path_factory.mktemp("pki"))


@pytest.fixture
def inspector(pki):
    """A running hutch-inspect that trusts the tests' CA besides nothing; it has to end well."""
    made = inspectors.Inspector(inspectors.program(), [str(pki.ca)])
    assert made.certificate(), made.failed
    yield made
    made.stop()


@pytest.fixture(scope="session")
def plain_server():
    return servers.HttpServer()


@pytest.fixture(scope="session")
def tls_server(pki):
    return servers.HttpServer(pki.server_context("api.example.com"))
