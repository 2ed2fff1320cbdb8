# What an agent's command was not let change is told to whoever runs it, with what allows it.
import itertools
import json

import harness
import pytest

numbers = itertools.count(1)


@pytest.fixture
def worker(daemon):
    """An agent that works in a repository of the person's: its name, and the path of a hook there."""
    person = daemon.person
    project = person.mkdir(person.home / f"hooked-{next(numbers)}")
    harness.run_in(person, ["git", "init", "-q", "."], cwd=project).ok()
    name = daemon.create(f"dir={project}", "autonomousExec.enabled=true")
    yield name, project / ".git/hooks/pre-commit"
    daemon("agent", "remove", name).ok()


def test_a_command_that_fails_says_it(daemon, worker):
    agent, hook = worker
    line = f"writing {hook} was refused: programs outside act on what is written there"
    done = daemon.sh(agent, f"echo x > {hook}")
    assert done.code != 0 and done.errors.count(f"hutch: {line}\n") == 1, str(done)
    assert line in daemon("why").ok().text
    assert f"hutch: {line}\n" in daemon.sh(agent, f"echo y > {hook}").errors
    assert "refused" not in daemon.sh(agent, f"echo x > {hook}; true").ok().errors
    assert not hook.exists()


def test_a_tool_says_it(daemon, worker):
    agent, hook = worker
    answer = json.loads(daemon("tool", "call", agent, "sandbox_exec", json.dumps({"command": f"touch {hook}"})).text)
    assert any(f"writing {hook} was refused: " in line for line in answer["warnings"]), answer
