# A home that the default policy hides: what questions about files, and the foretelling of them, are tried on.
import pytest

from greeters import Service


@pytest.fixture
def home(as_user, project):
    """A directory of the home that the default policy hides, with a file in it."""
    made = as_user.mkdir(as_user.home / f"hidden-{project.name}")
    as_user.write(made / "one", "first words")
    return made


@pytest.fixture
def shown(as_user, project):
    """One that can be read inside, and not written."""
    return as_user.mkdir(as_user.home / f"shown-{project.name}")


@pytest.fixture
def service(as_user, project):
    made = []

    def start(path):
        made.append(Service(path, as_user))
        return made[-1]

    yield start
    for one in made:
        one.stop()
