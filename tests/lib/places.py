# hutch with programs and files of the host's replaced, which takes root: in a mount namespace of its own.
"""Place(base, person, name) has a state directory of its own; what is mounted is there for its hutch alone."""

import json

import harness

QEMU = "/usr/bin/qemu-system-x86_64"
# In the place of the program that builds images: it says nothing, and does not end by itself.
MMDEBSTRAP = "#!/bin/sh\nmkdir \"$TMPDIR/mmdebstrap.begun\"\nexec sleep 3600\n"


class Place:
    def __init__(self, base, person, name):
        self.base, self.person = base, person
        self.state = person.mkdir(base.path / f"place-{name}-{person.name}", 0o700)
        self.mounts = []
        self.groups = None  # beside the person's own

    def over(self, path, source):
        self.mounts.append(f"mount --bind '{source}' '{path}'")

    def options(self):
        script = " && ".join([*self.mounts, 'exec "$@"'])
        outer = ["unshare", "--mount", "/bin/sh", "-c", script, "sh"]
        if self.groups is not None:
            number = str(self.person.uid)
            outer += ["/usr/bin/setpriv", "--reuid", number, "--regid", number, "--groups", self.groups]
        return {"outer": outer, "cwd": "/", "env": {"HUTCH_STATE": str(self.state)}}

    def who(self):
        return self.person if self.groups is None else Become(self.person)

    def __call__(self, *args, timeout=300, **options):
        return harness.run_in(self.who(), self.argv(args), **self.options(), timeout=timeout, **options)

    def popen(self, *args):
        """Its pid is hutch's own."""
        return harness.start_in(self.who(), self.argv(args), **self.options())

    def argv(self, args):
        return [str(word) for word in (self.base.bin / "hutch", *args)]

    def status(self):
        return json.loads(self("vm", "status", "--json").ok().out)

    def file(self, name):
        return self.state / "data/vm/files" / name


class Become:
    """That person's environment; what becomes them is in the command already."""

    def __init__(self, person):
        self.environment = person.environment
        self.home = person.home

    def command(self, argv):
        return argv
