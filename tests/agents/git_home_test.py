# What an agent writes in its own home, for the git of a person who looks there.
"""The home is the agent's, and yet a person goes there to see what it has made: by its path, or by a link that the
agent put into the project. Each way is tried on "none" too, where git runs the program, and by an agent with an image
("image"), of backend namespace."""

import itertools
import re
import shutil
import sys

import harness
import host_image
import pytest

sys.path.insert(0, str(harness.ROOT / "tests/escape/suite"))
import git_ways  # noqa: E402

NUMBERS = itertools.count(1)
# In a directory of the home, with a repository of the agent's in "r".
OWN = {
    "a setting": "git -C r config core.fsmonitor TRIP",
    "a setting, written": "printf '[core]\\n\\tfsmonitor = TRIP\\n' >> r/.git/config",
    "a setting, moved there": "cp r/.git/config x; printf '[core]\\n\\tfsmonitor = TRIP\\n' >> x; mv x r/.git/config",
    "hooks elsewhere": "mkdir r/h; cp TRIP r/h/pre-commit; git -C r config core.hooksPath h",
    "a hook": "cp TRIP r/.git/hooks/pre-commit",
    "a hook, by a link": "ln -s TRIP r/.git/hooks/pre-commit",
    "a template": "mkdir -p t/hooks; cp TRIP t/hooks/pre-commit; git init -q --template=t n; mv r s; mv n r",
    "a bare layout": "cp -r r/.git/objects r/.git/refs r/.git/index r/; printf '[core]\\n\\tbare = false\\n"
                     "\\trepositoryformatversion = 0\\n\\tworktree = .\\n\\tfsmonitor = TRIP\\n' > r/config; "
                     "echo ref: refs/heads/main > r/HEAD; rm -rf r/.git",
    "a prepared rebase": "mkdir r/.git/rebase-merge; cd r/.git/rebase-merge; touch interactive; "
                         "git rev-parse HEAD | tee onto > orig-head; echo refs/heads/main > head-name; "
                         "echo exec TRIP > git-rebase-todo",
}
# The others of the suite need a setting of the person's, which an agent's repository does not have.
WAYS = {way: script for way, script in git_ways.WAYS.items()
        if way not in {*git_ways.SETTINGS, *git_ways.VARIABLES, *git_ways.LINKED}}


@pytest.fixture(scope="module")
def image(daemon):
    """One of this machine's own programs, git among them."""
    if shutil.which("dpkg") is None:
        pytest.skip("no dpkg that lists the files of an image")
    path = host_image.archive(daemon.state / "host.tar", ["git"])
    daemon.person.own(path)
    daemon("image", "import", "host", path, timeout=180).ok()
    path.unlink()
    yield "host"
    daemon("image", "remove", "host").ok()


@pytest.fixture(params=["none", "bwrap", "namespace", "image"])
def home(daemon, request):
    """An agent with a project of the person's, and its home on the host."""
    project = daemon.person.mkdir(daemon.state / f"project-{next(NUMBERS)}", 0o755)
    own = request.param == "image"
    setting = f"image={request.getfixturevalue('image')}" if own else f"backend={request.param}"
    name = daemon.create(setting, f"dir={project}")
    directory = daemon.data / "workspace/agents" / name
    yield name, directory, project, request.param
    daemon("agent", "remove", name).ok()


def program_of(daemon, directory):
    """A program that the agent can name, and that leaves a mark outside; shown where a sandbox reads programs."""
    mark = daemon.state / f"mark-{directory.name}"
    trip = daemon.person.write(directory / "trip", f"#!/bin/sh\ntouch {mark}\nexit 1\n", 0o755)
    return mark, trip


def attack(daemon, agent, backend, script, directory, trip):
    """In the agent's home. Outside, the program's path is another one than inside: what git runs is that one."""
    inside = directory if backend == "none" else f"/workspace/agents/{agent}"
    script = script.replace("cp TRIP", f"cp {inside}/trip").replace("TRIP", str(trip))
    common = 'git() { command git -c user.name=A -c user.email=a@b.example "$@"; }; '
    done = daemon.sh(agent, f"{common}cd; {script}", timeout=120)
    assert not re.search(r"sh: \d+: [\w-]+: not found", done.errors), "the image lacks a program of the way's"


