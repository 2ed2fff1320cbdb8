# One line of the table of developers' work: what it is, what it needs, and what hutch says of it.
import dataclasses
import os
import shutil
import textwrap

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PYTHON = "/usr/bin/python3"
GIT = ("git config --global init.defaultBranch main; git config --global user.name A; "
       "git config --global user.email a@b.example; ")


@dataclasses.dataclass(frozen=True)
class Work:
    """The scripts are of sh(1) and end with the first command that fails. In them, in the files and in the policy,
    $HUTCH is the program, $HOST the directory in which `host` runs, $PORT a free port of the host's loopback, and $NPM
    the node_modules with the packages of `npm`."""

    name: str
    kind: str
    script: str
    needs: tuple = ()       # programs; where one is missing the work is skipped
    files: dict = dataclasses.field(default_factory=dict)
    refused: str = ""       # it does not work inside: its exit code is not 0, and it prints this
    ordinary: bool = False  # not as root: a server that refuses it, or needs more of the host then
    slow: bool = False      # runs with ./dev test --all, and for the page
    note: str = ""          # for the page
    debian: str = ""        # the packages that it needs, where ./dev does not install them
    npm: tuple = ()         # packages of the registry, which are installed outside
    mount: str = ""         # a script of root's that makes $1, the project, a mount
    host: str = ""          # a server on the host: it prints "ready", and runs until the work has ended
    before: str = ""        # runs outside, in the project, before the script
    policy: dict = dataclasses.field(default_factory=dict)  # keys of the policy, besides those of the built-in one
    env: dict = dataclasses.field(default_factory=dict)     # of hutch; None takes a variable away
    fails: dict = dataclasses.field(default_factory=dict)   # {way: why it does not work there, which is a fault}
    held: tuple = ()        # files that it has outside, one a line: hutch does not let them come to be, and names them

    def missing(self):
        """What is to be told where this machine has not all of its programs; empty if it has."""
        absent = next((need for need in self.needs if not (os.path.exists(need) or shutil.which(need, path=PATH))), "")
        if not absent:
            return ""
        return f"{absent} is not installed" + (f" (Debian: {self.debian})" if self.debian else "")


def text(lines):
    return textwrap.dedent(lines).lstrip()
