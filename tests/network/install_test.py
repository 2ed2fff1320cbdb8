# What an installation reaches: the hosts that the image's package manager is configured for, and nobody else does.
import json

import packages
import pytest

pytestmark = pytest.mark.skipif(not packages.are_there(), reason="no apt and dpkg to make a system of")

CONTENTS = [packages.Package("hello", [("usr/bin/hello", b"#!/bin/sh\necho hello\n", 0o755)])]
SOURCES = "deb [trusted=yes] http://good.example/debian ./\n"


@pytest.fixture(scope="session")
def repository(internet):
    """/debian of every host."""
    place = internet.www / "debian"
    place.mkdir()
    for name, content in packages.repository(CONTENTS).items():
        (place / name).write_bytes(content)


@pytest.fixture
def agent(hutch, backend, as_user, project, repository):
    """agent("exec", ...) is hutch with a state of its own, in which the agent "a" has an image."""
    if backend != "namespace":
        pytest.skip("only the backend namespace has images")
    state = as_user.mkdir(as_user.home / f"install-{project.name.split('-')[0]}")

    def call(*words):
        return hutch(*words, env={"HUTCH_STATE": str(state)})

    path = packages.archive(project / "system.tar", as_user, [], SOURCES)
    call("image", "import", "system", str(path)).ok()
    call("agent", "create", "a", "image=system", "autonomousExec.enabled=true").ok()
    yield call
    call("agent", "remove", "a").ok()
    call("image", "remove", "system").ok()
    call("daemon", "stop").ok()


def install(agent, name):
    return json.loads(agent("tool", "call", "a", "sandbox_install", json.dumps({"packages": [name]})).out)


def test_the_images_own_hosts_are_open_to_an_installation_alone(agent):
    answer = install(agent, "hello")
    assert answer["ok"], answer
    assert agent("exec", "a", "--", "hello").ok().text == "hello\n"
    options = "-o APT::Sandbox::User=root -o Dir::State::lists=/tmp/lists -o Debug::NoLocking=1"
    script = f"mkdir -p /tmp/lists/partial && apt-get {options} update"
    tried = agent("exec", "a", "--", "sh", "-c", script)
    assert "good.example" in str(tried) and "403" in str(tried), str(tried)


def test_what_the_agent_changes_of_the_configuration_opens_nothing(agent, as_user):
    if as_user.is_root:
        pytest.skip("the image is not the agent's own")
    changed = SOURCES.replace("good", "other")
    agent("exec", "a", "--", "sh", "-c", f"echo '{changed.strip()}' > /etc/apt/sources.list").ok()
    answer = install(agent, "hello")
    assert not answer["ok"] and "other.example" in answer["message"], answer
    assert "allowedDomains" in answer["message"]
