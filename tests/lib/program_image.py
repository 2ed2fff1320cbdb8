# A root file system with programs of this machine, and all that their Debian packages depend on, as an archive.
"""For engines and virtual machines that reach no registry. Unlike host_image's it has the packages' own files of /etc,
the alternatives (update-alternatives(1)) and what dpkg knows of them."""

import os
import re
import shutil
import subprocess
import tarfile

import host_image

STATUS = "/var/lib/dpkg/status"


def packages_of(programs):
    """The names of those that hold these paths."""
    asked = {name for program in programs for path in (program, os.path.realpath(program))
             for name in (path, path.removeprefix("/usr"))}
    said = subprocess.run(["dpkg", "-S", *sorted(asked)], capture_output=True, text=True).stdout
    found = set()
    for line in said.splitlines():
        owners, _, path = line.rpartition(": ")
        if path in asked and not owners.startswith("diversion "):
            found.update(owner.partition(":")[0] for owner in owners.split(", "))
        elif diverted := re.fullmatch(r"diversion by (\S+) from", owners):
            found.add(diverted[1])
    return found


def installed():
    """{package: its dependencies, each a list of which one is enough}, and {name: packages that provide it}."""
    line = "${db:Status-Status}\t${Package}\t${Provides}\t${Pre-Depends}, ${Depends}\n"
    said = subprocess.run(["dpkg-query", "-W", "-f", line], capture_output=True, text=True, check=True).stdout
    needed, provided = {}, {}
    for status, name, provides, depends in (one.split("\t") for one in said.splitlines()):
        if status != "installed":
            continue
        needed[name] = [[bare(one) for one in group.split("|")] for group in depends.split(",") if group.strip()]
        for one in provides.split(","):
            provided.setdefault(bare(one), []).append(name)
    return needed, provided


def bare(dependency):
    return re.split(r"[ (:]", dependency.strip())[0]


def essential():
    line = "${db:Status-Status} ${Essential} ${Package}\n"
    said = subprocess.run(["dpkg-query", "-W", "-f", line], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^installed yes (\S+)$", said, re.MULTILINE)


def with_dependencies(packages):
    needed, provided = installed()
    found, left = set(), list(packages)
    while left:
        name = left.pop()
        if name in found or name not in needed:
            continue
        found.add(name)
        for group in needed[name]:
            left += next(([one] if one in needed else provided[one][:1] for one in group
                          if one in needed or provided.get(one)), [])
    return sorted(found)


def archive(path, programs, more=(), copies=()):
    """`programs` are paths; `more` packages besides, and `copies` files and directories that are of none."""
    packages = with_dependencies({*packages_of(programs), *more, *essential()})
    host_image.archive(path, packages)
    with tarfile.open(path) as made:
        there = {f"/{name}" for name in made.getnames()}
    with tarfile.open(path, "a") as tar:
        others = {*others_of(packages), *alternatives(there), *records_of(packages)} - there
        for name in sorted(others):
            tar.add(name, name[1:], recursive=False)
        there |= others
        for name in copies:
            # dockerd takes no name twice.
            tar.add(name, filter=lambda entry: None if not entry.isdir() and f"/{entry.name}" in there else entry)
    path.chmod(0o644)
    return path


def others_of(packages):
    """What host_image leaves out: settings, links to directories."""
    listed = subprocess.run(["dpkg", "-L", *packages], capture_output=True, text=True).stdout
    for name in set(listed.splitlines()):
        if os.path.islink(name) or name.startswith("/etc/") and os.path.isfile(name):
            yield os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))


def alternatives(there):
    """The links to those whose file is there, and theirs in /etc."""
    for place in ("/usr/bin", "/usr/sbin", "/etc/alternatives"):
        for name in (os.path.join(place, one) for one in os.listdir(place)):
            leads = os.path.islink(name) and os.readlink(name)
            chosen = place == "/etc/alternatives" or leads and leads.startswith("/etc/alternatives/")
            if leads and chosen and os.path.realpath(name) in there:
                yield name


def records_of(packages):
    """What dpkg-shlibdeps and dpkg-checkbuilddeps read."""
    place, wanted = "/var/lib/dpkg/info", set(packages)
    yield from (name for name in (STATUS, f"{place}/format") if os.path.exists(name))
    for name in os.listdir(place):
        stem, _, kind = name.rpartition(".")
        if kind in ("list", "shlibs", "symbols") and stem.partition(":")[0] in wanted:
            yield os.path.join(place, name)


def missing():
    """Why none can be made here, or None."""
    return None if shutil.which("dpkg-query") else "the image is made of the packages of a Debian"
