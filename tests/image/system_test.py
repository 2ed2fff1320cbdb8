# Agents of the backend namespace that get the default image when something is to be installed, and not before.
import json
import os
import pathlib

import api
import daemons
import packages
import pytest
import recipes
import rootfs
import terminal

pytestmark = pytest.mark.skipif(not packages.are_there(), reason="no apt and dpkg to make a system of")

IMAGE = "hutch-sandbox:latest"
HOST_PACKAGES = pathlib.Path("/var/lib/dpkg/info")
CONTENTS = [
    packages.Package("hutch-hello", [("usr/bin/hutch-hello", b"#!/bin/sh\necho hello\n", 0o755)]),
    # The host has one of the name.
    packages.Package("base-files", [("usr/bin/hutch-base", b"#!/bin/sh\necho image\n", 0o755)]),
    packages.Package("python3-hutch-test", [("usr/bin/hutch-named", b"#!/bin/sh\necho named\n", 0o755)]),
]


@pytest.fixture(params=rootfs.OWNERS)
def agents(request, base):
    """A daemon of root, of a user, and of one with subordinate ids. The default image is there, so that none is
    built."""
    made = daemons.Daemon(base, rootfs.owner(base, request.param))
    path = packages.archive(made.state / "system.tar", made.person, CONTENTS)
    made("image", "import", IMAGE, path).ok()
    path.unlink()
    yield made
    for name in [one["name"] for one in made.json("agent", "list")]:
        made("agent", "remove", name).ok()
    made("image", "remove", IMAGE).ok()
    made.stop()


@pytest.fixture
def recipe(agents):
    """The path of a plugin that needs a package and has a tool that runs it."""
    return recipes.Files(agents)("Greeter", dependencies=["hutch-hello"], tools=[recipes.tool("greet", "hutch-hello")])


@pytest.fixture
def host_recipe(agents):
    """The same, of a package that the host has, and whose tool says whether the image has it."""
    if not (HOST_PACKAGES / "base-files.list").exists():
        pytest.skip("the host has no package base-files")
    return recipes.Files(agents)("Greeter", dependencies=["base-files"],
                                 tools=[recipes.tool("greet", "hutch-base 2>/dev/null || echo host")])


def image_of(agents, name):
    return agents.json("agent", "show", name)["image"]


def on_terminal(agents, *words):
    return terminal.Terminal(agents.person, [str(agents.program), *words], cwd="/",
                             env={"HUTCH_STATE": str(agents.state)})


def greet(agents, name):
    return json.loads(agents("tool", "call", name, "greeter_greet", "{}").out)


def post(agents, path):
    """The answer of the HTTP API by the daemon's socket."""
    connection = api.UnixConnection(agents.socket)
    connection.request("POST", path)
    answer = connection.getresponse()
    assert answer.status == 200
    return json.loads(answer.read())


def state_of(agents, name):
    [one] = agents.json("plugin", "list", "--agent", name)
    return one["state"]


def test_with_nobody_there_the_refusal_names_the_command(agents, recipe):
    name = agents.create("autonomousExec.enabled=true")
    command = f"hutch agent set {name} image=auto"
    answer = agents.tool(name, "sandbox_install", packages=["hutch-hello"])
    assert not answer["ok"] and command in answer["message"] and answer["kind"] == "unavailable", answer
    for words in (["agent", "install", name, "hutch-hello"], ["plugin", "install", str(recipe), "--agent", name]):
        done = agents(*words)
        assert done.code != 0 and command in done.errors, str(done)
    assert image_of(agents, name) == "" and agents.json("plugin", "list", "--agent", name) == []


def test_the_setting_gives_it_at_the_first_installation(agents):
    name = agents.create("image=auto", "autonomousExec.enabled=true")
    agents.sh(name, "echo mine > note").ok()
    assert image_of(agents, name) == "auto"
    # A name that no package has is refused before that.
    assert agents.tool(name, "sandbox_install", packages=["a;b"])["kind"] == "invalid_args"
    assert image_of(agents, name) == "auto"
    answer = agents.tool(name, "sandbox_install", packages=["hutch-hello"])
    assert answer["ok"], answer
    assert image_of(agents, name) == IMAGE
    assert agents.sh(name, "hutch-hello; cat note").ok().text == "hello\nmine\n"


def test_the_setting_gives_it_for_a_plugin(agents, recipe):
    name = agents.create("image=auto")
    agents("plugin", "install", recipe, "--agent", name).ok()
    assert image_of(agents, name) == IMAGE
    assert greet(agents, name)["result"]["stdout"] == "hello\n"


