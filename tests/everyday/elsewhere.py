# An agent of each backend whose programs, or whose user, are others than those of who runs hutch.
"""A work lies in a directory of its own below the agent's, so that one agent tries them all. A work with a policy
has its own agent. What the work has outside before its script comes in as an archive, by standard input."""

import dataclasses
import io
import os
import pathlib
import shutil
import subprocess
import tarfile

import daemons
import project
import work as table

IMAGE = "hutch-works:latest"
# Besides those of the programs that works name.
PACKAGES = ("python3-venv", "python3-pytest", "python3-pytest-xdist", "procps")
NPM = "/usr/lib/node_modules/npm"
DPKG = "/var/lib/dpkg"
OTHER_SECONDS = 120


class Agents:
    """Of one backend and one daemon, until stop()."""

    backend = ""
    built_in = project.BUILT_IN  # to which a work adds keys
    top = None  # the directory of the host in which the agents work, where they see one

    def __init__(self, daemon, person, settings=()):
        self.daemon, self.person, self.settings = daemon, person, settings
        self.names = {}  # by policy

    def of_policy(self, made):
        """The name of the agent that has the work's policy."""
        key = repr(made.work.policy)
        if key not in self.names:
            policy = made.policy(self.person.mkdir(self.daemon.state / made.top.name), self.built_in)
            name = self.daemon.create(f"backend={self.backend}", *self.settings, *[f"policy={policy}"] * bool(policy))
            self.daemon.sh(name, "true", timeout=300).ok()
            self.names[key] = name
        return self.names[key]

    def attempt(self, made, seconds):
        """How the work ended, and what the record has of it."""
        name = self.of_policy(made)
        place = made.inside
        if not self.top:
            place = pathlib.PurePath("works", made.top.name, "project")
            self.daemon.sh(name, f"umask 022; mkdir -p {place} && tar -C {place} -xf -", stdin=packed(made.inside),
                           timeout=OTHER_SECONDS).ok()
        try:
            # Outside it is so; an agent of the backend user begins with 002.
            ran = self.daemon.sh(name, f"umask 022; cd {place}\n{made.script}", env=made.env,
                                 options=["--timeout", f"{seconds:.0f}s"], timeout=seconds + OTHER_SECONDS)
            return ran, self.daemon("why").text
        finally:
            self.daemon.sh(name, f"rm -rf ~/.gitconfig works/{made.top.name}", timeout=OTHER_SECONDS)

    def stop(self):
        for name in self.names.values():
            self.daemon("agent", "remove", name, timeout=300).ok()
        self.daemon.stop()


class Containers(Agents):
    """The works lie in a directory of the host's, which each agent has as its own."""

    backend = "container"

    def __init__(self, base, engine, person):
        self.top = person.mkdir(person.home / base.unused("container").name)
        daemon = WithVariables(base, person)
        daemon.variables = {"DOCKER_HOST": engine.host}
        super().__init__(daemon, person, (f"image={IMAGE}", f"dir={self.top}"))

    def stop(self):
        super().stop()
        shutil.rmtree(self.top)


class Machines(Agents):
    """Rules about the host's files are refused there."""

    backend = "vm"
    built_in = {}

    def __init__(self, base, person, archive):
        # virtiofsd changes its groups if it has any.
        daemon = daemons.Daemon(base, dataclasses.replace(person, groups=""))
        daemon("vm", "provision", "--root", archive, timeout=1200).ok()
        super().__init__(daemon, person)


class Users(Agents):
    """Of root's daemon, on a machine of the tests' own (people.py) where it makes users."""

    backend = "user"

    def __init__(self, base, machine):
        daemon = WithVariables(base, base.person("root"))
        daemon.outer = machine.enter()
        # Its /var/lib is its own: dpkg's tools look there.
        if not machine.file(DPKG).exists() and os.path.isdir(DPKG):
            subprocess.run(["cp", "--archive", DPKG, machine.file(DPKG)], check=True)
        super().__init__(daemon, daemon.person)


class WithVariables(daemons.Daemon):
    variables, outer = {}, ()

    def options(self, given):
        return super().options({"outer": self.outer, **given, "env": {**self.variables, **given.get("env", {})}})


def packed(directory):
    """An archive of what is in the directory, as nobody's in particular."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        tar.add(directory, ".", filter=unowned)
    return content.getvalue()


def unowned(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def programs(works):
    """The paths of those that the works need."""
    needs = {need for work in works for need in work.needs}
    found = {need if os.path.isabs(need) else shutil.which(need, path=table.PATH) for need in needs}
    return found - {None}
