# Containers for the tests: engines, an image, and hutch whose sandboxes they are.
import itertools
import os
import pathlib
import shutil

import pytest

import daemons
import engines
import harness
import host_image

IMAGE = "hutch-tests:latest"  # and hutch's own default
FIRST_INSTALL = "test_what_is_installed_stays"
PLACES = "test_what_lies_where_hutch_has_places"
UNDONE = "test_what_no_container_starts_with_is_undone"
FIRST_PLACE = f"{PLACES}[podman-etc-link to the project"
OF_ALL = ("test_attack", "test_what_it_changes_of_its_own_is_not_the_hosts")
# About half of the time.
FIRST_HALF = ("dockerfile_test.py", "doctor_test.py", "egress_test.py", "install_test.py", "plugins_test.py",
              "run_test.py", "same_test.py", "secret_test.py")
WHO = ("docker", "podman", "root", "user")
numbers = itertools.count(1)
useless = {}  # engines that start no container on this machine, and why


@pytest.fixture(scope="session", params=sorted(engines.PROGRAMS))
def engine(request):
    """A real engine that runs."""
    if request.param in useless:
        pytest.skip(useless[request.param])
    try:
        with engines.running(request.param) as made:
            yield made
    except engines.NotHere as why:
        pytest.skip(str(why))


@pytest.fixture(scope="session")
def host_archive(base):
    """A root file system of this machine's own programs."""
    if not shutil.which("dpkg"):
        pytest.skip("the tests' image is made of the packages of a Debian")
    return host_image.archive(base.unused("host.tar"))


@pytest.fixture(scope="session")
def loaded_engine(engine, host_archive):
    """One that has the image."""
    engine.load(host_archive, IMAGE)
    status, text = engine.ask("POST", f"/v1.41/images/{IMAGE}/tag?repo=hutch-sandbox&tag=latest")
    assert status == 201, text
    try:
        engine.check_starts(IMAGE)
    except engines.NotHere as why:
        useless[engine.kind] = str(why)
        pytest.skip(str(why))
    return engine


class ContainerDaemon(daemons.Daemon):
    """Whose agents are containers of that engine."""

    def __init__(self, base, person, engine):
        super().__init__(base, person)
        self.engine = engine

    def options(self, given):
        return super().options({**given, "env": {"DOCKER_HOST": self.engine.host, **given.get("env", {})}})

    def create(self, *settings, name=None):
        return super().create("backend=container", f"image={IMAGE}", *settings, name=name)

    def guests(self):
        return len(self.engine.containers())

    def remains(self):
        # The cgroups are the engine's.
        others = [one for one in super().remains() if not one.startswith("cgroup ")]
        return others + [f"container {one['Names']}" for one in self.engine.containers()]


@pytest.fixture(scope="module")
def daemon(loaded_engine, base):
    made = ContainerDaemon(base, base.person("root"), loaded_engine)
    yield made
    made.stop()


@pytest.fixture
def agent(daemon):
    """A new agent, removed at the end of the test."""
    name = daemon.create()
    yield name
    daemon("agent", "remove", name).ok()


any_agent = agent


class ContainerHutch(harness.Hutch):
    """hutch whose runs are containers of that engine."""

    def __init__(self, engine, state, *others):
        super().__init__(*others, "container")
        self.engine, self.state = engine, state

    def __call__(self, *args, **options):
        return super().__call__(*args, **self.with_engine(options))

    def popen(self, *command, **options):
        return super().popen(*command, **self.with_engine(options))

    def with_engine(self, options):
        return {**options, "env": {**self.variables(), **(options.get("env") or {})}}

    def variables(self):
        return {"DOCKER_HOST": self.engine.host, "HUTCH_STATE": str(self.state)}

    def backend_option(self, backend):
        return ["--backend", "container", "--image", IMAGE]


@pytest.fixture
def backend(loaded_engine):
    return "container"


@pytest.fixture
def hutch(base, as_user, project, request):
    """As everywhere; a test that takes `backend` as well runs in containers, and leaves none."""
    if "backend" not in request.fixturenames:
        yield harness.Hutch(base, as_user, project)
        return
    engine = request.getfixturevalue("loaded_engine")
    yield ContainerHutch(engine, as_user.mkdir(as_user.home / f"state-{next(numbers)}"), base, as_user, project)
    harness.wait_until(lambda: not engine.containers(), "no container is left")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items):
    """What is said of every backend is said by each test once, of either engine and person in turn; of all with
    ./dev test --all. What is about containers is always tried with both."""
    if os.environ.get("HUTCH_TEST_ALL") == "1":
        return
    cases, left = {}, set()
    for item in items:
        if item.path.name == "install_test.py" and "[podman" in item.name and not item.name.startswith(FIRST_INSTALL):
            left.add(item)  # podman takes some 10 s for each
        if item.name.startswith(f"{PLACES}[podman") and not item.name.startswith(FIRST_PLACE):
            left.add(item)  # likewise, and more after each container that it could not start
        if item.name.startswith(UNDONE) and not item.name.startswith(f"{UNDONE}[docker-linked"):
            left.add(item)  # two installations and a new container for each
        shared = item.path.name == "same_test.py" or getattr(item, "originalname", "") in OF_ALL
        if not shared or item.path.parent != pathlib.Path(__file__).parent:
            continue
        words = item.name.removesuffix("]").partition("[")
        rest = tuple(word for word in words[2].split("-") if word not in WHO)
        cases.setdefault((words[0], rest), []).append(item)
    for number, same in enumerate(cases.values()):
        chosen = number % len(same)
        left.update(item for index, item in enumerate(same) if index != chosen)
    items[:] = [item for item in items if item not in left]
    keep_engines_apart(items)


def keep_engines_apart(items):
    """A worker has one engine: each takes half a minute to start and to get its image. With --dist loadgroup."""
    for item in items:
        kind = getattr(item, "callspec", None) and item.callspec.params.get("engine")
        if kind and item.path.parent == pathlib.Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group(f"{kind} {item.path.name in FIRST_HALF}"))
