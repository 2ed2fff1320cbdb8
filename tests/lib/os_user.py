# Root's hutch whose sandboxes are another user of the machine: without a line in this machine's own /etc/passwd.
"""`hutch init` would make the user; here a mount namespace has an /etc/passwd of its own with it."""

import dataclasses
import pathlib

import harness
import people

UID = 61305
NAME = "hutch"


@dataclasses.dataclass(frozen=True)
class Keeper(harness.Person):
    """Root, who starts sandboxes as that user. What this person makes is that user's: so are files of tests."""

    passwd: pathlib.Path = None

    def environment(self, extra=None):
        return super().environment({"HUTCH_STATE": str(self.passwd.parent / "state-of-keeper"), **(extra or {})})

    def command(self, argv):
        begin = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"']
        return [*begin, str(self.passwd), *(str(word) for word in argv)]


def keeper(base, extra_users=()):
    """That person. `extra_users`: (name, uid, home) of further lines."""
    found = base.path / "keeper"
    home = found / "home"
    if not found.exists():
        found.mkdir()
        found.chmod(0o755)
        harness.Person(NAME, UID, home).mkdir(home, 0o755)
        users = [(NAME, UID, home), *extra_users]
        lines = [f"{name}:x:{uid}:{uid}::{directory}:/bin/sh\n" for name, uid, directory in users]
        others = [line for line in pathlib.Path("/etc/passwd").read_text().splitlines(True)
                  if not line.startswith(f"{NAME}:")]
        (found / "passwd").write_text("".join(others + lines))
        (found / "passwd").chmod(0o644)
    return Keeper(NAME, UID, home, found / "passwd")


def person_of(request, base):
    """The person of a fixture whose parameter names one. Where the test's backend is `user`: root as the keeper, and
    anybody else on a machine whose root has let them have such sandboxes."""
    spec = getattr(request.node, "callspec", None)
    if not spec or spec.params.get("backend") != "user":
        return base.person(request.param)
    if request.param == "root":
        return keeper(base)
    return people.keeper(request.getfixturevalue("machine"), "frank")
