# What machines start from: a kernel of a file, and a provisioning that is killed and goes on.
import io
import itertools
import json
import os
import shutil
import signal
import subprocess
import tarfile

import harness
import oci
import pytest

from places import Place, QEMU

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="other programs are mounted over apt-get and QEMU by root")

RELEASE = "6.1.0-9-cloud-amd64"
NUMBERS = itertools.count(1)
STEPS = ("apt-get", "dpkg-deb", "tar2sqfs")

# In a program's place: notes that it was called, and where it is held leaves half of what it makes and waits.
HELD = """#!/bin/sh
echo >> {place}/called-{name}
if [ -e {place}/hold-{name} ]; then
  {half}
  : > {place}/reached-{name}
  while [ -e {place}/hold-{name} ]; do sleep 0.1; done
  {half}
  exit 1
fi
{real}
"""


class Fakes:
    """The programs of a provisioning, as quick as can be, each of which can be held."""

    def __init__(self, base, place, fake_qemu):
        self.place = place
        self.top = base.path / f"fakes-{place.state.name}"
        self.top.mkdir(mode=0o755)
        self.top.chmod(0o777)
        package = self.top / "kernel.deb"
        make_package(self.top / "tree", package)
        half = {"apt-get": "echo half > half.deb", "dpkg-deb": 'mkdir -p "$3/boot"; echo half > "$3/boot/vmlinuz-0"',
                "tar2sqfs": 'for last; do :; done; echo half > "$last"'}
        real = {"apt-get": f"cp {package} linux-image.deb", "dpkg-deb": f'exec {self.top}/real-dpkg-deb "$@"',
                "tar2sqfs": f'exec {self.top}/real-tar2sqfs "$@"'}
        for name in ("dpkg-deb", "tar2sqfs"):
            (self.top / f"real-{name}").write_bytes(open(f"/usr/bin/{name}", "rb").read())
            (self.top / f"real-{name}").chmod(0o755)
        for name in STEPS:
            self.put(name, HELD.format(place=self.top, name=name, half=half[name], real=real[name]))
        self.put("apt-cache", "#!/bin/sh\n")
        place.over(QEMU, fake_qemu)

    def put(self, name, text):
        path = self.top / name
        path.write_text(text)
        path.chmod(0o755)
        self.place.over(f"/usr/bin/{name}", path)

    def calls(self, name):
        path = self.top / f"called-{name}"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def hold(self, name):
        (self.top / f"hold-{name}").touch()

    def release(self, name):
        (self.top / f"hold-{name}").unlink()
        (self.top / f"reached-{name}").unlink(missing_ok=True)

    def is_reached(self, name):
        return (self.top / f"reached-{name}").exists()


def make_package(tree, package):
    module = tree / f"lib/modules/{RELEASE}/kernel/fs/fuse/fuse.ko"
    for directory in (tree / "DEBIAN", tree / "boot", module.parent):
        directory.mkdir(parents=True)
    (tree / "DEBIAN/control").write_text("Package: linux-image-none\nVersion: 1\nArchitecture: all\n"
                                         "Maintainer: nobody <nobody@example.org>\nDescription: none\n")
    (tree / f"boot/vmlinuz-{RELEASE}").write_bytes(os.urandom(100_000))
    module.write_bytes(os.urandom(10_000))
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, package], check=True, capture_output=True)


@pytest.fixture
def place(base, root_archive, fake_qemu):
    made = Place(base, base.person("user"), f"whole{next(NUMBERS)}")
    made.fakes = Fakes(base, made, fake_qemu)
    made.provision = ("vm", "provision", "--root", root_archive)
    return made


def whole(place):
    """Everything that is there is what the manifest says."""
    manifest = json.loads(place.file("manifest.json").read_text())
    names = {path.name for path in place.file("").iterdir()}
    assert names - {"kvm.json"} == {*manifest["sums"], "manifest.json"}, names
    place("vm", "status").ok()
    return manifest


@as_root
@pytest.mark.parametrize("step", STEPS)
def test_what_was_whole_before_a_kill_is_taken(place, step):
    fakes = place.fakes
    fakes.hold(step)
    with place.popen(*place.provision) as process:
        harness.wait_until(lambda: fakes.is_reached(step), "the step is reached")
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
    assert place.status()["provisioned"] is False
    fakes.release(step)  # what was left of it writes on
    said = place(*place.provision).ok()
    before = {"apt-get": [], "dpkg-deb": ["the kernel's package"], "tar2sqfs": ["the kernel"]}[step]
    taken = [line for line in said.errors.splitlines() if "taken from before" in line]
    assert taken == [f"hutch: {what}: taken from before" for what in before], said
    assert fakes.calls("apt-get") == (2 if step == "apt-get" else 1)
    manifest = whole(place)
    assert manifest["release"] == RELEASE and manifest["modules"] == ["module-fuse"]
    assert place.file("kernel").read_bytes() == (fakes.top / f"tree/boot/vmlinuz-{RELEASE}").read_bytes()
    # One that came to its end is not gone on from: all of the next is new.
    said = place(*place.provision).ok()
    assert "taken from before" not in said.errors and not (place.state / "data/vm/begun").exists(), said


