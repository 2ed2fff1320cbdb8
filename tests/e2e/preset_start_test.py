# The presets of programs that no registry here has: a stand-in does what the program does at its start.
"""As an ordinary person, with and without what an earlier start has left in the home."""

import json
import os
import pathlib
import re
import shutil

import pytest

import harness

STAND_IN = pathlib.Path(__file__).with_name("preset_stand_in.py")
# What somebody has after signing in and setting up.
SET_UP = {
    "qwen": {".qwen/oauth_creds.json": "{}"},
    "copilot": {".copilot/config.json": "{}"},
    "cursor-agent": {".config/cursor/auth.json": "{}", ".local/share/cursor-agent/versions/1/package.json": "{}"},
    "aider": {".aider/oauth-keys.env": "OPENROUTER_API_KEY=k\n"},
    "goose": {".config/goose/secrets.yaml": "{}", ".config/goose/config.yaml": "GOOSE_MODEL: x\n"},
}
# What its start leaves out here, and the next one finds.
KEPT = {
    "qwen": [".qwen/installation_id", ".qwen/projects/-project/chats/1.jsonl"],
    "copilot": [".copilot/session-store.db", ".copilot/session-state/1/events.jsonl"],
    "cursor-agent": [".cursor/chats/1/2/store.db", ".cursor/projects/-project/worker.log"],
    "aider": [".aider/analytics.json", ".aider/caches/model_prices_and_context_window.json"],
    "goose": [".local/share/goose/sessions/sessions.db", ".local/state/goose/logs/cli/1/1.log"],
}
SECRETS = ["secret", ".ssh/id_ed25519", ".bash_history", ".npmrc"]
NOISE = re.compile("failed to|could not|EROFS|EACCES|EPERM|ENOENT|Traceback|was refused", re.IGNORECASE)

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("git", "npm", "node"))), reason="takes git and npm")


@pytest.fixture
def person(base):
    return base.person(harness.PEOPLE[-1])


@pytest.fixture(params=SET_UP)
def agent(request):
    return request.param


@pytest.fixture
def at_home(base, person, agent, request):
    """at_home(): a start of that agent in a project of a home of its own."""
    home = person.mkdir(base.unused("home-of-preset"))
    project = person.mkdir(home / "project")
    for name, text in {**SET_UP[agent], **dict.fromkeys(SECRETS, "theirs")}.items():
        person.write(home / name, text, mode=0o600)
    person.write(home / ".gitconfig", "[user]\n\tname = Ann Example\n\temail = ann@example.org\n")
    person.write(home / ".local/bin" / agent, f"#!/bin/sh\nexec python3 {project}/stand-in.py {agent}\n", mode=0o755)
    person.write(project / "stand-in.py", STAND_IN.read_text())
    person.write(project / "package.json", '{"name": "project", "version": "1.0.0"}')
    person.write(project / "local-package/package.json", '{"name": "local-package", "version": "1.0.0"}')
    commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]
    for words in (["init", "-q"], ["add", "."], commit):
        harness.run_in(person, ["git", *words], cwd=project, env={"HOME": str(home)}).ok()
    hutch = harness.Hutch(base, person, project)
    path = f"{home}/.local/bin:{harness.PATH}:{os.path.dirname(os.path.realpath(shutil.which('node')))}"

    def start(*words):
        return hutch("run", "--policy", agent, *words, "--", agent, timeout=180,
                     env={"HOME": str(home), "PATH": path, "XDG_CONFIG_HOME": None, "XDG_DATA_HOME": None})

    start.home, start.project = home, project
    return start


def test_it_starts_without_noise_and_finds_its_state_again(at_home, agent, person):
    first = at_home().ok()
    said = json.loads(first.text.splitlines()[-1])
    assert said["name"] == "Ann Example" and said["uid"] == person.uid, said
    assert said["secret"] == ["hidden"] * len(SECRETS), said
    assert not NOISE.search(first.errors), first.errors
    kept = {name: (at_home.home / name).stat().st_size for name in KEPT[agent]}
    assert harness.run_in(person, ["git", "log", "--format=%s"], cwd=at_home.project,
                          env={"HOME": str(at_home.home)}).ok().text == "by the agent\nfirst\n"
    second = at_home().ok()
    assert "making " not in second.errors and not NOISE.search(second.errors), second.errors
    records = [name for name in KEPT[agent] if name.endswith((".jsonl", ".log"))]
    assert all((at_home.home / name).stat().st_size > kept[name] for name in records), "it went on with its records"
    for name, text in SET_UP[agent].items():
        assert (at_home.home / name).read_text() == text, name
