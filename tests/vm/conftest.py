# Virtual machines of a system that is one program, busybox; provisioned once for each person.
import dataclasses
import os
import pathlib
import shutil
import tarfile
import tempfile

import daemons
import harness
import host_image
from machines import alone, busybox_archive, provision
import pytest

# The processes of a run of the tests find here what one of them provisioned.
SHARED = "HUTCH_TEST_MACHINES"


def pytest_configure(config):
    if SHARED not in os.environ:
        parent = os.environ.get("HUTCH_TEST_BASE", "/var/tmp")
        os.environ[SHARED] = tempfile.mkdtemp(prefix="hutch-machines-", dir=parent)
        os.chmod(os.environ[SHARED], 0o711)
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(SHARED)))


@pytest.fixture(scope="session")
def root_archive(shared):
    """An archive of a root file system, which is there for as long as what is provisioned from it."""
    if not shutil.which("qemu-system-x86_64") or not shutil.which("tar2sqfs"):
        pytest.skip("virtual machines take qemu-system-x86 and squashfs-tools-ng")
    path = shared / "vm-root.tar"
    with alone(shared):
        return path if path.exists() else busybox_archive(path)


STORE = "/etc/ssl/certs/ca-certificates.crt"


@pytest.fixture(scope="session")
def python_root(base, root_archive):
    """With Python and a shell of this machine's, and a store of authorities that has nobody in it."""
    if not shutil.which("dpkg"):
        pytest.skip("the system is made of the packages of a Debian")
    path = host_image.archive(base.unused("python-root.tar"))
    with tarfile.open(path, "a") as archive:
        store = tarfile.TarInfo(STORE[1:])
        store.mode = 0o644
        archive.addfile(store)
    path.chmod(0o644)
    return path


class Machines(harness.Hutch):
    """hutch with a state of its own, in which a machine is provisioned."""

    def __init__(self, state, *others):
        super().__init__(*others)
        self.state = state

    def __call__(self, *args, env=None, **options):
        return super().__call__(*args, env={"HUTCH_STATE": str(self.state), **(env or {})}, **options)

    def popen(self, *command, env=None, **options):
        return super().popen(*command, env={"HUTCH_STATE": str(self.state), **(env or {})}, **options)

    def runs(self):
        """What machines that run have written."""
        place = self.state / "data" / "vm" / "runs"
        return sorted(entry.name for entry in place.iterdir()) if place.exists() else []


provisioned = set()


@pytest.fixture(scope="session")
def shared():
    return pathlib.Path(os.environ[SHARED])


@pytest.fixture
def machines(base, as_user, project, root_archive, shared):
    """hutch as that person (Machines); what it is called with runs on backend vm."""
    state = base.path / "vm-state" / as_user.name
    state.parent.mkdir(mode=0o755, exist_ok=True)
    if not state.exists():
        as_user.mkdir(state, 0o700)
    made = Machines(state, base, as_user, project, "vm")
    if as_user.name not in provisioned:
        provision(made, as_user, state / "data", root_archive, shared)
        provisioned.add(as_user.name)
    return made


@pytest.fixture
def fake_qemu(base):
    """A QEMU whose Linux starts, by whatever accelerates it."""
    path = base.path / "fake-qemu"
    if not path.exists():
        path.write_bytes(pathlib.Path(__file__).with_name("fake_qemu.py").read_bytes())
        path.chmod(0o755)
    return path


PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]


@pytest.fixture(scope="module", params=PEOPLE)
def daemon(request, base, root_archive, shared):
    # virtiofsd changes its groups if it has any, which an ordinary person's file server may not.
    person = dataclasses.replace(base.person(request.param), groups="24,46,100")
    made = daemons.Daemon(base, person)
    provision(made, person, made.data, root_archive, shared)
    yield made
    made.stop()
