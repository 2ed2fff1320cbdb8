# The fuzzer of git's wall (git_fuzz/hunt.py), for a few rounds that are always the same; ./dev fuzz git runs many.

import json
import pathlib
import shutil

import pytest

import harness

ROUNDS = 25
PATIENCE = 800


@pytest.fixture
def hunt(base, as_user):
    """hunt(backend, *words): the outcome, of a copy that every person can read."""
    place = base.path / "git_fuzz"
    if not place.exists():
        shutil.copytree(pathlib.Path(__file__).parent / "git_fuzz", place, ignore=shutil.ignore_patterns("__pycache__"))
    base.path.chmod(0o1777)

    def run(backend, *words):
        argv = ["/usr/bin/python3", "-B", place / "hunt.py", "--hutch", base.bin / "hutch", "--backend", backend,
                "--json",
                "--smallest", "0", *words]
        result = harness.run_in(as_user, argv, env={"HUTCH_TEST_BASE": str(base.path)}, timeout=PATIENCE)
        assert result.out, str(result)
        return json.loads(result.out)

    return run


# DEEP: further down than hutch searches.
DEEP = 5


@pytest.mark.parametrize("depth", [0, DEEP])
@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_no_round_trips_in_a_sandbox(hunt, backend, depth):
    outcome = hunt(backend, "--rounds", str(ROUNDS), "--depth", str(depth))
    assert outcome["errors"] == [] and outcome["trips"] == [], outcome
    assert outcome["rounds"] == ROUNDS
    assert outcome["commands"] >= 30 * ROUNDS


def test_rounds_trip_where_nothing_protects(hunt):
    outcome = hunt("none", "--rounds", str(ROUNDS))
    assert outcome["errors"] == []
    assert len(outcome["trips"]) >= ROUNDS // 10, outcome
    found = [one for trip in outcome["trips"] for one in trip["found"]]
    assert any(one.startswith("ran: ") for one in found), "no program of the sandbox's was run"
    assert any(one.startswith("setting: ") for one in found), "no setting of the sandbox's was read"
    more = hunt("none", "--rounds", "100", "--first", str(ROUNDS), "--jobs", "2")
    found += [one for trip in more["trips"] for one in trip["found"]]
    assert any(one.startswith(("written: ", "copied: ")) for one in found), "no file of the person's was written"
    again = hunt("none", "--rounds", "1", "--first", str(outcome["trips"][0]["round"]))
    assert [trip["round"] for trip in again["trips"]] == [outcome["trips"][0]["round"]]
    other = hunt("none", "--rounds", "1", "--first", str(outcome["trips"][0]["round"]), "--acts", "99")
    assert other["trips"] == [], "a round without its acts changes nothing"
