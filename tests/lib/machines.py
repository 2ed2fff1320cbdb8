# A root file system for virtual machines that is one program, busybox, and what is provisioned from it.
"""busybox_archive(path) writes it; what is provisioned from it has /bin/sh and the usual small programs. provision()
does that once in a run of the tests: it takes a machine that boots."""

import contextlib
import fcntl
import io
import pathlib
import subprocess
import tarfile

BUSYBOX = "/bin/busybox"


def busybox_archive(path):
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


def provision(hutch, person, data, archive, shared):
    """hutch's machines of that person are made of `archive`: by hutch for whoever comes first, for others copied from
    the directory `shared`. `data` is the state's directory of data."""
    kept, own = shared / person.name, pathlib.Path(data) / "vm"
    with alone(shared):
        if not kept.exists():
            hutch("vm", "provision", "--root", str(archive), timeout=300).ok()
            copy(own, kept)
            return
    if not own.parent.exists():
        person.mkdir(own.parent, 0o700)
    copy(kept, own)


def copy(source, target):
    """With the holes of a machine's memory."""
    subprocess.run(["cp", "--archive", "--sparse=always", str(source), str(target)], check=True)


@contextlib.contextmanager
def alone(directory):
    with open(directory / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