def use(daemon, place, first=()):
    for words in [*first, *git_ways.OUTSIDE]:
        git_ways.as_person(daemon.person, words, place, ok=False)


def makes_repository(daemon, agent):
    daemon.sh(agent, "cd; git init -q -b main r; cd r; echo content > file; git add file; "
                     "git -c user.name=A -c user.email=a@b.example commit -qm first").ok()


@pytest.mark.parametrize("way", OWN)
def test_of_a_repository_that_it_made(daemon, home, way):
    agent, directory, _, backend = home
    makes_repository(daemon, agent)
    mark, trip = program_of(daemon, directory)
    attack(daemon, agent, backend, OWN[way], directory, trip)
    place = directory / "r"
    if place.is_dir():
        use(daemon, place, git_ways.FIRST.get(way, []))
    assert mark.exists() == (backend == "none")


def test_by_a_link_in_the_project(daemon, home):
    agent, directory, project, backend = home
    makes_repository(daemon, agent)
    mark, trip = program_of(daemon, directory)
    attack(daemon, agent, backend, f"ln -s {directory}/r {project}/docs; {OWN['a setting']}", directory, trip)
    use(daemon, project / "docs")
    assert mark.exists() == (backend == "none")


def test_a_push_to_what_it_made(daemon, home):
    """git runs the hooks of a repository that an address names as a path."""
    agent, directory, _, backend = home
    daemon.sh(agent, "cd; git init -q --bare -b main r.git").ok()
    mark, trip = program_of(daemon, directory)
    attack(daemon, agent, backend, "cp TRIP r.git/hooks/pre-receive", directory, trip)
    mine = daemon.person.mkdir(daemon.state / f"mine-{next(NUMBERS)}", 0o755)
    git_ways.commit_first(daemon.person, mine)
    git_ways.as_person(daemon.person, ["git", "push", "-q", str(directory / "r.git"), "main"], mine, ok=False)
    assert mark.exists() == (backend == "none")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("home", ["bwrap", "namespace", "image"], indirect=True)
def test_each_way_of_the_suite(daemon, home, way):
    """Those that a person's own repository is attacked with, in one of the agent's."""
    agent, directory, _, backend = home
    makes_repository(daemon, agent)
    git_ways.prepare(daemon.person, directory / "r", way)
    mark, trip = program_of(daemon, directory)
    attack(daemon, agent, backend, f"cd r; {git_ways.WAYS[way]}", directory, trip)
    place = directory / "r" / git_ways.PLACES.get(way, ".")
    if place.is_dir():
        use(daemon, place, git_ways.FIRST.get(way, []))
    assert not mark.exists()


def test_ordinary_git_goes_on(daemon, home):
    agent, directory, _, backend = home
    makes_repository(daemon, agent)
    daemon.sh(agent, """cd; git -C r config user.name A; git -C r config user.email a@b.example
      git clone -q r c; cd c; git config user.name A; git config user.email a@b.example
      git checkout -q -b other; echo more >> file; git commit -qam more; git worktree add -q ../w main
      git -C ../w status -s; git push -q origin other; git stash list; git gc -q; git fsck
      cd ../r; git merge -q other; git -c protocol.file.allow=always submodule --quiet add ../c sub
      git commit -qm sub; git log --oneline""", timeout=120).ok()
    assert git_ways.as_person(daemon.person, ["git", "status", "-s"], directory / "r").text == ""
    assert "more" in git_ways.as_person(daemon.person, ["git", "log", "--oneline"], directory / "c").text
    # What programs of a home's owner obey is the agent's own there.
    daemon.sh(agent, "cd; echo x > .bashrc; echo x=y > .npmrc; mkdir .vscode; echo {} > .vscode/tasks.json; "
                     "git config --global alias.x '!true'; git x").ok()
