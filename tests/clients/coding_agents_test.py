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
}


def line_of(agent, port):
    if agent == "claude-code":
        return ["claude", "-p", "go", "--dangerously-skip-permissions"], {
            "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"}
    if agent == "codex":
        provider = ('model_providers.fake={name="fake",base_url="http://127.0.0.1:%d/v1",'
                    'wire_api="responses",env_key="OPENAI_API_KEY"}' % port)
        return ["codex", "exec", "-m", "gpt-5", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
                "-c", provider, "-c", "model_provider=fake", "go"], {"OPENAI_API_KEY": "k"}
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
    if agent == "claude-code":
        # What its installation runs: its own package brings the program by an optional dependency.
        install = place / "node_modules" / package / "install.cjs"
        harness.subprocess.run(["node", install], cwd=place, check=True, timeout=300)
    home = person.mkdir(base.path / f"home-of-{agent}")
    project = person.mkdir(home / "project")
    person.write(home / "secret", "theirs")
    person.write(home / ".ssh" / "id", "private")
    person.mkdir(home / state)
    if agent == "claude-code":
        person.mkdir(home / state / "session-env")  # it runs no command without, and nobody makes it inside
    person.write(home / obeyed, "{}" if obeyed.endswith("json") else "")
    before = (home / obeyed).read_text()
    hutch = harness.Hutch(base, person, project)
    with fake_model.FakeModel(COMMAND.format(home=home, obeyed=home / obeyed)) as model:
        if agent == "pi":
            person.write(home / ".pi/agent/models.json", models_of_pi(model.port))
        policy = json.loads(hutch("config", "preset", agent).ok().text)
        policy["network"]["hostPorts"] = [model.port]
        # Where the test has put the program.
        policy["filesystem"]["allowRead"].append(str(place))
        file = person.write(base.path / f"{agent}.json", json.dumps(policy))
        line, variables = line_of(agent, model.port)
        path = f"{place}/node_modules/.bin:{harness.PATH}"
        passed = [word for name in variables for word in ("--env", name)]
        done = hutch("run", "--policy", file, *passed, "--", *line, timeout=300, stdin=b"",
                     env={"HOME": str(home), "PATH": path, **variables})
    assert done.code == 0 and model.heard, str(done)
    told = re.search(r"RESULT: .*", done.text)
    assert told, str(done)
    assert "made" in told[0] and "theirs" not in told[0] and "private" not in told[0], str(done)
    assert str(person.uid) in told[0]
    assert (project / "made.txt").read_text() == "made\n"
    assert (home / obeyed).read_text() == before
    assert any((home / state).rglob("*.jsonl")), "its own record of the session is kept"