@as_root
def test_what_failed_goes_on_where_it_was(place):
    fakes = place.fakes
    fakes.put("tar2sqfs", "#!/bin/sh\ncat > /dev/null\necho the disk is full >&2\nexit 1\n")
    refused = place(*place.provision)
    assert refused.code == 125 and "the disk is full" in refused.errors and "goes on from there" in refused.errors
    place.mounts.append(f"mount --bind {fakes.top}/real-tar2sqfs /usr/bin/tar2sqfs")
    # Whatever is not as it was made is made anew.
    kernel = place.state / "data/vm/begun/kernel"
    kernel.write_bytes(kernel.read_bytes()[:-1])
    said = place(*place.provision).ok()
    assert "the kernel's package: taken from before" in said.errors and "hutch: the kernel: taken" not in said.errors
    assert fakes.calls("apt-get") == 1
    whole(place)


@as_root
def test_killed_at_any_moment_it_has_the_old_or_the_new(place):
    place(*place.provision).ok()
    ended = 0
    for i in range(24):
        with place.popen(*place.provision) as process:
            try:
                process.wait(timeout=0.02 + 0.04 * i)
                ended += 1
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.wait(timeout=30)
            process.stderr.close()
        assert place.status()["provisioned"] is True
        manifest = json.loads(place.file("manifest.json").read_text())
        assert all(place.file(name).exists() for name in manifest["sums"])
    assert ended < 24
    place(*place.provision).ok()
    whole(place)
    left = sorted(path.name for path in (place.state / "data/vm").iterdir())
    assert left == ["files", "lock", "runs"], left


@as_root
def test_two_at_once_wait_for_each_other(place):
    place.fakes.hold("tar2sqfs")
    with place.popen(*place.provision) as first:
        harness.wait_until(lambda: place.fakes.is_reached("tar2sqfs"), "the first is in the middle")
        with place.popen(*place.provision) as second:
            with pytest.raises(subprocess.TimeoutExpired):
                second.wait(timeout=1)
            assert place.fakes.calls("tar2sqfs") == 1
            place.fakes.release("tar2sqfs")
            assert first.wait(timeout=60) == 125
            assert second.wait(timeout=60) == 0
            assert b"the kernel: taken from before" in second.stderr.read()
    whole(place)


# --- a kernel of a file ---

DIRECTORIES = {"virtio_blk": "drivers/block", "virtio_console": "drivers/char", "virtio-rng": "drivers/char/hw_random",
               "failover": "net/core", "net_failover": "drivers/net", "virtio_net": "drivers/net", "fuse": "fs/fuse",
               "virtiofs": "fs/fuse", "overlay": "fs/overlayfs", "squashfs": "fs/squashfs", "ext4": "fs/ext4"}


@pytest.fixture
def top(base, request):
    """A directory that everybody may look at."""
    path = base.path / "kernels" / request.node.name
    path.mkdir(parents=True)
    path.parent.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def kernel(machines, top):
    """That of a machine that was provisioned, and its modules as a distribution has them, packed in two ways."""
    files = machines.state / "data/vm/files"
    for path in sorted(files.glob("module-*")):
        name = path.name.removeprefix("module-")
        directory = top / "modules/kernel" / DIRECTORIES.get(name, "drivers/virtio")
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{name}.ko").write_bytes(path.read_bytes())
        if name in ("fuse", "overlay"):
            packer = "xz" if name == "fuse" else "gzip"
            subprocess.run([packer, directory / f"{name}.ko"], check=True)
    image = top / "vmlinuz"
    image.write_bytes((files / "kernel").read_bytes())
    for path in [top, *top.rglob("*")]:
        path.chmod(0o755)
    return image


@pytest.fixture
def other(base, as_user, machines, kernel, root_archive):
    """hutch as that person, with a state in which nothing is provisioned."""
    state = base.path / "vm-kernel" / as_user.name
    state.parent.mkdir(mode=0o755, exist_ok=True)
    if not state.exists():
        as_user.mkdir(state, 0o700)
    machines.state = state
    machines.archive = root_archive
    return machines


