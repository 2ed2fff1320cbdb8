# The backends of this suite: those that everybody has, and for root that of OS users.
import os

import pytest

import harness
import os_user

OF_ROOT = ["user"] if os.geteuid() == 0 else []


@pytest.fixture(params=harness.BACKENDS + OF_ROOT)
def backend(request):
    """The name of a backend; a test that takes this runs on each."""
    return request.param


@pytest.fixture(params=harness.PEOPLE)
def as_user(request, base):
    """As everywhere, but with the backend user files are of that user (os_user.person_of)."""
    return os_user.person_of(request, base)
