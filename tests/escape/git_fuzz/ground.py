# The directories that rounds are played in: a few repositories of a person's, made once and copied for each round.

import os
import pathlib
import random
import shutil
import subprocess

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TRIP = '#!/bin/sh\n[ -z "$GIT_FUZZ_MARK" ] || echo "ran: $*" >> "$GIT_FUZZ_MARK"\n'
VICTIM = "a line of the person's own\n"
OF_PERSON = """[user]
\tname = A
\temail = a@b.example
[init]
\tdefaultBranch = main
[gc]
\tautoDetach = false
[protocol "file"]
\tallow = always
[advice]
\tdetachedHead = false
[rerere]
\tenabled = true
"""
OWN_PROGRAMS = {".husky/pre-commit": "exit 0", "tools/watch": "exit 1", "tools/clean.sh": "cat",
                "tools/text.sh": 'cat "$1"', "tools/task": "exit 0"}
OWN_SETTINGS = (
    ("core.hooksPath", ".husky"), ("core.fsmonitor", "tools/watch"), ("filter.f.clean", "sh tools/clean.sh"),
    ("diff.d.textconv", "tools/text.sh"), ("alias.t", "!tools/task"), ("include.path", "../shared.gitconfig"),
    ("extensions.worktreeConfig", "true"))


