# What works inside as it does outside: the table of works.py, by `hutch run` and by an agent.
"""The ordinary user has an entry in passwd(5), which programs ask for, and supplementary groups."""

import dataclasses
import os
import pathlib
import subprocess
import sys
import textwrap

import daemons
import harness
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import works  # noqa: E402

WAYS = ["namespace", "bwrap", "agent"]
PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]
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


@pytest.fixture(scope="module", params=PEOPLE)
def worker(request, base):
    """Who works: person, and enter(directory) for what runs as them."""
    known = base.person(request.param)
    if os.geteuid() != 0 or request.param == "root":
        yield Worker(known, lambda _: [])
        return
    users = Users(base, known)
    yield Worker(dataclasses.replace(known, groups="20,44,100"), users.enter)
    users.stop()


@dataclasses.dataclass(frozen=True)
class Worker:
    person: harness.Person
    enter: object

    def run(self, program, *words, directory, env):
        return harness.run_in(self.person, [program, *words], cwd=directory, env=env, outer=self.enter(directory))


@pytest.fixture(scope="module")
def daemon(base, worker):
    made = daemons.Daemon(base, worker.person)
    made("agent", "list", outer=worker.enter("/")).ok()
    yield made
    made.stop()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("work", [pytest.param(work, id=work.name, marks=[pytest.mark.slow] if work.slow else [])
                                  for work in works.WORKS])
def test_it_works_as_outside(base, worker, daemon, work, way):
    if missing := works.missing(work):
        pytest.skip(f"{missing} is not installed")
    if work.ordinary and worker.person.uid == 0:
        pytest.skip("its own program does not run as root")
    top = worker.person.mkdir(worker.person.home / base.unused("work").name)
    outside, inside, home = (worker.person.mkdir(top / name) for name in ("outside/project", "inside/project", "home"))
    script = "set -e\n" + textwrap.dedent(work.script)
    env = {"HOME": str(home), "PATH": works.PATH, "LANG": "C.UTF-8"}
    for name, content in work.files.items():
        worker.person.write(inside / name, content)
        worker.person.write(outside / name, content)
    ran = run_inside(base, worker, daemon, inside, script, way, env)
    if work.refused:
        assert ran.code != 0 and work.refused in ran.text + ran.errors, ran
        return
    expected = worker.run("/bin/sh", "-c", script, directory=outside, env=env).ok()
    assert ran.code == 0 and ran.text == expected.text, f"outside: {expected.text}\ninside: {ran}"


def run_inside(base, worker, daemon, project, script, way, env):
    if way != "agent":
        return worker.run(base.bin / "hutch", "run", "--backend", way, "--", "/bin/sh", "-c", script,
                          directory=project, env=env)
    name = daemon.create(f"dir={project}")
    ran = daemon.sh(name, script)
    daemon("agent", "remove", name).ok()
    return ran


def test_the_page_is_of_this_table():
    page = (harness.ROOT / "docs/works-inside.md").read_text()
    for work in works.WORKS:
        assert f"| {work.name} |" in page, "./dev works writes the page"


def test_most_of_it_was_tried():
    """A machine of the tests has the programs of packaging/dependencies."""
    lacking = [work.name for work in works.WORKS if works.missing(work)]
    assert len(lacking) < len(works.WORKS) / 2, lacking
