# Secrets that are bound to hosts, of agents that are containers.
import daemons
import internet as internets
import placeholders
import pytest

IMAGE = "hutch-tests:latest"


@pytest.fixture(scope="module")
def internet(base):
    with internets.running(base.unused("internet-of-secrets")) as made:
        yield made


class Daemon(daemons.Daemon):
    """In that internet, whose agents are containers of an engine outside of it."""

    def __init__(self, internet, engine, *args):
        self.internet, self.engine = internet, engine
        super().__init__(*args)

    def options(self, given):
        options = super().options({**given, "env": {"DOCKER_HOST": self.engine.host, **given.get("env", {})}})
        return {"outer": self.internet.enter(options["cwd"]), **options}


@pytest.fixture
def daemon(loaded_engine, internet, base):
    made = Daemon(internet, loaded_engine, base, base.person("root"))
    yield made
    made("daemon", "stop").ok()
    assert not loaded_engine.containers()


def test_a_placeholder_is_put_in_for_its_host_and_nobody_inside_has_it(daemon, internet):
    policy = placeholders.policy_of(internet, allowedDomains=["good.example"])
    file = daemon.person.write(daemon.state / "policy.json", policy)
    agent = daemon.create("backend=container", f"image={IMAGE}", f"policy={file}")
    placeholders.is_put_in(daemon, agent)
    daemon("agent", "remove", agent).ok()
