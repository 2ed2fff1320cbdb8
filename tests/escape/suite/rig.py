# Where cases are run: the installed programs, the caller, and a home and a project for each case.
"""A Rig is of one backend. Everything that it makes lies below its directory, and ends with it."""

import contextlib
import itertools
import os
import pathlib
import shutil
import tempfile

import arena as arenas
import harness
import new_names

PYTHON = "/usr/bin/python3"
# How hutch finds the engine of containers.
OF_THE_ENGINE = ("DOCKER_HOST", "XDG_RUNTIME_DIR", "HUTCH_STATE")


class Programs:
    """Stands where a test session has harness.Base."""

    def __init__(self, hutch, directory):
        self.bin, self.path = pathlib.Path(hutch).parent, pathlib.Path(directory)


class Hutch(harness.Hutch):
    def __call__(self, *args, **options):
        return super().__call__(*args, **self.with_engine(options))

    def popen(self, *command, **options):
        return super().popen(*command, **self.with_engine(options))

    def with_engine(self, options):
        if self.backend != "container":
            return options
        found = {name: os.environ[name] for name in OF_THE_ENGINE if name in os.environ}
        return {**options, "env": {**found, **(options.get("env") or {})}}


class Rig:
    def __init__(self, hutch, backend, here, directory):
        self.backend, self.here = backend, pathlib.Path(here)
        self.base, self.told = Programs(hutch, directory), hutch
        self.attempts = self.here.parent / "attempts"
        self.numbers = itertools.count(1)
        self.opened = set()

    def close(self):
        """Takes away what arenas have outside of the directory, also of those that are being made."""
        for closing in list(self.opened):
            closing.close()

    def reason_against(self, case):
        """Why the case cannot be run here, or None."""
        for need in case.needs:
            if need == "root" and not self.is_root:
                return "it needs root"
            if need not in ("root",) and not shutil.which(need):
                return f"no {need}"
        if self.backend == "user" and case.of_files:
            return "a sandbox of the backend user has no rules for files; their permissions are its walls"
        if self.backend in new_names.BACKENDS and new_names.is_one(case):
            return f"the backend {self.backend} holds names that exist at the start only"
        return None

    @property
    def is_root(self):
        return os.geteuid() == 0

    @property
    def isolates(self):
        return self.backend != "none"

    @contextlib.contextmanager
    def project(self, name="p"):
        """(person, project): both of this case only."""
        top = self.base.path / f"{self.backend}-{next(self.numbers)}"
        home = top / "home"
        person = harness.Person("root" if self.is_root else "user", os.geteuid(), home)
        person.mkdir(home)
        try:
            yield person, person.mkdir(home / "projects" / name)
        finally:
            arenas.remove_tree(top)

    def hutch(self, person, cwd):
        return self.started_as(Hutch(self.base, person, cwd, self.backend))

    def started_as(self, hutch):
        """By the very program that the runner was told of, whatever its name."""
        hutch.program = self.told
        return hutch

    @contextlib.contextmanager
    def arena(self):
        with self.project() as (person, project):
            closing = arenas.Closing()
            self.opened.add(closing)
            try:
                yield arenas.Arena(person, project, closing)
            finally:
                closing.close()
                self.opened.discard(closing)

    def attack(self, arena, attack, attempt, streams):
        """One attempt in the arena: how hutch run ended."""
        if self.backend == "user":
            program, options, cwd = self.program(arena.home.parent, arena.person), arena.variables(), \
                self.place_of_os_user(arena)
        else:
            program, options, cwd = self.program(arena.project, arena.person), arena.options(), arena.project
        return self.hutch(arena.person, cwd).run(program, attack, attempt, options=options, **streams)

    def place_of_os_user(self, arena):
        """A directory where a sandbox that is another user may work; the caller's home is closed to it. Everybody may
        write there: nothing else is made or opened in it."""
        arena.home.chmod(0o700)
        own = arena.person.mkdir(arena.home.parent / "own")
        own.chmod(0o777)
        return own

    def program(self, directory, person):
        """The attacks, where the sandbox can run them: a new file, whatever an attempt has put in its place."""
        target = pathlib.Path(directory) / "attack"
        target.unlink(missing_ok=True)
        made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o755)
        with open(made, "wb") as file:
            file.write(self.attempts.read_bytes())
            os.fchmod(made, 0o755)
        return person.own(target)


@contextlib.contextmanager
def scratch():
    """A directory that is gone at the end. Not below /tmp, of which a sandbox has its own."""
    parents = [os.environ.get("HUTCH_TEST_BASE"), "/var/tmp", os.path.expanduser("~/.cache")]
    parent = next((path for path in parents if path and os.access(path, os.W_OK)), None)
    made = pathlib.Path(tempfile.mkdtemp(prefix="hutch-selftest-", dir=parent)).resolve()
    made.chmod(0o755)
    try:
        yield made
    finally:
        arenas.remove_tree(made)
