# Which test groups a change can reach: of the files that differ, the folders whose tests can see it.
"""A product source reaches the unit tests of its folder and of all above it, and the suites that run the programs made
of it; a test reaches its own group; what every group uses (tests/lib, the build) reaches all."""

import os
import re
import subprocess

from shell import Failed, path

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)

# Programs that are made of one folder of src: the suites that start them. The other folders are in hutch or
# hutch-guest, which every suite starts.
SUITES_OF = {
    "helper": ["helper", "agents"],
    "inspect": ["inspect", "network", "clients", "escape", "plugins"],
    "unpack": ["image", "container", "plugins", "vm", "clients"],
    "api": ["api", "container", "conformance", "escape"],
    "tui": ["e2e"],
}


def files_since(base):
    """What differs from the commit `base`, with what git does not track yet."""
    git = ["git", "-c", f"safe.directory={path()}", "-C", path()]
    found = set()
    for command in (["diff", "--name-only", base, "--"], ["ls-files", "--others", "--exclude-standard"]):
        listed = subprocess.run([*git, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if listed.returncode != 0:
            raise Failed(f"git does not know what has changed since {base}: {listed.stderr.decode().strip()}", 2)
        found.update(listed.stdout.decode().split("\n"))
    return sorted(found - {""})


def read(file):
    with open(path(file), encoding="utf-8", errors="replace") as opened:
        return opened.read()


def under(folder, *suffixes):
    for directory, _, names in os.walk(path(folder)):
        for name in names:
            if name.endswith(suffixes):
                yield os.path.relpath(os.path.join(directory, name), path())


class Tree:
    """What the sources include and the suites import, as they are now."""

    def __init__(self):
        self.includers, self.importers = {}, {}
        for file in under("src", ".cc", ".h"):
            for header in INCLUDE.findall(read(file)):
                self.includers.setdefault("src/" + header, set()).add(file)
        for file in under("tests", ".py"):
            for module in IMPORT.findall(read(file)):
                self.importers.setdefault(module, set()).add(file)
        self.suites = sorted({file.split("/")[1] for file in under("tests", "_test.py")})
        self.units = sorted({file.split("/")[1] for file in under("src", "_test.cc")})

    def reached(self, header):
        """The sources that see a change of `header`, itself or by way of other headers."""
        found, todo = {header}, [header]
        while todo:
            for file in self.includers.get(todo.pop(), ()):
                if file not in found:
                    found.add(file)
                    todo.append(file)
        return found


def groups_of(file, tree):
    """The groups that a change of `file` can reach; "all" for every one."""
    parts = file.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return groups_of_source(file, parts[1], tree)
    if parts[0] == "tests" and len(parts) > 2:
        return groups_of_test(file, parts, tree)
    if parts[:2] == ["examples", "skill-loop"]:
        return {"clients", "style"}
    if parts[:2] == ["docs", "from"]:
        return {"seeds", "style"}
    if parts[0] in ("docs", "bench", "examples", ".ci") or file.endswith(".md"):
        return {"style", "e2e"}
    if parts[0] == "clients":
        return {"clients", "seeds", "style"}
    return {"all"}


def groups_of_source(file, folder, tree):
    if file.endswith(("_test.cc", "_testing.cc")) or "/golden/" in file:
        return {f"unit.{folder}", "style"}
    seen = {name.split("/")[1] for name in tree.reached(file)} | {folder}
    units = {f"unit.{name}" for name in tree.units if name in seen or file.endswith(".cc") and name == folder}
    suites = set(SUITES_OF[folder]) if set(SUITES_OF) >= seen else set(tree.suites)
    return units | suites | {"style", "fuzz"}


def groups_of_test(file, parts, tree):
    if parts[1] == "fuzz":
        return {"fuzz"}
    if parts[1] != "lib":
        return {parts[1], "style"}
    found, todo = set(), [file]
    while todo:
        module = os.path.basename(todo.pop()).removesuffix(".py")
        for user in tree.importers.get(module, ()):
            if user == "tests/conftest.py":
                return {"all"}
            if user not in found:
                found.add(user)
                todo.append(user)
    return {user.split("/")[1] for user in found if not user.startswith("tests/lib/")} | {"style"}


def groups_since(base):
    """The groups to run, sorted; None where that is all of them."""
    tree = Tree()
    found = set()
    for file in files_since(base):
        found |= groups_of(file, tree)
    return None if "all" in found else sorted(found)
