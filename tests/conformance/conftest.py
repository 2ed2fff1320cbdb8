# The backends of this suite: those that everybody has, and for root that of OS users.
import os

import pytest

import harness
import os_user

OF_ROOT = ["user"] if os.geteuid() == 0 else []


def pytest_collection_modifyitems(items):
    """Only root's hutch starts a sandbox as another user."""
    def is_kept(item):
        params = getattr(item, "callspec", None) and item.callspec.params or {}
        return params.get("backend") != "user" or params.get("as_user", "root") == "root"

    items[:] = [item for item in items if is_kept(item)]


@pytest.fixture(params=harness.BACKENDS + OF_ROOT)
def backend(request):
    """The name of a backend; a test that takes this runs on each."""
    return request.param


@pytest.fixture(params=harness.PEOPLE)
def as_user(request, base):
    """As everywhere, but that the backend user is root's with files of that user (os_user.Keeper)."""
    spec = getattr(request.node, "callspec", None)
    if spec and spec.params.get("backend") == "user":
        return os_user.keeper(base)
    return base.person(request.param)
