# Two projects of the same files for a work: one in which it is tried outside, and one in which it is tried inside.
import copy
import json
import shutil
import socket
import subprocess
import textwrap

import harness
import work as table

# hutch's own (docs/policy.md), to which a work adds keys.
BUILT_IN = {"filesystem": {"denyRead": ["/home", "/root", "/Users", "~"], "allowRead": ["."], "allowWrite": ["."],
                           "denyWrite": []},
            "network": {"allowedDomains": [], "deniedDomains": []}}


class Projects:
    """The directories, and what runs or is mounted for them until stop()."""

    def __init__(self, base, worker, work, packages, below=None):
        """Below that directory; else in the person's home."""
        self.worker, self.work, self.mounts, self.server = worker, work, [], None
        self.top = worker.person.mkdir((below or worker.person.home) / base.unused("work").name)
        self.host, self.home = (worker.person.mkdir(self.top / name) for name in ("host", "home"))
        self.outside, self.inside = (worker.person.mkdir(self.top / name / "project") for name in ("outside", "inside"))
        self.words = {"$HUTCH": str(base.bin / "hutch"), "$HOST": str(self.host), "$PORT": str(free_port()),
                      "$NPM": f"{packages}/node_modules"}
        self.script = self.script_of(work.script)
        self.env = {"HOME": str(self.home), "PATH": table.PATH, "LANG": "C.UTF-8", **work.env}
        try:
            self.make()
        except BaseException:
            self.stop()
            raise

    def make(self):
        if self.work.host:
            self.serve()
        for project in (self.outside, self.inside):
            if self.work.mount:
                self.by_root("sh", "-ec", self.work.mount, "sh", project)
                self.mounts.append(project)
                self.by_root("chown", f"{self.worker.person.uid}:{self.worker.person.gid}", project)
            for name, content in self.work.files.items():
                self.worker.run("/bin/sh", "-c", 'mkdir -p "${1%/*}"; cat > "$1"', "sh", project / name,
                                directory=project, env={}, stdin=self.filled_in(content).encode()).ok()
            if self.work.before:
                self.worker.run("/bin/sh", "-c", self.script_of(self.work.before), directory=project, env=self.env).ok()

    def script_of(self, lines):
        return "set -e\n" + self.filled_in(textwrap.dedent(lines))

    def filled_in(self, content):
        for word, value in self.words.items():
            content = content.replace(word, value)
        return content

    def serve(self):
        """Starts the server on the host."""
        person = self.worker.person
        self.server = harness.start_in(person, ["/bin/sh", "-c", self.script_of(self.work.host)], cwd=self.host,
                                       env=self.env, outer=self.worker.enter(self.host), stdin=subprocess.DEVNULL)
        line = self.server.stdout.readline()
        assert line == b"ready\n", line + self.server.communicate()[1]

    def by_root(self, *command):
        """Where the person's processes see its mounts."""
        subprocess.run([*self.worker.enter("/"), *command], check=True)

    def policy(self, place=None, built_in=BUILT_IN):
        """The file of the work's policy, in that directory; None where it has the built-in one."""
        if not self.work.policy:
            return None
        policy = copy.deepcopy(built_in)
        for part, keys in self.work.policy.items():
            policy.setdefault(part, {}).update(keys)
        # A port is a number.
        content = self.filled_in(json.dumps(policy).replace('"$PORT"', "$PORT"))
        return self.worker.person.write((place or self.top) / "policy.json", content)

    def stop(self):
        if self.server:
            harness.kill_group(self.server)
            self.server.communicate()
        for project in self.mounts:
            self.by_root("umount", project)
        shutil.rmtree(self.top, ignore_errors=True)


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]
