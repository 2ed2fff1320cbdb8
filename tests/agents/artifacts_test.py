# hutch artifacts: what share_artifact has handed out, held to what it was then.
import hashlib
import itertools
import json
import os

import pytest

PLACES = itertools.count(1)


@pytest.fixture
def shared(daemon):
    """share(ARGUMENTS) by an agent's tool, which has to succeed: its result. share.agent is the agent."""
    agent = daemon.create("autonomousExec.enabled=true")

    def share(**arguments):
        done = daemon("tool", "call", agent, "share_artifact", json.dumps(arguments)).ok()
        return json.loads(done.text)["result"]

    share.agent, share.daemon = agent, daemon
    yield share
    daemon("agent", "remove", agent)


def listed(share):
    return json.loads(share.daemon("artifacts", "list", share.agent, "--json").ok().text)


def get(share, name, *file, **options):
    return share.daemon("artifacts", "get", share.agent, name, *file, **options)


def place_of(share):
    """An empty directory of the person's."""
    return share.daemon.person.mkdir(share.daemon.person.home / f"place-{next(PLACES)}")


def test_recorded_listed_and_taken(shared):
    text = "héllo\n"
    told = shared(content=text, filename="report.txt", description="what it says")
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert told["sha256"] == digest
    (one,) = listed(shared)
    assert {key: one[key] for key in ("name", "size", "sha256", "type", "description")} == {
        "name": "report.txt", "size": len(text.encode()), "sha256": digest, "type": "text/plain",
        "description": "what it says"}
    assert get(shared, "report.txt", "-").ok().text == text


def test_a_large_file(shared):
    shared.daemon("exec", shared.agent, "--", "sh", "-c", "seq 1 700000 > big.txt").ok()
    told = shared(path="big.txt")
    content = "".join(f"{number}\n" for number in range(1, 700001)).encode()
    assert told["size"] == len(content) and told["sha256"] == hashlib.sha256(content).hexdigest()
    assert get(shared, "big.txt", "-").ok().out == content
    # Shared where it lies already.
    assert shared(path=told["path"])["sha256"] == told["sha256"]


@pytest.mark.parametrize("change", ["echo other! > {0}", "printf x >> {0}", "rm {0}", "rm {0}; ln -s /etc/hostname {0}",
                                    "rm {0}; mkdir {0}", "rm {0}; mkfifo {0}"])
def test_what_was_changed_since_is_not_given(shared, change):
    told = shared(content="theirs\n", filename="a.txt")
    shared.daemon("exec", shared.agent, "--", "sh", "-c", change.format(told["path"])).ok()
    here = place_of(shared)
    refused = get(shared, "a.txt", here / "a.txt")
    assert refused.code == 125 and os.listdir(here) == [], str(refused)
    assert listed(shared)[0]["name"] == "a.txt"


def test_no_file_of_ones_own_is_replaced(shared):
    shared(content="new", filename="a.txt")
    shared(content="new", filename=".bashrc")
    here = place_of(shared)
    shared.daemon.person.write(here / "a.txt", "mine")
    refused = get(shared, "a.txt", cwd=here)
    assert refused.code == 125 and "already" in refused.errors and (here / "a.txt").read_text() == "mine"
    refused = get(shared, ".bashrc", cwd=here)
    assert refused.code == 125 and "hidden" in refused.errors
    assert get(shared, "a.txt", "b.txt", cwd=here).ok().text.startswith("b.txt: 3 bytes")
    assert sorted(os.listdir(here)) == ["a.txt", "b.txt"]


def test_a_description_is_kept_in_part(shared):
    shared(content="x", filename="a.txt", description="é" * 10000)
    assert listed(shared)[0]["description"] == "é" * 2000


def test_of_nobody_else(shared):
    shared(content="new", filename="a.txt")
    other = shared.daemon.create()
    assert json.loads(shared.daemon("artifacts", "list", other, "--json").ok().text) == []
    assert shared.daemon("artifacts", "list", other).ok().text == "nothing was shared\n"
    assert shared.daemon("artifacts", "get", other, "a.txt", "-").code == 125
    for words in (["list"], ["get", shared.agent], ["get", shared.agent, "../a.txt", "-"], ["take", shared.agent],
                  ["list", "nobody"], ["list", shared.agent, "x"]):
        assert shared.daemon("artifacts", *words).code == 125, words
    shared.daemon("agent", "remove", shared.agent).ok()
    shared.daemon("agent", "create", shared.agent).ok()
    assert listed(shared) == []
    shared.daemon("agent", "remove", other).ok()


@pytest.mark.parametrize("name", ["-rf", "--help", "\x1b[31mx", "a\u009bx", "\u202etxt.exe"])
def test_names_that_are_options_or_hold_escapes_are_refused(daemon, shared, name):
    done = daemon("tool", "call", shared.agent, "share_artifact", json.dumps({"content": "x", "filename": name}))
    told = json.loads(done.text)
    assert not told["ok"] and told["field"] == "filename", told
    assert listed(shared) == []


def test_a_giant_with_holes_is_refused_at_once(daemon, shared):
    daemon("exec", shared.agent, "--", "truncate", "-s", "3T", "giant").ok()
    for tool, arguments in (("share_artifact", {"path": "giant"}),
                            ("sandbox_search_files", {"path": "giant", "pattern": "x"}),
                            ("sandbox_search_files", {"path": ".", "pattern": "x"})):
        # Far longer than it takes, and far shorter than what reads it all.
        done = daemon("tool", "call", shared.agent, tool, json.dumps(arguments), timeout=15)
        told = json.loads(done.text)
        assert told["ok"] == (arguments["path"] == "."), told