def test_one_question_on_a_terminal(agents):
    name = agents.create()
    agents.sh(name, "echo mine > note").ok()
    with on_terminal(agents, "agent", "install", name, "hutch-hello") as window:
        window.read_until(b"Give it the image? [y/N] ")
        window.send("n\n")
        assert window.wait() != 0 and b"nothing was installed" in window.seen
    assert image_of(agents, name) == ""
    with on_terminal(agents, "agent", "install", name, "hutch-hello") as window:
        window.read_until(b"Give it the image? [y/N] ")
        window.send("y\n")
        assert window.wait() == 0, window.seen
        assert window.seen.count(b"[y/N]") == 1
    assert image_of(agents, name) == IMAGE
    assert agents.sh(name, "hutch-hello; cat note").ok().text == "hello\nmine\n"


def test_one_question_for_a_plugin_and_for_a_tool(agents, recipe):
    name = agents.create("autonomousExec.enabled=true")
    arguments = json.dumps({"packages": ["hutch-hello"]})
    for words in (["plugin", "install", str(recipe), "--agent", name],
                  ["tool", "call", agents.create("autonomousExec.enabled=true"), "sandbox_install", arguments]):
        with on_terminal(agents, *words) as window:
            window.read_until(b"Give it the image? [y/N] ")
            window.send("y\n")
            assert window.wait() == 0, window.seen
            assert window.seen.count(b"[y/N]") == 1
    assert greet(agents, name)["result"]["stdout"] == "hello\n"


def test_what_fails_after_a_yes_is_told_beside_the_envelope(agents):
    name = agents.create("autonomousExec.enabled=true")
    pid = agents.detach(name, "sleep 600")
    with on_terminal(agents, "tool", "call", name, "sandbox_install", '{"packages": ["hutch-hello"]}') as window:
        window.read_until(b"Give it the image? [y/N] ")
        window.send("y\n")
        assert window.wait() == 1, window.seen
    assert f"processes run in the sandbox of agent {name}".encode() in window.seen, window.seen
    assert b'"needs":"system"' in window.seen.replace(b" ", b""), window.seen
    assert agents.processes(name)[pid]["running"] and image_of(agents, name) == ""


@pytest.fixture
def registry(agents):
    """A registry that the person's own npm is configured for."""
    path = agents.person.write(agents.person.home / ".npmrc", "registry=http://nowhere.example/\n")
    yield
    path.unlink()


def test_what_the_set_up_needs_is_asked_after_the_image_is_given(agents, registry):
    name = agents.create("image=auto")
    options = ["Etc::SourceList=$PWD/sources.list", "Etc::SourceParts=/dev/null", "State::Lists=$PWD/lists",
               "Cache=$PWD/cache"]
    update = "apt-get -o Debug::NoLocking=1 " + " ".join(f"-o Dir::{option}" for option in options) + " update"
    setup = ("mkdir -p lists/partial cache/archives/partial; "
             f"echo 'deb [trusted=yes] http://nowhere.example/ ./' > sources.list; {update}; exit 1")
    path = recipes.Files(agents)("Fetcher", dependencies=["hutch-hello"], setup=setup,
                                 tools=[recipes.tool("greet", "hutch-hello")])
    with on_terminal(agents, "plugin", "install", str(path), "--agent", name) as window:
        window.read_until(b"Let it? [y/N] ")
        window.send("n\n")
        assert window.wait() != 0, window.seen
    assert image_of(agents, name) == IMAGE


def test_the_question_names_registries_only_where_a_yes_opens_them(agents, registry):
    path = recipes.Files(agents)("Fetcher", dependencies=["hutch-hello"], setup="true",
                                 tools=[recipes.tool("greet", "hutch-hello")])
    for setting, told in (("network=rules", True), ("network=none", False)):
        with on_terminal(agents, "plugin", "install", str(path), "--agent", agents.create(setting)) as window:
            window.read_until(b"Give it the image? [y/N] ")
            window.send("n\n")
            assert window.wait() != 0, window.seen
        assert (b"package registries while it runs" in window.seen) == told, window.seen
        assert (b"nowhere.example" in window.seen) == told, window.seen


def test_what_runs_is_not_ended_for_it(agents):
    name = agents.create("image=auto", "autonomousExec.enabled=true")
    pid = agents.detach(name, "sleep 600")
    answer = agents.tool(name, "sandbox_install", packages=["hutch-hello"])
    assert not answer["ok"] and "processes run" in answer["message"], answer
    assert agents.processes(name)[pid]["running"] and image_of(agents, name) == "auto"
    agents("kill", name, pid).ok()
    assert agents.tool(name, "sandbox_install", packages=["hutch-hello"])["ok"]


