# The fixtures that the suites share; tests/lib/harness.py is what they are made of.
"""A test that takes `hutch` and `backend` runs on each backend, by root and an ordinary user (tests/lib/pairs.py)."""

import itertools
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import harness  # noqa: E402
import pairs  # noqa: E402
import people  # noqa: E402
import seed_plugin  # noqa: E402

numbers = itertools.count(1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Tests marked slow are skipped unless everything was asked for, and one person tries each backend."""
    pairs.leave_spare(config, items)
    if os.environ.get("HUTCH_TEST_ALL") == "1":
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: ./dev test --all"))


@pytest.fixture(scope="session")
def base():
    """The session's scratch directory (harness.Base): mode 0755, outside of every home and of /tmp."""
    made = harness.Base()
    yield made
    made.remove()


@pytest.fixture(scope="session")
def machine(base):
    """One on which root has let people have sandboxes that are OS users (tests/lib/people.py)."""
    why = people.missing()
    if why:
        pytest.skip(why)
    with people.running(base) as made:
        yield made


@pytest.fixture(scope="session")
def pandas_archive(base):
    """A Debian with pandas, from where this machine takes its packages."""
    if os.geteuid() != 0:
        pytest.skip("root alone unpacks a whole system here")
    return seed_plugin.archive(base.unused("pandas.tar"))


@pytest.fixture(params=harness.PEOPLE)
def as_user(request, base):
    """Who runs hutch (harness.Person): root, and an ordinary user without a passwd entry. When the tests
    themselves run unprivileged, that user alone. Has name, uid, home, mkdir(), write(), own(), environment()."""
    return base.person(request.param)


@pytest.fixture(params=harness.BACKENDS)
def backend(request):
    """The name of a backend; a test that takes this runs on all three."""
    return request.param


@pytest.fixture
def project(as_user, request):
    """A fresh, empty directory of that person's, two levels below their home: the default policy gives it and hides
    the rest of the home. This is where `hutch` runs."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:60]
    return as_user.mkdir(as_user.home / "projects" / f"{next(numbers)}-{name}")


@pytest.fixture
def hutch(base, as_user, project, request):
    """hutch as that person in `project` (harness.Hutch): hutch("explain", "--json") gives code, out and err (bytes);
    hutch.run("id", "-u") and hutch.sh("echo $HOME") add `run --backend B --`, with the test's own `backend` when it
    takes that fixture; hutch.popen(...) does not wait."""
    chosen = request.getfixturevalue("backend") if "backend" in request.fixturenames else None
    return harness.Hutch(base, as_user, project, chosen)


@pytest.fixture
def run_outside(as_user, project):
    """run_outside("cat", "file"): a program as that person in `project`, outside of any sandbox; as `hutch()`."""
    return lambda *argv, **options: harness.run_in(as_user, argv, **{"cwd": project, **options})


@pytest.fixture(scope="session")
def compiler(base):
    """Compiles C and keeps the results (harness.Compiler)."""
    return harness.Compiler(base)


@pytest.fixture
def compile_c(compiler, as_user, project):
    """compile_c(source, name="probe", flags=()) compiles C to a static program in `project` and returns its path: it
    can be run inside the sandbox and outside of it, by that person."""
    def build(source, name="probe", flags=()):
        return compiler.install(source, project, as_user, name, flags)
    return build