def test_a_kernel_of_a_file_is_started(other, kernel, as_user):
    if as_user.is_root:
        pytest.skip("one person's is enough")
    said = other("vm", "provision", "--root", str(other.archive), "--kernel", str(kernel), "--modules",
                 str(kernel.parent / "modules"), timeout=300).ok()
    status = json.loads(other("vm", "status", "--json").ok().out)
    assert status["snapshot"] is True, said
    assert other.run("uname", "-r", timeout=120).ok().text.strip() == status["kernel"]
    manifest = json.loads((other.state / "data/vm/files/manifest.json").read_text())
    assert manifest["request"]["kernel"] == str(kernel)
    # It is the copy that is started, and held to its checksum.
    kernel.write_bytes(b"another")
    other.run("true", timeout=120).ok()
    copy = other.state / "data/vm/files/kernel"
    copy.write_bytes(copy.read_bytes()[:-1] + b"x")
    refused = other.run("true")
    assert refused.code == 125 and "is not what was provisioned" in refused.errors, refused


def test_a_kernel_without_what_it_needs_is_refused(other, kernel, as_user):
    if as_user.is_root:
        pytest.skip("one person's is enough")
    (kernel.parent / "modules/kernel/drivers/char/virtio_console.ko").unlink()
    refused = other("vm", "provision", "--root", str(other.archive), "--kernel", str(kernel), "--modules",
                    str(kernel.parent / "modules"), timeout=300)
    assert refused.code == 125 and "does not start a machine" in refused.errors, refused
    empty = kernel.parent / "empty"
    empty.mkdir()
    refused = other("vm", "provision", "--root", str(other.archive), "--kernel", str(kernel), "--modules", str(empty))
    assert refused.code == 125 and "no module of a kernel's" in refused.errors, refused
    refused = other("vm", "provision", "--root", str(other.archive), "--kernel", str(kernel), timeout=300)
    assert refused.code == 125 and "--modules DIR has" in refused.errors, refused


def make_bad(top):
    (top / "text").write_text("not a kernel\n")
    (top / "empty").write_bytes(b"")
    with open(top / "large", "wb") as file:
        file.truncate((64 << 20) + 1)
    os.mkfifo(top / "fifo")
    (top / "loop").symlink_to("loop")
    (top / "dangling").symlink_to("nowhere")
    (top / "elf").write_bytes(b"\x7fELF" + bytes(5000))
    (top / "short").write_bytes(b"MZ" + bytes(600))


BAD = {"text": "no Linux's header", "empty": "it is empty", "large": "larger than", "fifo": "not a regular file",
       "loop": "Too many levels", "dangling": "No such file", "absent": "No such file", "elf": "bzImage is the one",
       "short": "for the firmware", ".": "is a directory", "/dev/zero": "not a regular file"}


def test_what_is_no_kernel_is_refused(other, top):
    make_bad(top)
    for name, why in BAD.items():
        refused = other("vm", "provision", "--root", str(other.archive), "--kernel", str(top / name), timeout=30)
        assert refused.code == 125 and why in refused.errors, (name, refused)
    for words in (["--modules", "/lib"], ["--kernel", "linux-image-amd64", "--modules", "/"]):
        refused = other("vm", "provision", *words)
        assert refused.code == 125 and "--modules is for a kernel of a file" in refused.errors, refused
    assert "--modules" in other("vm", "start", "--modules", "/").errors


# --- the root's archive ---


def layer(*files):
    """A tar of these: (name, bytes, mode), a directory where there are no bytes, a link where they are text."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content, mode in files:
            entry = tarfile.TarInfo(name)
            entry.mode, entry.uid, entry.gid = mode, 7, 9
            if content is None:
                entry.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
            else:
                entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return packed.getvalue()


LAYERS = [
    layer(("etc", None, 0o755), ("etc/replaced", b"old", 0o644), ("etc/gone", b"x", 0o644), ("usr/share", None, 0o755),
          ("usr/share/below", b"x", 0o644), ("etc/stays", b"stays", 0o4751)),
    layer(("etc/replaced", b"new", 0o600), ("etc/.wh.gone", b"", 0o644), ("usr/share/.wh..wh..opq", b"", 0o644),
          ("usr/share/own", "../own", 0o777)),
]


def describe(system):
    """By path: kind, mode and owner, as the file system has them."""
    said = subprocess.run(["rdsquashfs", "-d", system], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in said.splitlines()]
    return {"/" + row[1].strip("/"): (row[0], *row[2:5]) for row in rows if row[1] != "/"}


@pytest.fixture
def small(base, top, fake_qemu):
    """hutch whose machines are no more than a kernel's header and whatever root there is; gives what provisions."""
    image = bytearray(0x4000)
    for at, value in ((0x1FE, b"\x55\xaa"), (0x202, b"HdrS\x0f\x02"), (0x20E, b"\x00\x30\x00\x01"), (0x236, b"\x3f"),
                      (0x3200, b"1.2.3 (x)")):
        image[at:at + len(value)] = value
    (top / "vmlinuz").write_bytes(image)
    place = Place(base, base.person("user"), f"small{next(NUMBERS)}")
    place.over(QEMU, fake_qemu)
    top.chmod(0o755)

    def provision(root, **options):
        return place("vm", "provision", "--kernel", top / "vmlinuz", "--root", root, **options)

    provision.place = place
    return provision