def test_what_a_command_left_running_is_not_ended_for_it(agents):
    name = agents.create("image=auto", "autonomousExec.enabled=true")
    left = agents.sh(name, "sleep 600 >/dev/null 2>&1 & echo $!").ok().text.strip()
    answer = agents.tool(name, "sandbox_install", packages=["hutch-hello"])
    assert not answer["ok"] and "processes run" in answer["message"], answer
    agents.sh(name, f"kill {left} && while kill -0 {left} 2>/dev/null; do sleep 0.01; done").ok()
    assert image_of(agents, name) == "auto"
    assert agents.tool(name, "sandbox_install", packages=["hutch-hello"])["ok"]


def test_the_command_that_a_refusal_names_helps_while_the_sandbox_runs(agents, recipe):
    name = agents.create("autonomousExec.enabled=true")
    assert not agents.tool(name, "sandbox_install", packages=["hutch-hello"])["ok"]
    agents("agent", "set", name, "image=auto").ok()
    assert agents.tool(name, "sandbox_install", packages=["hutch-hello"])["ok"]
    other = agents.create()
    assert agents("agent", "install", other, "hutch-hello").code != 0
    agents("agent", "set", other, "image=auto").ok()
    agents("agent", "install", other, "hutch-hello").ok()
    third = agents.create()
    assert agents("plugin", "install", recipe, "--agent", third).code != 0
    agents("agent", "set", third, "image=auto").ok()
    agents("plugin", "install", recipe, "--agent", third).ok()


def test_a_setting_that_was_taken_back_gives_nothing(agents, recipe):
    name = agents.create("image=auto", "autonomousExec.enabled=true")
    agents.sh(name, "true").ok()
    agents("agent", "set", name, "image=").ok()
    answer = agents.tool(name, "sandbox_install", packages=["hutch-hello"])
    assert not answer["ok"] and f"hutch agent set {name} image=auto" in answer["message"], answer
    assert agents("agent", "install", name, "hutch-hello").code != 0
    assert agents("plugin", "install", recipe, "--agent", name).code != 0
    assert image_of(agents, name) == ""


def test_an_image_that_is_set_needs_a_new_start_and_no_other_image(agents):
    name = agents.create("autonomousExec.enabled=true")
    agents.sh(name, "true").ok()
    agents("agent", "set", name, f"image={IMAGE}").ok()
    answer = agents.tool(name, "sandbox_install", packages=["hutch-hello"])
    assert not answer["ok"] and f"image {IMAGE} holds from its next start on" in answer["message"], answer
    assert f"hutch agent stop {name}" in answer["message"] and "needs" not in answer, answer
    with on_terminal(agents, "agent", "install", name, "hutch-hello") as window:
        assert window.wait() != 0 and b"[y/N]" not in window.seen, window.seen
    agents("agent", "stop", name).ok()
    assert agents.tool(name, "sandbox_install", packages=["hutch-hello"])["ok"]


def test_a_yes_has_the_sandbox_start_with_the_image_that_is_set_meanwhile(agents):
    name = agents.create()
    with on_terminal(agents, "agent", "install", name, "hutch-hello") as window:
        window.read_until(b"Give it the image? [y/N] ")
        agents("agent", "set", name, f"image={IMAGE}").ok()
        window.send("y\n")
        assert window.wait() == 0, window.seen
    assert agents.sh(name, "hutch-hello").ok().text == "hello\n"


@pytest.fixture
def broken(agents):
    """With this the image does not start: a file is where the sandbox's own /run has to be."""
    root = agents.data / "images" / IMAGE / "root"
    path = root / "run"
    path.write_text("no directory")
    os.chown(path, root.stat().st_uid, root.stat().st_gid)
    yield path
    path.unlink(missing_ok=True)


@pytest.mark.parametrize("setting", ["image=auto", "image="])
def test_an_image_that_does_not_start_is_taken_back(agents, broken, setting):
    name = agents.create(setting, "autonomousExec.enabled=true")
    agents.sh(name, "echo mine > note").ok()
    if setting == "image=auto":
        answer = agents.tool(name, "sandbox_install", packages=["hutch-hello"])
        said = answer["message"]
        assert not answer["ok"], answer
    else:
        with on_terminal(agents, "agent", "install", name, "hutch-hello") as window:
            window.read_until(b"Give it the image? [y/N] ")
            window.send("y\n")
            assert window.wait() != 0, window.seen
        said = window.seen.decode().replace("\r\n", "")
    assert f"does not start with the image {IMAGE}" in said and "has the host's own system again" in said, said
    assert image_of(agents, name) == setting.removeprefix("image=")
    assert agents.sh(name, "cat note").ok().text == "mine\n"
    assert not (agents.data / "layers" / name).exists()
    if setting == "image=auto":
        broken.unlink()
        assert agents.tool(name, "sandbox_install", packages=["hutch-hello"])["ok"]


