# What works inside as it does outside, for agents of the backends container, vm and user: the table of works.py.
"""Outside an ordinary user does it, with an entry in passwd(5) where root makes one. A few works are tried in each run
of the tests, in a small image; all of them with ./dev test --all and for the page."""

import os
import pathlib
import shutil
import sys

import engines
import program_image
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import elsewhere  # noqa: E402
import project  # noqa: E402
import reasons  # noqa: E402
import workers  # noqa: E402
import works  # noqa: E402

# ./dev works asks for some of them.
CHOSEN = os.environ.get("HUTCH_WORKS", ",".join(reasons.BACKENDS)).split(",")
BACKENDS = [pytest.param(one, marks=pytest.mark.xdist_group(one)) for one in reasons.BACKENDS if one in CHOSEN]
# Of each kind of outcome at least one. A virtual machine takes longer to make than all of them to run.
QUICK = ("git: clone, branch, merge, rebase, stash", "git: worktree in the project",
         "git: a submodule is added, with the built-in policy", "python: processes, shared memory, a manager",
         "python: asyncio over a Unix socket", "sqlite: a database in WAL mode, two processes",
         "shell: jobs, pipes, here-documents, traps", "names that are not text, links, modes, times",
         "tar keeps modes, times and links", "file locks of two processes", "a namespace of its own")
NOT_FOUND = 127  # of the shell: the image lacks a program, which shows nothing
FAILURE_SECONDS = 20  # of a work that is known to fail: some wait for ever then


@pytest.fixture(scope="module")
def worker(base):
    with workers.worker(base, "user") as made:
        yield made


@pytest.fixture(scope="module")
def image(request, base):
    """The archive of a root file system with the programs of what this session tries."""
    if why := program_image.missing():
        pytest.skip(why)
    tried = [item.callspec.params["work"] for item in request.session.items
             if item.originalname == "test_it_works_elsewhere" and not item.get_closest_marker("skip")]
    tried = [work for work in tried if not work.npm]
    packages = {*elsewhere.PACKAGES, *(name for work in tried for name in work.debian.split())}
    # npm may have replaced itself.
    copies = [elsewhere.NPM] if os.path.isdir(elsewhere.NPM) and any("npm" in work.needs for work in tried) else []
    programs = elsewhere.programs(tried)
    return program_image.archive(base.unused("works.tar"), programs, packages, [base.bin, *copies])


@pytest.fixture(scope="module")
def container(base, worker, image):
    lacking = "no engine"
    for kind in engines.PROGRAMS:
        try:
            with engines.running(kind) as engine:
                engine.load(image, elsewhere.IMAGE)
                engine.check_starts(elsewhere.IMAGE)
                made = elsewhere.Containers(base, engine, worker.person)
                yield made
                made.stop()
                return
        except engines.NotHere as why:
            lacking = str(why)
    pytest.skip(lacking)


@pytest.fixture(scope="module")
def vm(base, worker, image):
    if not shutil.which("qemu-system-x86_64") or not shutil.which("tar2sqfs"):
        pytest.skip("virtual machines take qemu-system-x86 and squashfs-tools-ng")
    made = elsewhere.Machines(base, worker.person, image)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def user(base, machine):  # machine: skipped where root does not run the tests
    made = elsewhere.Users(base, machine)
    yield made
    made.stop()


def cases():
    for work in works.WORKS:
        for backend in BACKENDS:
            quick = work.name in QUICK and backend.values[0] != "vm"
            marks = [*backend.marks, *([] if quick else [pytest.mark.slow])]
            yield pytest.param(backend.values[0], work, id=f"{backend.values[0]}-{work.name}", marks=marks)


@pytest.mark.parametrize("backend, work", cases())
def test_it_works_elsewhere(request, base, worker, backend, work):
    reason = reasons.of(work, backend)
    if reason and not reason.tried:
        pytest.skip(reason.text)
    if missing := work.missing():
        pytest.skip(missing)
    if reason and reason.fault:
        request.applymarker(pytest.mark.xfail(reason=reason.text, strict=True))
    agents = request.getfixturevalue(backend)
    made = project.Projects(base, worker, work, None, agents.top)
    try:
        judge(work, reason, made, agents, worker)
    finally:
        made.stop()


def judge(work, reason, made, agents, worker):
    if reason and reason.shown:
        ran, told = agents.attempt(made, FAILURE_SECONDS)
        assert ran.code not in (0, NOT_FOUND) and reason.shown in ran.text + ran.errors + told, f"{ran}\n{told}"
        return
    ran, told = agents.attempt(made, workers.TIMEOUT)
    if work.refused and not (reason and reason.works):
        assert ran.code not in (0, NOT_FOUND) and work.refused in ran.text + ran.errors + told, f"{ran}\n{told}"
        return
    if work.refused:
        assert ran.code == 0, str(ran)
        return
    expected = worker.outside(work, made)
    assert ran.code == 0 and ran.text == expected, f"outside: {expected}\ninside: {ran}"


def test_reasons_are_of_the_table():
    names = {work.name for work in works.WORKS}
    assert set(QUICK) <= names
    assert set(reasons.OF_WORKS) <= names, set(reasons.OF_WORKS) - names
    assert {backend for own in reasons.OF_WORKS.values() for backend in own} <= set(reasons.BACKENDS)
