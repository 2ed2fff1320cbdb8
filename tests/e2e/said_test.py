# What hutch says of a run that isolates nothing, and that no verb waits for a person where no terminal is.
"""An editor of a terminal waits for keys; here its place is taken by a program of its name that waits for good."""

import json
import os

import pytest

EDITS = [("config", "edit", "--scope", "default"), ("settings", "edit"), ("plugin", "create")]


def test_none_says_that_nothing_is_isolated(hutch, project, as_user):
    done = hutch.run("sh", "-c", "echo x > .mcp.json", options=["--backend", "none", "--deny-write", "**/*.pem"],
                     cwd=project).ok()
    assert "backend none isolates nothing" in done.errors, str(done)
    assert "denied only" not in done.errors and "hold only" not in done.errors, str(done)
    assert (project / ".mcp.json").exists()


@pytest.mark.parametrize("verb", EDITS, ids=" ".join)
def test_no_editor_of_a_terminal_is_started_without_one(hutch, project, as_user, verb):
    state = as_user.mkdir(project.parents[2] / f"s{EDITS.index(verb)}-{as_user.name}")  # a socket's name is short
    programs = as_user.mkdir(project.parent / f"{project.name}-bin")
    as_user.write(programs / "vi", "#!/bin/sh\nsleep 60\n", 0o755)
    as_user.write(programs / "mine", "#!/bin/sh\nexit 0\n", 0o755)
    env = {"HUTCH_STATE": str(state), "PATH": f"{programs}:{os.environ['PATH']}", "EDITOR": None, "VISUAL": None}
    for editor in (None, "vi", f"{programs}/vi -n"):
        done = hutch(*verb, env={**env, "EDITOR": editor}, timeout=30)
        assert done.code == 125 and done.seconds < 20, str(done)
        assert "no terminal here for the editor" in done.errors and "VISUAL" in done.errors, str(done)
    assert "no terminal" not in hutch(*verb, env={**env, "EDITOR": "mine"}, timeout=30).errors
    assert not [name for _, _, files in os.walk(state) for name in files if name.startswith("edit-")]
    hutch("daemon", "stop", env=env)


def test_clients_that_start_anywhere_need_an_agent(hutch, project):
    for client in ("windsurf", "cline", "claude-desktop"):
        refused = hutch("mcp", "install", "--client", client, "--print", cwd=project)
        assert refused.code == 125 and "--agent" in refused.errors, str(refused)
        shown = hutch("mcp", "install", "--client", client, "--agent", "alice", "--print", cwd=project).ok()
        entry = json.loads(shown.text[shown.text.index("{"):])["mcpServers"]["hutch"]
        assert entry["args"] == ["mcp", "--agent", "alice"]