def test_the_users_git_settings_hold_in_an_image(agents):
    config = agents.person.write(agents.person.home / ".gitconfig", "[user]\n name = Ann Example\n")
    name = agents.create(f"image={IMAGE}")
    said = agents.sh(name, "cat $GIT_CONFIG_SYSTEM").ok().text
    config.unlink()
    assert "name = " in said and "Ann Example" in said, said


def test_names_of_alpines_are_debians_here(agents):
    name = agents.create("image=auto")
    done = agents("agent", "install", name, "py3-hutch-test").ok()
    assert "`py3-hutch-test` is `python3-hutch-test`" in done.errors
    assert agents.sh(name, "hutch-named").ok().text == "named\n"
    failed = agents("agent", "install", name, "no-such-dev")
    assert failed.code == 1 and "hutch knows no Debian name for them: no-such-dev" in failed.errors, str(failed)


def test_the_setting_is_for_namespace_alone(agents):
    refused = agents("agent", "create", "x", "backend=bwrap", "image=auto")
    assert refused.code == 125 and "image=auto" in refused.errors


def test_a_reset_puts_the_packages_of_plugins_back(agents, recipe):
    name = agents.create(f"image={IMAGE}", "autonomousExec.enabled=true")
    agents("plugin", "install", recipe, "--agent", name).ok()
    assert agents.tool(name, "sandbox_install", packages=["python3-hutch-test"])["ok"]
    agents("agent", "reset", name).ok()
    # What the agent itself installed is gone, what its plugin needs is not.
    assert agents.sh(name, "command -v hutch-named || hutch-hello").ok().text == "hello\n"
    assert state_of(agents, name) == "ready"
    assert greet(agents, name)["result"]["stdout"] == "hello\n"


def test_packages_that_cannot_be_put_back_are_told_as_repairing(agents, recipe):
    name = agents.create(f"image={IMAGE}")
    agents("plugin", "install", recipe, "--agent", name).ok()
    package = agents.data / "images" / IMAGE / "root/usr/share/repository/hutch-hello.deb"
    content = package.read_bytes()
    package.write_bytes(b"")
    done = agents("agent", "reset", name).ok()
    assert "plugin greeter is being repaired" in done.errors, str(done)
    for verb in ("start", "reset"):
        shown = post(agents, f"/v1/agents/{name}/{verb}")
        assert any("plugin greeter is being repaired" in note for note in shown["notes"]), shown
    assert state_of(agents, name) == "repairing"
    answer = greet(agents, name)
    assert not answer["ok"] and "being repaired" in answer["message"], answer
    package.write_bytes(content)
    # Before the first call, whoever starts the agent.
    assert greet(agents, name)["result"]["stdout"] == "hello\n"
    assert state_of(agents, name) == "ready"


def test_a_start_puts_packages_back_as_well(agents, recipe):
    name = agents.create(f"image={IMAGE}")
    agents("plugin", "install", recipe, "--agent", name).ok()
    package = agents.data / "images" / IMAGE / "root/usr/share/repository/hutch-hello.deb"
    content = package.read_bytes()
    package.write_bytes(b"")
    agents("agent", "reset", name).ok()
    package.write_bytes(content)
    # Also after the daemon that was told has ended.
    agents("daemon", "stop").ok()
    agents("agent", "start", name).ok()
    assert state_of(agents, name) == "ready"
    assert agents.sh(name, "hutch-hello").ok().text == "hello\n"


def test_an_image_gets_the_packages_that_the_host_had_for_a_plugin(agents, host_recipe):
    name = agents.create("image=auto", "autonomousExec.enabled=true")
    agents("plugin", "install", host_recipe, "--agent", name).ok()
    assert greet(agents, name)["result"]["stdout"] == "host\n" and image_of(agents, name) == "auto"
    assert agents.tool(name, "sandbox_install", packages=["hutch-hello"])["ok"]
    assert greet(agents, name)["result"]["stdout"] == "image\n"


def test_an_image_that_is_set_gets_them_from_its_start_on(agents, host_recipe):
    name = agents.create("autonomousExec.enabled=true")
    agents("plugin", "install", host_recipe, "--agent", name).ok()
    agents("agent", "set", name, f"image={IMAGE}").ok()
    # The sandbox that runs still has the host's.
    assert greet(agents, name)["result"]["stdout"] == "host\n"
    agents("agent", "stop", name).ok()
    assert greet(agents, name)["result"]["stdout"] == "image\n"
    assert state_of(agents, name) == "ready"
    # And back again.
    agents("agent", "set", name, "image=").ok()
    agents("agent", "stop", name).ok()
    assert greet(agents, name)["result"]["stdout"] == "host\n"
