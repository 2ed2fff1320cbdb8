# Two sandboxes that share a directory make a repository in it together: one makes what git obeys, the other the last
# part by which git finds a repository.
"""Each supervisor alone judges a name before it makes it, so that neither would see what the other makes meanwhile."""

import os
import pathlib

import pytest

SOURCE = pathlib.Path(__file__).parent / "two_makers.c"
COUNT = 4000 if os.environ.get("HUTCH_TEST_ALL") == "1" else 250
HALVES = ["config", "opened", "linked", "moved", "hooks", "hook"]
LAST_PARTS = ["HEAD", "objects"]


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def directories(as_user, project):
    """make(half, last): as the two processes want to find them; returns them."""
    def make(half, last):
        made = []
        for number in range(COUNT):
            place = as_user.mkdir(project / str(number))
            for part in {"objects", "refs"} - {last}:
                as_user.mkdir(place / part)
            if last != "HEAD":
                as_user.write(place / "HEAD", "ref: refs/heads/main\n")
            if half == "opened":
                as_user.write(place / "config", "[core]\n\tbare = true\n")
            if half in ("linked", "moved"):
                as_user.write(place / "evil", "[core]\n\tfsmonitor = ./evil\n")
            if half in ("hooks", "hook"):
                as_user.mkdir(place / ("h" if half == "hooks" else "hooks"))
            if half == "hooks":
                as_user.write(place / "h/pre-commit", "#!/bin/sh\n")
            made.append(place)
        as_user.write(project / "turns", "\0" * 4096)
        return made
    return make


def is_repository(place):
    return all((place / part).exists() for part in ("HEAD", "objects", "refs"))


def is_obeyed(place):
    config = place / "config"
    return (place / "hooks/pre-commit").exists() or (config.exists() and "fsmonitor" in config.read_text())


def made_together(hutch, compile_c, directories, half, last):
    """How many of the directories became what one sandbox could not have made; how many each half was made in."""
    places = directories(half, last)
    program = compile_c(SOURCE.read_text(encoding="utf-8"), name="two_makers")
    with (hutch.popen(program, half, "0", str(COUNT)) as one, hutch.popen(program, last, "1", str(COUNT)) as other):
        assert one.stdout.readline() == b"made\n" and other.stdout.readline() == b"made\n"
        found = [place.name for place in places if is_repository(place) and is_obeyed(place)]
        obeyed, repositories = sum(map(is_obeyed, places)), sum(map(is_repository, places))
        one.communicate()
        other.communicate()
    return found, obeyed, repositories


@pytest.mark.parametrize("last", LAST_PARTS)
@pytest.mark.parametrize("half", HALVES)
def test_neither_half_comes_unseen(hutch, backend, compile_c, directories, half, last):
    found, obeyed, repositories = made_together(hutch, compile_c, directories, half, last)
    assert found == [], (found, obeyed, repositories)
    # Of those at the same moment each may be refused; what came later than the other alone is.
    assert obeyed > 0 and repositories > 0, (obeyed, repositories)


@pytest.mark.parametrize("half", HALVES)
def test_it_is_an_attack(run_outside, compile_c, directories, project, half):
    places = directories(half, "HEAD")
    program = compile_c(SOURCE.read_text(encoding="utf-8"), name="two_makers")
    run_outside("sh", "-c", f"{program} {half} 0 {COUNT} < /dev/null & {program} HEAD 1 {COUNT} < /dev/null; wait").ok()
    assert all(is_repository(place) and is_obeyed(place) for place in places)
