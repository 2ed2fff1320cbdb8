# Archives of root file systems, small enough to be made anew by each test.
import json

import harness
import pytest

from rootfs import SYSTEM, Rootfs


@pytest.fixture
def rootfs(as_user, project):
    """rootfs("name.tar") begins an archive in the project (Rootfs); close() gives its path."""
    return lambda name="rootfs.tar", mode="w": Rootfs(project / name, as_user, mode)


@pytest.fixture
def system(compiler):
    """The bytes of the only program of the small system."""
    return compiler.build(SYSTEM).read_bytes()


@pytest.fixture
def small(rootfs, system):
    """small("name.tar") begins an archive of a system whose only program is /bin/sys."""
    def begin(name="rootfs.tar", mode="w"):
        archive = rootfs(name, mode)
        for directory in (".", "./bin", "./etc", "./home", "./tmp"):
            archive.directory(directory)
        archive.file("./bin/sys", system)
        archive.file("./etc/os-release", b"NAME=small\n", mode=0o644)
        return archive
    return begin


class Box(harness.Hutch):
    """hutch with a state of its own for each test, so that no image of another is there."""

    def __init__(self, state, *others):
        super().__init__(*others)
        self.state = state
        self.images = state / "data" / "images"

    def __call__(self, *args, env=None, **options):
        return super().__call__(*args, env={"HUTCH_STATE": str(self.state), **(env or {})}, **options)

    def popen(self, *command, env=None, **options):
        return super().popen(*command, env={"HUTCH_STATE": str(self.state), **(env or {})}, **options)

    def names(self):
        """The images that are listed."""
        return [image["name"] for image in json.loads(self("image", "list", "--json").ok().text)]

    def left(self):
        """What lies below the directory of images besides locks."""
        if not self.images.exists():
            return []
        return sorted(entry.name for entry in self.images.iterdir() if not entry.name.endswith(".lock"))


@pytest.fixture
def box(base, as_user, project):
    """hutch as that person (Box); its images go with the test."""
    made = Box(as_user.mkdir(base.path / "state" / f"{project.name}-{as_user.name}", 0o700), base, as_user, project,
               "namespace")
    yield made
    for name in made.names():
        made("image", "remove", name)


@pytest.fixture
def image(box, small):
    """An image of the small system, called "small"."""
    box("image", "import", "small", small().close()).ok()
    return "small"
