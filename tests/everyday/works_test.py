# What works inside as it does outside: the table of works.py, by `hutch run` and by an agent.
import pathlib
import sys
import textwrap

import daemons
import harness
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import works  # noqa: E402

WAYS = ["namespace", "bwrap", "agent"]


@pytest.fixture(scope="module")
def daemon_of(base):
    made = {}

    def of(person):
        if person.name not in made:
            made[person.name] = daemons.Daemon(base, person)
        return made[person.name]

    yield of
    for daemon in made.values():
        daemon.stop()


@pytest.fixture
def places(as_user, project):
    """Two projects and a home: what is compared, what is tried, and whose settings the first one reads."""
    made = [as_user.mkdir(project / name) for name in ("outside/project", "inside/project", "home")]
    return made


def fill(person, directory, work):
    for name, content in work.files.items():
        person.write(directory / name, content)


def script_of(work):
    return "set -e\n" + textwrap.dedent(work.script)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("work", works.WORKS, ids=lambda work: work.name)
def test_it_works_as_outside(hutch, as_user, places, daemon_of, work, way):
    if missing := works.missing(work):
        pytest.skip(f"{missing} is not installed")
    if work.ordinary and as_user.uid == 0:
        pytest.skip("its own program does not run as root")
    outside, inside, home = places
    fill(as_user, inside, work)
    settings = {"HOME": str(home), "PATH": works.PATH, "LANG": "C.UTF-8"}
    ran = run_inside(hutch, daemon_of, as_user, inside, script_of(work), way, settings)
    if work.refused:
        assert ran.code != 0 and work.refused in ran.text + ran.errors, ran
        return
    fill(as_user, outside, work)
    expected = harness.run_in(as_user, ["/bin/sh", "-c", script_of(work)], cwd=outside, env=settings).ok()
    assert ran.code == 0 and ran.text == expected.text, f"outside: {expected.text}\ninside: {ran}"


def run_inside(hutch, daemon_of, person, project, script, way, settings):
    if way != "agent":
        return hutch("run", "--backend", way, "--", "/bin/sh", "-c", script, cwd=project, env=settings)
    daemon = daemon_of(person)
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
