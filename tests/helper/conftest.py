# The fixtures of hutch-helper's suite.
import pytest


@pytest.fixture
def carol(machine):
    """carol's hutch, in her home."""
    return machine.hutch("carol")