class Ground:
    """Everything below `top`, which is this ground's."""

    def __init__(self, top, depth=0):
        """The sandbox works in `start`, with the rounds so many directories below the ordinary place."""
        self.top, self.depth = pathlib.Path(top), depth
        self.home, self.templates = self.top / "home", self.top / "templates"
        self.rounds = self.top.joinpath("p", *("d" * depth), "rounds")
        self.start = self.top / "p" if depth else self.rounds
        self.trip, self.upstream, self.marks = self.top / "trip", self.top / "upstream", self.top / "marks"
        self.victims = self.top / "victims"  # files of the person's, outside of all repositories
        for directory in (self.home, self.rounds, self.templates, self.marks, self.victims):
            directory.mkdir(parents=True)
        self.make_victims()
        self.trip.write_text(TRIP)
        self.trip.chmod(0o755)
        (self.home / ".gitconfig").write_text(OF_PERSON)
        self.environment = {"PATH": PATH, "HOME": str(self.home), "LANG": "C.UTF-8", "USER": "a", "LOGNAME": "a",
                            "GIT_TERMINAL_PROMPT": "0", "XDG_CONFIG_HOME": str(self.home / ".config"),
                            "XDG_DATA_HOME": str(self.home / ".local/share"), "HUTCH_STATE": str(self.top / "state")}
        self.make_templates()

    def make_victims(self):
        remove(self.victims)
        self.victims.mkdir()
        (self.victims / "rc").write_text(VICTIM)

    def copies(self, number):
        """Of the victim, in the round's repositories. The sandbox may read it, and its own git may have made them."""
        # No link is followed: the round may have made one to a directory above it.
        images = (pathlib.Path(folder) / name for folder, _, names in os.walk(self.rounds / f"r{number}")
                  if pathlib.PurePath(folder).parent.name == "rr-cache" for name in names)
        return {image for image in images
                if image.is_file() and not image.is_symlink() and image.read_bytes() == VICTIM.encode()}

    def harmed(self, number, copies):
        """What the round did to the victims, since there were these copies."""
        found = [f"written: {path.name}" for path in sorted(self.victims.iterdir())
                 if path.name != "rc" or path.read_bytes() != VICTIM.encode()]
        found += ["copied: rc" for _ in self.copies(number) - copies]
        if found:
            self.make_victims()
        return found

    def git(self, place, *words, ok=True):
        subprocess.run(["git", *words], cwd=place, env=self.environment, check=ok, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL if not ok else None)

    def make_templates(self):
        self.git(self.top, "init", "-q", "--bare", self.upstream)
        plain = self.repository("plain")
        self.git(plain, "push", "-q", "origin", "main", "side")
        self.git(self.top, "init", "-q", self.templates / "plain/nested")
        shutil.copytree(plain, self.templates / "rebase", symlinks=True)
        self.git(self.templates / "rebase", "rebase", "-q", "-i", "side", ok=False)
        self.make_rich()
        bare = self.templates / "bare"
        (bare / "d").mkdir(parents=True)
        (bare / "file").write_text("content\n")
        self.git(self.top, "clone", "-q", "--bare", self.upstream, bare / "bare")
        shutil.copytree(bare, self.templates / "none")
        shutil.rmtree(self.templates / "none/bare")
        for hooks in list(self.templates.glob("**/hooks")):
            for sample in list(hooks.glob("*.sample"))[1:]:
                sample.unlink()
        # Where hutch does not search it reads no settings either: what they name in the work tree is not protected.
        self.names = sorted(path.name for path in self.templates.iterdir() if not self.depth or path.name != "rich")

    def repository(self, name):
        """Two branches that are in conflict, on the first of them."""
        place = self.templates / name
        self.git(self.top, "init", "-q", place)
        self.git(place, "remote", "add", "origin", self.upstream)
        for directory in ("d", "sub", "conf", "tools"):
            (place / directory).mkdir()
        for file, text in (("file", "content\n"), ("x.d", "one\n"), ("d/x", "x\n")):
            (place / file).write_text(text)
        self.commit(place, "first")
        self.git(place, "checkout", "-q", "-b", "side")
        (place / "file").write_text("side\n")
        self.commit(place, "side")
        self.git(place, "checkout", "-q", "main")
        (place / "file").write_text("main\n")
        self.commit(place, "second")
        return place

    def commit(self, place, message):
        self.git(place, "add", "-A")
        self.git(place, "commit", "-q", "-m", message)

    def make_rich(self):
        """One whose configuration names files of its own work tree, with a submodule and a linked worktree."""
        rich = self.repository("rich")
        for name, line in OWN_PROGRAMS.items():
            (rich / name).parent.mkdir(exist_ok=True)
            (rich / name).write_text(f"#!/bin/sh\n# own\n{line}\n")
            (rich / name).chmod(0o755)
        (rich / "shared.gitconfig").write_text("[include]\n\tpath = conf/first\n")
        (rich / "conf/first").write_text("[include]\n\tpath = absent\n")
        (rich / ".gitattributes").write_text("file filter=f\n*.d diff=d\n")
        (rich / "sub").rmdir()
        self.git(rich, "submodule", "--quiet", "add", self.upstream, "sub")
        self.commit(rich, "tools")
        shutil.rmtree(rich / ".git/hooks")
        self.git(rich, "worktree", "add", "-q", "linked", "-b", "other")
        for name, value in OWN_SETTINGS:
            self.git(rich, "config", name, value)

    def make_round(self, seed, number):
        """A copy of a template; where paths of a worktree are absolute they are of the copy."""
        name = random.Random(f"{seed}:{number}:ground").choice(self.names)
        place = self.rounds / f"r{number}"
        subprocess.run(["cp", "-a", self.templates / name, place], check=True)
        if name == "rich":
            (place / "linked/.git").write_text(f"gitdir: {place}/.git/worktrees/linked\n")
            (place / ".git/worktrees/linked/gitdir").write_text(f"{place}/linked/.git\n")
        return place

    def clear(self):
        for directory in (self.rounds, self.marks, self.home / ".local", self.top / "state"):
            remove(directory)
        for directory in (self.rounds, self.marks):
            directory.mkdir()


def remove(directory):
    """Also what was closed, and trees that are deeper than a path can say, which a sandbox makes by copies."""
    if os.path.isdir(directory):
        subprocess.run(["chmod", "-R", "u+rwX", directory], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", directory], check=False, stderr=subprocess.DEVNULL)
