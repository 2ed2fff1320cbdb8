# What works inside as it does outside: the table of works.py, by `hutch run` and by an agent.
"""The ordinary user has an entry in passwd(5), which programs ask for, and supplementary groups."""

import os
import pathlib
import sys

import daemons
import harness
import npm_packages
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import project  # noqa: E402
import reasons  # noqa: E402
import workers  # noqa: E402
import works  # noqa: E402

npm = npm_packages.npm
WAYS = ["namespace", "bwrap", "agent"]
PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]


@pytest.fixture(scope="module", params=PEOPLE)
def worker(request, base):
    """Who works: person, and enter(directory) for what runs as them."""
    with workers.worker(base, request.param) as made:
        yield made


@pytest.fixture(scope="module")
def daemon(base, worker):
    made = daemons.Daemon(base, worker.person)
    made("agent", "list", outer=worker.enter("/")).ok()
    yield made
    made.stop()


@pytest.fixture(params=[pytest.param(work, id=work.name, marks=[pytest.mark.slow] if work.slow else [])
                        for work in works.WORKS])
def work(request, worker):
    """A line of the table that this machine has the programs for."""
    if missing := request.param.missing():
        pytest.skip(missing)
    if request.param.ordinary and worker.person.uid == 0:
        pytest.skip("it is for ordinary users")
    if request.param.mount and os.geteuid() != 0:
        pytest.skip("root alone makes mounts")
    return request.param


@pytest.mark.parametrize("way", WAYS)
def test_it_works_as_outside(request, base, worker, daemon, work, way):
    if way in work.fails:
        request.applymarker(pytest.mark.xfail(reason=work.fails[way], strict=True))
    packages = request.getfixturevalue("npm")(*work.npm) if work.npm else None
    made = project.Projects(base, worker, work, packages)
    try:
        ran, told = run_inside(base, worker, daemon, made, way)
        if work.refused:
            assert ran.code != 0 and work.refused in ran.text + ran.errors + told, f"{ran}\n{told}"
            return
        expected = worker.outside(work, made)
        for name in work.held:
            assert name in expected and name in told, f"outside: {expected}\ninside: {ran}\n{told}"
        expected = "".join(line for line in expected.splitlines(True) if not any(name in line for name in work.held))
        assert ran.code == 0 and ran.text == expected, f"outside: {expected}\ninside: {ran}"
    finally:
        made.stop()


def run_inside(base, worker, daemon, made, way):
    """How it ended, and what hutch said of it: to an agent's commands it says nothing, but its record has it."""
    policy = made.policy()
    if way != "agent":
        options = ["--policy", policy] if policy else []
        ran = worker.run(base.bin / "hutch", "run", "--backend", way, *options, "--", "/bin/sh", "-c", made.script,
                         directory=made.inside, env=made.env)
        return ran, ran.errors
    name = daemon.create(f"dir={made.inside}", *[f"policy={policy}"] * bool(policy))
    ran = daemon.sh(name, made.script, env=made.env, timeout=workers.TIMEOUT)
    daemon("agent", "remove", name).ok()
    return ran, daemon("why").text


def test_the_page_is_of_this_table():
    """Each line has a cell for each way, and each reason that it leads to is told."""
    page = (harness.ROOT / "docs/works-inside.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    titles = ["what", "`namespace`", "`bwrap`", "agent", *[f"`{one}`" for one in reasons.BACKENDS], ""]
    assert [row for row in rows if row[0] == "what"] == [titles] * len({work.kind for work in works.WORKS})
    of_names = {row[0]: row[1:-1] for row in rows}
    for work in works.WORKS:
        assert work.name in of_names, f"{work.name}: ./dev works writes the page"
        for way, cell in zip(WAYS + reasons.BACKENDS, of_names[work.name], strict=True):
            why = reasons.of(work, way)
            end = f" ({page.partition(f') {why.text}')[0][-1]})" if why and f") {why.text}\n" in page else ""
            assert bool(end) == bool(why) and cell.endswith(end) and len(cell) > len(end), (work.name, way, cell)
            assert why or not cell.endswith(")"), (work.name, way, cell)


def test_most_of_it_was_tried():
    """A machine of the tests has the programs of packaging/dependencies."""
    lacking = [work.name for work in works.WORKS if work.missing()]
    assert len(lacking) < len(works.WORKS) / 2, lacking
