# A root file system of programs that this machine has, as an archive: for engines that reach no registry.
"""archive(path) writes one that has a shell, the usual small programs and Python."""

import os
import pathlib
import re
import subprocess
import tarfile

PACKAGES = ("bash", "coreutils", "dash", "findutils", "grep", "libc-bin", "libpython3-stdlib", "mawk", "ncurses-base",
            "procps", "python3", "python3-minimal", "ripgrep", "sed", "util-linux")
LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
DIRECTORIES = ("dev", "etc", "home", "proc", "root", "run", "sys", "tmp", "usr", "var", "var/tmp")
LEFT_OUT = ("/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/share/info", "/usr/share/lintian", "/etc/")
LOADER = "/lib64/ld-linux-x86-64.so.2"
ETC = ("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/ld.so.conf", "/etc/ld.so.cache", "/etc/os-release")


def python_packages():
    """The version's own, which `python3` leads to."""
    version = "python" + ".".join(os.path.realpath("/usr/bin/python3").rsplit("python", 1)[-1].split(".")[:2])
    return (version, f"{version}-minimal", f"lib{version}-stdlib", f"lib{version}-minimal")


def files_of(package):
    listed = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        if not name.startswith(LEFT_OUT) and os.path.lexists(name) and not os.path.isdir(name):
            yield os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))


def libraries_of(files):
    """Those that the programs among them are linked with, and those of these."""
    known, seen = known_libraries(), set()
    elves = [name for name in files if os.path.isfile(name) and open(name, "rb").read(4) == b"\x7fELF"]
    while elves:
        # ldd starts a shell and a process for each program, which takes a minute here; this is one process for all.
        said = subprocess.run(["objdump", "-p", *elves], capture_output=True, text=True).stdout
        needed = {known[name] for name in re.findall(r"^\s+NEEDED\s+(\S+)", said, re.MULTILINE) if name in known}
        elves = sorted(needed - seen)
        seen |= needed
    for name in sorted(seen) + [LOADER] * os.path.exists(LOADER):
        yield os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))
        yield os.path.realpath(name)


def known_libraries():
    """{name: path} of the libraries of this machine's own kind."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    found = re.findall(r"^\s+(\S+) \((.*)\) => (\S+)", listed, re.MULTILINE)
    return {name: path for name, kind, path in found if "x86-64" in kind}


def archive(path, more=()):
    """`more` are packages besides."""
    files = {name for package in (*PACKAGES, *python_packages(), *more) for name in files_of(package)}
    files |= {os.path.realpath(name) for name in files}
    files |= set(libraries_of(files)) | set(ETC)
    with tarfile.open(path, "w") as tar:
        for name in DIRECTORIES:
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name.endswith("tmp") else 0o755
            tar.addfile(entry)
        for name in LINKS:
            if os.path.islink(f"/{name}"):
                tar.add(f"/{name}", name)
        for name in sorted(files):
            if os.path.lexists(name):
                tar.add(os.path.realpath(name) if name in ETC else name, name[1:], recursive=False)
    return pathlib.Path(path)
