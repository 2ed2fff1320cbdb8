# Coding agents, unmodified from npm, run whole in a sandbox: hutch run --policy NAME -- AGENT.
"""Their model is one of the test's own on loopback, which has them run one command by their own shell tool."""

import json
import re

import fake_model
import harness
import pytest

pytestmark = pytest.mark.slow

COMMAND = ("cat {home}/secret; echo made > made.txt; cat made.txt; cat {home}/.ssh/id; "
           "echo evil > {obeyed}; (echo > /dev/tcp/127.0.0.1/1) 2>&1 | head -c 0; id -u")
AGENTS = {
    "claude-code": ("@anthropic-ai/claude-code", ".claude", ".claude/settings.json"),
    "codex": ("@openai/codex", ".codex", ".codex/config.toml"),
    "pi": ("@earendil-works/pi-coding-agent", ".pi/agent", ".pi/agent/settings.json"),
    "gemini": ("@google/gemini-cli", ".gemini", ".gemini/settings.json"),
    "opencode": ("opencode-ai", ".local/share/opencode", ".config/opencode/opencode.json"),
}
# What their installations run: each brings its program by an optional dependency.
INSTALLED_BY = {"claude-code": "install.cjs", "opencode": "postinstall.mjs"}
RECORDS = {"gemini": "*.json*", "opencode": "opencode.db"}  # else *.jsonl
SETTINGS = {"gemini": json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}})}
# What a program complains of where its state is not what it wants.
NOISE = re.compile("failed to|could not create|EROFS|EACCES|EPERM|ENOENT", re.IGNORECASE)


def line_of(agent, port):
    if agent == "claude-code":
        return ["claude", "-p", "go", "--dangerously-skip-permissions"], {
            "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"}
    if agent == "codex":
        provider = ('model_providers.fake={name="fake",base_url="http://127.0.0.1:%d/v1",'
                    'wire_api="responses",env_key="OPENAI_API_KEY"}' % port)
        return ["codex", "exec", "-m", "gpt-5", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
                "-c", provider, "-c", "model_provider=fake", "go"], {"OPENAI_API_KEY": "k"}
    if agent == "gemini":
        return ["gemini", "-p", "go", "--yolo", "--skip-trust", "-m", "gemini-2.5-flash"], {
            "GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}"}
    if agent == "opencode":
        provider = {"provider": {"anthropic": {"options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "k"}}},
                    "permission": "allow"}
        return ["opencode", "run", "--model", "anthropic/claude-sonnet-4-5", "go"], {
            "OPENCODE_CONFIG_CONTENT": json.dumps(provider)}
    return ["pi", "-p", "--provider", "fake", "--model", "fake-1", "go"], {"ANTHROPIC_API_KEY": "k"}


def models_of_pi(port):
    model = {"id": "fake-1", "name": "fake", "reasoning": False, "input": ["text"], "contextWindow": 100000,
             "maxTokens": 1000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
    return json.dumps({"providers": {"fake": {"baseUrl": f"http://127.0.0.1:{port}", "api": "anthropic-messages",
                                              "apiKey": "k", "models": [model]}}})


@pytest.mark.parametrize("agent", AGENTS)
def test_it_works_and_reaches_nothing_else(base, npm, agent):
    person = base.person("user")  # two of them refuse root what takes their questions away
    package, state, obeyed = AGENTS[agent]
    place = npm(package)
    if agent in INSTALLED_BY:
        install = place / "node_modules" / package / INSTALLED_BY[agent]
        harness.subprocess.run(["node", install], cwd=install.parent, check=True, timeout=300)
    home = person.mkdir(base.path / f"home-of-{agent}")
    project = person.mkdir(home / "project")
    person.write(home / "secret", "theirs")
    person.write(home / ".ssh" / "id", "private")
    person.write(home / obeyed, SETTINGS.get(agent, "{}") if obeyed.endswith("json") else "")
    before = (home / obeyed).read_text()
    hutch = harness.Hutch(base, person, project)
    with fake_model.FakeModel(COMMAND.format(home=home, obeyed=home / obeyed)) as model:
        if agent == "pi":
            person.write(home / ".pi/agent/models.json", models_of_pi(model.port))
        line, variables = line_of(agent, model.port)
        path = f"{place}/node_modules/.bin:{harness.PATH}"
        passed = [word for name in variables for word in ("--env", name)]
        # The model, and where the test has put the program.
        passed += ["--allow-host-port", model.port, "--allow-read", place]
        done = hutch("run", "--policy", agent, *passed, "--", *line, timeout=300, stdin=b"",
                     env={"HOME": str(home), "PATH": path, "XDG_CONFIG_HOME": None, "XDG_DATA_HOME": None, **variables})
    assert done.code == 0 and model.heard, str(done)
    told = re.search(r"RESULT: .*", done.text)
    assert told, str(done)
    assert "made" in told[0] and "theirs" not in told[0] and "private" not in told[0], str(done)
    assert str(person.uid) in told[0]
    assert (project / "made.txt").read_text() == "made\n"
    assert (home / obeyed).read_text() == before
    assert any((home / state).rglob(RECORDS.get(agent, "*.jsonl"))), "its own record of the session is kept"
    assert not NOISE.search(done.errors), done.errors
    assert ("making " in done.errors) == (agent != "pi"), done.errors
