# Who does the works of the table: a person, and a host on which an ordinary one is known by name.
import contextlib
import dataclasses
import os
import pathlib
import subprocess

import harness

TIMEOUT = 300.0  # seconds of the slowest work on a busy machine
# The host as it is, with other people in passwd(5) and group(5).
MAKE = "mount --bind \"$1/passwd\" /etc/passwd; mount --bind \"$1/group\" /etc/group; echo made; exec sleep infinity"


class Users:
    """A mount namespace in which the ordinary user is known by name."""

    def __init__(self, base, person):
        place = base.unused("users")
        place.mkdir()
        place.chmod(0o755)
        for name, line in (("passwd", f"{person.name}:x:{person.uid}:{person.uid}::{person.home}:/bin/sh"),
                           ("group", f"{person.name}:x:{person.uid}:")):
            (place / name).write_text(pathlib.Path("/etc", name).read_text() + line + "\n")
        self.holder = subprocess.Popen(["unshare", "--mount", "sh", "-ec", MAKE, "sh", place], stdout=subprocess.PIPE)
        assert self.holder.stdout.readline() == b"made\n"

    def enter(self, directory):
        return ["nsenter", "--target", str(self.holder.pid), "--mount", f"--wdns={directory}", "--"]

    def stop(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()


@dataclasses.dataclass(frozen=True)
class Worker:
    person: harness.Person
    enter: object
    printed: dict = dataclasses.field(default_factory=dict)

    def outside(self, work, made):
        """What it prints outside; it is run once for all ways."""
        if work.name not in self.printed:
            ran = self.run("/bin/sh", "-c", made.script, directory=made.outside, env=made.env)
            self.printed[work.name] = ran.ok().text
        return self.printed[work.name]

    def run(self, program, *words, directory, env, **options):
        return harness.run_in(self.person, [program, *words], cwd=directory, env=env, outer=self.enter(directory),
                              timeout=TIMEOUT, **options)


@contextlib.contextmanager
def worker(base, name):
    """Who is "root" or "user"; the latter has an entry in passwd(5) and supplementary groups, where root makes it."""
    known = base.person(name)
    if os.geteuid() != 0 or name == "root":
        yield Worker(known, lambda _: [])
        return
    users = Users(base, known)
    try:
        yield Worker(dataclasses.replace(known, groups="20,44,100"), users.enter)
    finally:
        users.stop()