@as_root
@pytest.mark.parametrize("kind", ["layout", "oci-archive", "docker-archive", "packed"])
def test_layers_of_an_image_become_the_root(small, base, top, kind):
    person = base.person("root")
    image = oci.Image(LAYERS, **({"kind": oci.LAYER + "+gzip", "pack": oci.gzipped} if kind != "layout" else {}))
    image.write(top / "layout", person)
    root = top / "layout"
    if kind != "layout":
        archive = "docker-archive" if kind == "docker-archive" else "oci-archive"
        subprocess.run(["skopeo", "copy", "-q", f"oci:{root}", f"{archive}:{top / 'image.tar'}:a:b"], check=True)
        root = top / "image.tar"
    if kind == "packed":
        subprocess.run(["gzip", root], check=True)
        root = top / "image.tar.gz"
    for path in [top, *top.rglob("*")]:
        path.chmod(0o755)
    said = small(root).ok()
    assert "taking the layers of an image" in said.errors, said
    found = describe(small.place.file("system"))
    assert set(found) == {"/etc", "/etc/replaced", "/etc/stays", "/usr", "/usr/share", "/usr/share/own"}, found
    assert found["/etc/replaced"] == ("file", "0600", "7", "9") and found["/etc/stays"] == ("file", "04751", "7", "9")
    content = subprocess.run(["rdsquashfs", "-c", "/etc/replaced", small.place.file("system")], check=True,
                             capture_output=True).stdout
    assert content == b"new"
    assert small.place.status()["provisioned"] is True


@as_root
def test_what_is_no_root_is_refused(small, base, top, root_archive):
    whole = root_archive.read_bytes()
    (top / "empty").write_bytes(b"")
    (top / "text").write_bytes(b"not an archive\n")
    (top / "cut").write_bytes(whole[:30_000])
    (top / "noise").write_bytes(os.urandom(100_000))
    (top / "nothing").write_bytes(bytes(10240))
    (top / "directory").mkdir()
    (top / "loop").symlink_to("loop")
    os.mkfifo(top / "fifo")
    # Of an image: a layer that leads out of it, and one that is none.
    for name, content in (("leads-out", layer(("../x", b"x", 0o644))), ("no-layer", os.urandom(2048))):
        oci.Image([content]).write(top / name, base.person("root"))
    for path in top.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755)
    bad = {"empty": "holds no file", "text": "holds no file", "cut": "unexpected end", "noise": "not a ustar tar",
           "nothing": "holds no file", "directory": "is a directory", "loop": "Too many levels", "fifo": "is no file",
           "absent": "No such file", "leads-out": "leads out of it", "no-layer": "a header is damaged"}
    for name, why in bad.items():
        refused = small(top / name, timeout=60)
        assert refused.code == 125 and why in refused.errors, (name, refused)
        assert small.place.status()["provisioned"] is False
    # At standard input there is no going back to its beginning.
    subprocess.run(["skopeo", "copy", "-q", f"oci:{top / 'leads-out'}", f"oci-archive:{top / 'image.tar'}"], check=True)
    refused = small("-", stdin=(top / "image.tar").read_bytes())
    assert refused.code == 125 and "give the path of its file" in refused.errors, refused
    small("-", stdin=whole).ok()
    assert "/bin/busybox" in describe(small.place.file("system"))


def test_a_machine_runs_from_an_image(other, as_user, kernel, top, root_archive):
    if as_user.is_root:
        pytest.skip("one person's is enough")
    note = layer(("etc/note", b"of the upper layer\n", 0o644))
    oci.Image([root_archive.read_bytes(), note]).write(top / "layout", as_user)
    other("vm", "provision", "--root", str(top / "layout"), "--kernel", str(kernel), "--modules",
          str(kernel.parent / "modules"), timeout=300).ok()
    assert other.run("cat", "/etc/note", timeout=120).ok().text == "of the upper layer\n"
