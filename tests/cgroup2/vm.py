# A machine with cgroup v2 in QEMU without KVM: Debian's cloud kernel and an initramfs made of busybox and hutch.
"""The kernel comes by apt-get download from the distribution; nothing of it is installed."""

import os
import shutil
import stat
import subprocess

QEMU, BUSYBOX = "/usr/bin/qemu-system-x86_64", "/bin/busybox"
BOOT_SECONDS = 900.0  # emulated, on a machine that may be busy


def download_kernel(directory):
    """The newest cloud kernel's image; its package is named by the one that depends on it."""
    depends = subprocess.run(
        ["apt-cache", "depends", "linux-image-cloud-amd64"], stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    package = next(line.split()[1] for line in depends.splitlines() if "Depends: linux-image" in line)
    subprocess.run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package], cwd=directory, check=True)
    subprocess.run(["dpkg-deb", "-x", next(directory.glob("*.deb")), directory / "kernel"], check=True)
    return next((directory / "kernel/boot").glob("vmlinuz-*"))


def write_archive(tree, path):
    """A cpio archive in the kernel's own format (Documentation/driver-api/early-userspace/buffer-format)."""
    with open(path, "wb") as archive:
        number = 0
        for found in [tree, *sorted(tree.rglob("*"))]:
            name = "." if found == tree else str(found.relative_to(tree))
            info = found.lstat()
            if stat.S_ISLNK(info.st_mode):
                content = os.readlink(found).encode()
            else:
                content = found.read_bytes() if stat.S_ISREG(info.st_mode) else b""
            number += 1
            fields = [number, info.st_mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
            add_entry(archive, fields, name, content)
        add_entry(archive, [0] * 11 + [len("TRAILER!!!") + 1, 0], "TRAILER!!!", b"")


def add_entry(archive, fields, name, content):
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    archive.write(head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4))


def build_tree(tree, programs, init):
    for directory in ("bin", "etc", "proc", "sys", "dev", "tmp", "run", "root", "home/user/project", "usr/bin", "var"):
        (tree / directory).mkdir(parents=True)
    shutil.copy(BUSYBOX, tree / "bin/busybox")
    for name in ("hutch", "hutch-guest"):
        shutil.copy(programs / name, tree / "usr/bin" / name)
    (tree / "etc/passwd").write_text(
        "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n", encoding="ascii"
    )
    (tree / "etc/group").write_text("root:x:0:\nuser:x:1000:\n", encoding="ascii")
    shutil.copy(init, tree / "init")
    (tree / "init").chmod(0o755)


def boot(kernel, archive):
    """All that the machine prints on its console until it is off."""
    command = [QEMU, "-accel", "tcg", "-m", "768", "-nic", "none", "-nographic", "-no-reboot", "-kernel", str(kernel)]
    command += ["-initrd", str(archive), "-append", "console=ttyS0 quiet panic=-1 rdinit=/init"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=BOOT_SECONDS, check=False)
    return ended.stdout.decode(errors="replace").replace("\r", "")
