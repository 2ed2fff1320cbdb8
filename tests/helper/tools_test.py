# Every tool for agents that are OS users: of root's daemon, and of a person's who is not root.
"""The course of work is that of tests/agents/every_tool_test.py, in a sandbox of the backend user."""

import pathlib
import sys

import pytest

import daemons
import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "agents"))
import every_tool_test as every  # noqa: E402

globals().update({name: test for name, test in vars(every).items() if name.startswith("test_")})

PEOPLE = ["root", "carol"]


class Daemon(daemons.Daemon):
    """A daemon of somebody's on that machine. An agent's user is made by root: for carol, before the agent."""

    def __init__(self, machine, person):
        self.machine = machine
        super().__init__(machine.base, person)

    def options(self, given):
        return super().options({"outer": self.machine.enter(), **given})

    def create(self, *settings, name=None):
        name = name or f"t{next(self.names)}"
        if not self.person.is_root:
            self.machine.init("--for", self.person.name, "--agent", name)
        return super().create("backend=user", *settings, name=name)


class Worker(every.Agent):
    def put(self, path, content):
        """As the agent's own user, in its home."""
        place = self.daemon.machine.file(f"{self.home}/{path}")
        status = self.daemon.machine.file(self.home).stat()
        user = harness.Person("agent", status.st_uid, place)
        user.write(place, content)


@pytest.fixture(scope="module", params=PEOPLE)
def daemon(request, machine):
    person = machine.base.person("root") if request.param == "root" else machine.person(request.param)
    made = Daemon(machine, person)
    yield made
    made.stop()


@pytest.fixture
def worker(daemon):
    name = daemon.create()
    yield Worker(daemon, name)
    daemon("agent", "remove", name).ok()


def test_the_agent_is_a_user_of_its_own(worker):
    user = worker.command("id -un").strip()
    expected = f"agent-{worker.name}" if worker.daemon.person.is_root else f"hutch-carol-{worker.name}-"
    assert user.startswith(expected) and worker.home.endswith(user)
