# Threads change what a call means while somebody is asked about it: only what was allowed is ever read or written.
"""Each race is one that wins where nothing protects."""

import os
import pathlib

import caller
import harness
import pytest

SOURCE = pathlib.Path(__file__).parent / "question_race.c"
MILLISECONDS = "60000" if os.environ.get("HUTCH_TEST_ALL") == "1" else "400"
TRIES = 50  # on a busy machine each may wait for its turn
KINDS = ["path", "link", "descriptor", "current", "child"]


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def race(hutch, as_user, project, compile_c):
    """The words of a race, but for its kind, and the two files; as question_race.c wants to find them."""
    home = as_user.mkdir(as_user.home / f"hidden-{project.name}")
    files = {name: as_user.write(home / name / "f", f"{text} words") for name, text in
             (("asked", "plain"), ("other", "secret"))}
    for name, file in files.items():
        (project / f"to-{name}").symlink_to(file.parent)
        as_user.mkdir(project / name)
        (project / name / "f").symlink_to(file)
    program = compile_c(SOURCE.read_text(encoding="utf-8"), name="question_race", flags=("-pthread",))
    return program, files["asked"], files["other"]


def answer_all(outside, allowed):
    """Until the end: yes for that file, no for others. What was asked about."""
    asked = set()
    while (line := outside.next())["type"] != "done":
        if line["type"] != "question":
            continue
        asked.add(line["path"])
        outside.say(type="answer", id=line["id"], choice="session" if line["path"] == str(allowed) else "no")
    return asked


@pytest.mark.parametrize("access", ["read", "write"])
@pytest.mark.parametrize("kind", KINDS)
def test_race(hutch, race, kind, access):
    program, asked, other = race
    script = f"exec {program} {kind} {access} {asked} {other} {MILLISECONDS} {TRIES}"
    with caller.running(hutch, script) as (outside, process):
        seen = answer_all(outside, asked)
        out, err = process.communicate(timeout=harness.PATIENCE)
    assert (out, process.returncode) == (b"0\n", 0), (out, err)
    assert str(asked) in seen and seen <= {str(asked), str(other)}, seen
    assert other.read_text(encoding="utf-8") == "secret words"
    if access == "write":
        assert asked.read_text(encoding="utf-8").startswith("evil")


@pytest.mark.parametrize("kind", KINDS)
def test_it_wins_where_nothing_protects(as_user, project, race, kind):
    program, asked, other = race
    words = [program, kind, "read", asked, other, "100", "1000"]
    harness.wait_until(lambda: int(harness.run_in(as_user, words, cwd=project).ok().text) > 0, "it has read it")
    words[2] = "write"

    def wins():
        harness.run_in(as_user, words, cwd=project).ok()
        return other.read_text(encoding="utf-8") == "evilet words"

    harness.wait_until(wins, "it has written it")
