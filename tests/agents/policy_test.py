# A policy that is saved while an agent's sandbox runs: what of it does not hold there is said, told and recorded.
"""`hutch config` has waited for the sandboxes when it ends."""

import json

import pytest


@pytest.fixture
def running(daemon, agent):
    """An agent whose sandbox runs; the user's default is as it was afterwards."""
    daemon.sh(agent, "true").ok()
    yield agent
    daemon("config", "remove", "filesystem", "--scope", "default")
    daemon("config", "remove", "network", "--scope", "default")


def add(daemon, key, value):
    return daemon("config", "add", key, str(value), "--scope", "default")


def test_what_cannot_hold_is_told(daemon, running):
    """A link that may have been made by a sandbox gives away nothing: with such a rule nothing is started either."""
    below = daemon.person.mkdir(daemon.person.home / f"of-{running}")
    (below / "way").symlink_to("/srv")
    said = add(daemon, "filesystem.allowWrite", below / "way").ok().errors
    assert f"agent {running}: goes on as it was: " in said and "escapes by a symbolic link" in said, said
    told = (daemon.data / "daemon.log").read_text()
    assert f"{running}: the policy that was saved does not hold in what runs: " in told, told
    recorded = daemon("log", "--json").ok().text
    assert "the policy that was saved does not hold in what runs" in recorded, recorded


def test_what_holds_from_the_next_start_on_is_said(daemon, running):
    said = add(daemon, "network.allowedUdp", "good.example:123").ok().errors
    assert f"agent {running}: network.allowedUdp good.example:123 holds from the next start on" in said, said


def test_what_holds_is_no_word(daemon, running):
    hidden = daemon.person.write(daemon.state / f"secret-{running}", "words")
    daemon("config", "set", "filesystem.denyRead", "[]", "--scope", "default").ok()
    assert daemon.sh(running, f"cat {hidden}").ok().text == "words"
    assert add(daemon, "filesystem.denyRead", hidden).ok().errors == ""
    assert daemon.sh(running, f"cat {hidden}").code != 0, "it holds when hutch config has ended"


def test_a_preset_is_named_and_an_unknown_one_lists_them(daemon, agent):
    for word in ("cdx", "nosuch"):
        refused = daemon("agent", "set", agent, f"policy={word}")
        assert refused.code != 0 and "claude-code, codex, pi, gemini" in refused.errors, str(refused)
        assert f'policy: there is no preset "{word}"' in refused.errors, str(refused)
    refused = daemon("agent", "set", agent, "policy=./codex")
    assert "neither an absolute path nor a preset" in refused.errors, str(refused)
    daemon("agent", "set", agent, "policy=codex").ok()
    assert json.loads(daemon("agent", "show", agent, "--json").ok().text)["policy"] == "codex"
    daemon.sh(agent, "true").ok()
