# Virtual machines of a system that is one program, busybox; provisioned once for each person.
import io
import shutil
import subprocess
import tarfile

import harness
import pytest

BUSYBOX = "/bin/busybox"


@pytest.fixture(scope="session")
def root_archive(base):
    """An archive of a root file system."""
    if not shutil.which("qemu-system-x86_64") or not shutil.which("tar2sqfs"):
        pytest.skip("virtual machines take qemu-system-x86 and squashfs-tools-ng")
    path = base.path / "vm-root.tar"
    names = subprocess.run([BUSYBOX, "--list"], check=True, capture_output=True, text=True).stdout.split()
    with tarfile.open(path, "w") as archive:
        for directory in (".", "./bin", "./etc", "./usr", "./root"):
            entry = tarfile.TarInfo(directory)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        archive.add(BUSYBOX, "./bin/busybox", filter=lambda entry: (setattr(entry, "mode", 0o755), entry)[1])
        for name in names:
            if name != "busybox":
                link = tarfile.TarInfo(f"./bin/{name}")
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                archive.addfile(link)
        users = b"root:x:0:0:root:/root:/bin/sh\n"
        passwd = tarfile.TarInfo("./etc/passwd")
        passwd.size = len(users)
        archive.addfile(passwd, io.BytesIO(users))
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


@pytest.fixture
def machines(base, as_user, project, root_archive):
    """hutch as that person (Machines); what it is called with runs on backend vm."""
    state = base.path / "vm-state" / as_user.name
    state.parent.mkdir(mode=0o755, exist_ok=True)
    if not state.exists():
        as_user.mkdir(state, 0o700)
    made = Machines(state, base, as_user, project, "vm")
    if as_user.name not in provisioned:
        made("vm", "provision", "--root", str(root_archive), timeout=300).ok()
        provisioned.add(as_user.name)
    return made
