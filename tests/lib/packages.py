# A small system that apt and dpkg run in, of this machine's own programs, with packages of a test.
"""archive(path, person, packages) is a tar of it. Its only repository is a directory of its own, so that installing
needs no network."""

import dataclasses
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from rootfs import Rootfs

PROGRAMS = ["sh", "apt-get", "dpkg", "dpkg-deb", "dpkg-query", "dpkg-split", "start-stop-daemon", "ldconfig", "tar",
            "rm", "diff", "cat", "chmod", "chown", "cp", "id", "ln", "ls", "mkdir", "mkfifo", "mv", "sleep", "stat",
            "touch"]
TABLES = ["cputable", "ostable", "tupletable"]
METHODS = ["file", "copy", "store", "http"]
DIRECTORIES = ["etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/dpkg/dpkg.cfg.d", "tmp", "root", "home",
               "var/log/apt", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers",
               "var/lib/dpkg/alternatives", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/tmp",
               "usr/lib/apt/methods", "usr/share"]
LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
PASSWD = "root:x:0:0:root:/root:/bin/sh\n_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n"
GROUP = "root:x:0:\ngames:x:60:\nnogroup:x:65534:\n"
SOURCES = "deb [trusted=yes] file:/usr/share/repository ./\n"


@dataclasses.dataclass
class Package:
    """`files` are (path, bytes, mode); `script` runs as root once it is unpacked."""

    name: str
    files: list = dataclasses.field(default_factory=list)
    script: str = ""


def every_install_has():
    """One with a file that gives a group's rights, one that needs it, and one that fails."""
    return [Package("hello", [("usr/bin/hello", b"#!/bin/sh\necho hello\n", 0o755),
                              ("usr/bin/scores", b"#!/bin/sh\nid -g\n", 0o755)],
                    "chown root:games /usr/bin/scores && chmod 2755 /usr/bin/scores"),
            Package("more", [("usr/bin/more-of-it", b"#!/bin/sh\nhello\n", 0o755)]),
            Package("broken", [], "echo it went wrong >&2; exit 3")]


def are_there():
    """Whether this machine has what such a system is made of."""
    return all(shutil.which(name) for name in PROGRAMS) and all(
        path.exists() for path in (pathlib.Path("/usr/lib/apt/methods/file"), pathlib.Path("/usr/share/dpkg/cputable")))


def archive(path, person, packages, sources=SOURCES):
    made = Rootfs(path, person)
    seen = set()
    for directory in [*DIRECTORIES, "srv", "usr/share/repository"]:
        add_directories(made, directory, seen)
    for link, to in LINKS.items():
        made.link(f"./{link}", to)
    for place, source in system_files().items():
        add_directories(made, os.path.dirname(place), seen)
        made.file(f"./{place}", source.read_bytes())
    texts = {"etc/passwd": PASSWD, "etc/group": GROUP, "etc/apt/sources.list": sources, "var/lib/dpkg/status": "",
             "var/lib/dpkg/available": ""}
    for place, text in texts.items():
        made.file(f"./{place}", text.encode(), mode=0o644)
    for place, content in repository(packages).items():
        made.file(f"./usr/share/repository/{place}", content, mode=0o644)
    return made.close()


def add_directories(made, path, seen):
    parts = path.split("/")
    for count in range(1, len(parts) + 1):
        directory = "/".join(parts[:count])
        if directory not in seen:
            made.directory(f"./{directory}", mode=0o1777 if directory in ("tmp", "var/tmp", "srv") else 0o755)
            seen.add(directory)


@functools.cache
def system_files():
    """By where it is in the system: the programs, and the libraries that they are linked with."""
    found = {f"usr/lib/apt/methods/{name}": pathlib.Path("/usr/lib/apt/methods", name) for name in METHODS}
    found |= {f"usr/share/dpkg/{name}": pathlib.Path("/usr/share/dpkg", name) for name in TABLES}
    for name in PROGRAMS:
        source = pathlib.Path(shutil.which(name))
        found[f"usr/{'sbin' if source.parent.name == 'sbin' else 'bin'}/{name}"] = source.resolve()
    for program in list(found.values()):
        linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+) \(0x", linked):
            place = library.lstrip("/")
            found[place if place.startswith("usr/") else f"usr/{place}"] = pathlib.Path(library).resolve()
    return found


def repository(packages):
    """By name: the packages, and the list of them."""
    files, lists = {}, []
    architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout
    for package in packages:
        control = (f"Package: {package.name}\nVersion: 1\nArchitecture: {architecture.strip()}\n"
                   f"Maintainer: Test <test@example.org>\nDescription: of a test\n")
        content = build(package, control)
        files[f"{package.name}.deb"] = content
        lists.append(f"{control}Filename: ./{package.name}.deb\nSize: {len(content)}\n"
                     f"SHA256: {hashlib.sha256(content).hexdigest()}\n")
    files["Packages"] = "\n".join(lists).encode()
    return files


def build(package, control):
    with tempfile.TemporaryDirectory() as scratch:
        top = pathlib.Path(scratch, "tree")
        (top / "DEBIAN").mkdir(parents=True)
        top.chmod(0o755)
        (top / "DEBIAN/control").write_text(control, encoding="utf-8")
        if package.script:
            script = top / "DEBIAN/postinst"
            script.write_text(f"#!/bin/sh\n{package.script}\n", encoding="utf-8")
            script.chmod(0o755)
        for path, content, mode in package.files:
            place = top / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            place.chmod(mode)
        out = pathlib.Path(scratch, "out.deb")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", top, out], check=True,
                       stdout=subprocess.DEVNULL)
        return out.read_bytes()
