# Secrets that are bound to hosts, of agents that are OS users: of root's daemon, and of a person's who is not root.
import pathlib
import sys

import placeholders
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "helper"))
import tools_test  # noqa: E402


class Daemon(tools_test.Daemon):
    """In that internet."""

    def __init__(self, internet, *args):
        self.internet = internet
        super().__init__(*args)

    def options(self, given):
        enter = ["nsenter", "--target", str(self.internet.near.pid), "--net", "--"]
        return {**super().options(given), "outer": [*enter, *self.machine.enter()]}


@pytest.fixture(params=tools_test.PEOPLE)
def daemon(request, machine, internet):
    person = machine.base.person("root") if request.param == "root" else machine.person(request.param)
    internet.lend(machine)
    made = Daemon(internet, machine, person)
    yield made
    made.stop()


def test_a_placeholder_is_put_in_for_its_host_and_nobody_inside_has_it(daemon, internet):
    policy = placeholders.policy_of(internet, allowedDomains=["good.example"])
    agent = daemon.create(f"policy={daemon.person.write(daemon.state / 'policy.json', policy)}")
    placeholders.is_put_in(daemon, agent)
    daemon("agent", "remove", agent).ok()
