# Plugins of agents with an image, by whoever has one (tests/lib/plugin_cases.py).
import pytest

import daemons
import host_image
import plugin_cases
import recipes
import rootfs

globals().update({name: test for name, test in vars(plugin_cases).items() if name.startswith("test_")})


class ImageDaemon(daemons.Daemon):
    def create(self, *settings, name=None):
        return super().create("image=host", *settings, name=name)


@pytest.fixture(scope="module", params=rootfs.OWNERS)
def daemon(request, base):
    """With the image "host", of this machine's own programs."""
    person = rootfs.owner(base, request.param)
    made = ImageDaemon(base, person)
    path = host_image.archive(made.state / "host.tar")
    person.own(path)
    made("image", "import", "host", path, timeout=180).ok()
    path.unlink()
    yield made
    for name in [one["name"] for one in made.json("agent", "list")]:
        made("agent", "remove", name).ok()
    made("image", "remove", "host").ok()
    made.stop()


@pytest.fixture
def plugin_agent(daemon):
    name = daemon.create("autonomousExec.enabled=true")
    yield name
    daemon("agent", "remove", name).ok()


@pytest.fixture
def recipe(daemon):
    return recipes.Files(daemon)


def test_what_it_changes_of_the_system_is_the_agents(daemon, plugin_agent, recipe):
    """A narrowed plugin has the agent's own root, and the agent what the plugin wrote there."""
    plugin_cases.install(daemon, plugin_agent, recipe, "Closed", permissions={"network": "none"},
                         tools=[recipes.tool("write", "echo new > /var/tmp/of-plugin; cat /var/tmp/of-agent")])
    daemon.sh(plugin_agent, "echo old > /var/tmp/of-agent").ok()
    assert plugin_cases.said(daemon, plugin_agent, "closed_write") == "old\n"
    assert daemon.sh(plugin_agent, "cat /var/tmp/of-plugin").ok().text == "new\n"
    # Its sandbox is the one before's no more after the agent's next start.
    daemon("agent", "stop", plugin_agent).ok()
    daemon.sh(plugin_agent, "echo newer > /var/tmp/of-agent").ok()
    assert plugin_cases.said(daemon, plugin_agent, "closed_write") == "newer\n"
    daemon("plugin", "remove", "closed").ok()
