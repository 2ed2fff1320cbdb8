# sandbox_install in a container: root of a container beside the agent's, whose changes become the agent's own image.
import concurrent.futures
import json
import os

import packages
import pytest

import harness
import recipes

pytestmark = pytest.mark.skipif(not packages.are_there(), reason="no apt and dpkg to make a system of")

IMAGE = "hutch-system:latest"
MARKERS = [f"{number}{os.getpid()}" for number in (734, 735)]


def unread(path):
    """A pipe there, at which nobody waits as long as the installation runs."""
    return f'rm -f "{path}"; mkfifo "{path}"; (while : > "{path}"; do :; done) > /dev/null 2>&1 & :'


CONTENTS = [
    *packages.every_install_has(),
    packages.Package("around", [], "cat /proc/self/status > /srv/status; id -u > /srv/id\n"
                                   "echo $HOME:$EVIL > /srv/variables; ls -A /workspace /tmp > /srv/seen 2>&1 || :"),
    packages.Package("pipe", [], unread("/etc/group")),
    packages.Package("linked", [], f"{unread('/srv/pipe')}; rm /etc/passwd; ln -s ../srv/pipe /etc/passwd"),
    # Two names of which the engine's answers have one, which is the file's.
    packages.Package("decoy", [], "cd /etc; name=$(printf 'a\\377'); : > \"$(printf 'a\\357\\277\\275')\"\n"
                                  f"{unread('$name')}; rm group; ln -s \"$name\" group"),
    packages.Package("place", [], "rm -rf /workspace; mkdir /workspace; ln -s /srv /workspace/agents"),
    packages.Package("daemon", [], f"sleep {MARKERS[0]} & (sleep {MARKERS[1]} & ) & :"),
]


@pytest.fixture(scope="module")
def system(loaded_engine, base):
    path = packages.archive(base.unused(f"system-{loaded_engine.kind}.tar"), base.person("root"), CONTENTS)
    loaded_engine.load(path, IMAGE)
    path.unlink()
    return loaded_engine


def layers(engine):
    _, text = engine.ask("GET", "/v1.41/images/json")
    tags = [tag for image in json.loads(text) for tag in image.get("RepoTags") or []]
    return [tag for tag in tags if "hutch-agent-" in tag]


@pytest.fixture
def agent(daemon, system):
    name = daemon.create(f"image={IMAGE}", "autonomousExec.enabled=true")
    yield name
    daemon("agent", "remove", name).ok()
    assert layers(system) == []


def install(daemon, agent, *names):
    arguments = json.dumps({"packages": list(names)})
    return json.loads(daemon("tool", "call", agent, "sandbox_install", arguments, timeout=180).out)


def text(daemon, agent, path):
    return daemon.exec(agent, "/bin/cat", path).ok().text


def test_what_is_installed_stays_until_the_agent_is_reset(daemon, agent, system):
    answer = install(daemon, agent, "hello")
    assert answer["ok"] and answer["result"]["installed"] == ["hello"], answer
    assert daemon.sh(agent, "hello; stat -c '%a %u:%g' /usr/bin/scores").ok().text == "hello\n2755 0:60\n"
    assert install(daemon, agent, "more")["ok"]
    daemon("agent", "stop", agent).ok()
    assert daemon.sh(agent, "more-of-it").ok().text == "hello\n"
    assert len(layers(system)) == 1
    other = daemon.create(f"image={IMAGE}")
    assert daemon.sh(other, "hello").code == 127, "it is another agent's"
    daemon("agent", "remove", other).ok()
    daemon("agent", "reset", agent).ok()
    assert layers(system) == []
    assert daemon.sh(agent, "hello").code == 127


def test_several_at_once_lose_nothing(daemon, agent):
    """Each makes the agent's next image of the one before; what comes meanwhile waits, or says what is in the way."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda name: (name, install(daemon, agent, name)), ["hello", "more", "around"]))
    for name, answer in answers:
        if not answer["ok"]:
            assert answer["message"], answer
            assert install(daemon, agent, name)["ok"]
    assert daemon.sh(agent, "more-of-it && test -e /srv/id").ok().text == "hello\n"
    kept = daemon.sh(agent, "ls -A /var/cache/apt /var/cache/apt/archives").ok().text
    assert ".deb" not in kept and ".bin" not in kept, kept


def test_what_is_removed_is_said(daemon, system):
    name = daemon.create(f"image={IMAGE}", "autonomousExec.enabled=true")
    assert install(daemon, name, "hello")["ok"]
    assert "image hutch-agent-" in daemon("agent", "remove", name).ok().text


def test_what_fails_changes_nothing(daemon, agent, system):
    answer = install(daemon, agent, "no-such-package")
    assert not answer["ok"] and "Unable to locate" in answer["message"], answer
    answer = install(daemon, agent, "broken")
    assert not answer["ok"] and "it went wrong" in answer["message"], answer
    assert layers(system) == []
    assert install(daemon, agent, "hello")["ok"], "nothing is half done"


@pytest.mark.parametrize("name", ["pipe", "linked", "decoy", "place"])
def test_what_no_container_starts_with_is_undone(daemon, agent, system, name):
    """The engine opens accounts' files itself, and at a pipe it waits: then no container starts for anybody."""
    answer = install(daemon, agent, name)
    assert not answer["ok"] and "is undone" in answer["message"], answer
    assert layers(system) == []
    assert daemon.sh(agent, "test -f /etc/group").ok()
    assert install(daemon, agent, "hello")["ok"]
    assert not install(daemon, agent, name)["ok"]
    assert daemon.sh(agent, "hello").ok().text == "hello\n" and len(layers(system)) == 1
    status, text = system.ask("GET", "/v1.41/containers/json?all=1")
    assert status == 200 and {one["State"] for one in json.loads(text)} == {"running"}, text


def test_root_has_what_installing_takes_and_sees_nothing_of_the_agent(daemon, agent):
    home = daemon.data / "workspace/agents" / agent
    daemon.person.write(home / "secret", "x")
    daemon.person.write(home / ".profile", "export EVIL=1\n")
    daemon.sh(agent, "touch /tmp/of-the-agent").ok()
    assert install(daemon, agent, "around")["ok"]
    fields = dict(line.split(":\t") for line in text(daemon, agent, "/srv/status").splitlines() if ":\t" in line)
    lent = "00000000000000fb"  # CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID
    assert {fields[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {lent}
    assert {fields[name] for name in ("CapInh", "CapAmb")} == {"0" * 16}
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")
    assert text(daemon, agent, "/srv/id") == "0\n"
    assert text(daemon, agent, "/srv/variables") == "/root:\n"
    seen = text(daemon, agent, "/srv/seen")
    assert agent not in seen and "of-the-agent" not in seen, seen
    own = daemon.sh(agent, "cat /proc/self/status").ok().text
    assert {line.split(":\t")[1] for line in own.splitlines() if line.startswith("Cap")} == {"0" * 16}


def test_nothing_of_an_installation_goes_on(daemon, agent):
    assert install(daemon, agent, "daemon")["ok"]
    assert not any(harness.processes_with(marker) for marker in MARKERS)


def test_what_runs_is_not_ended_for_it(daemon, agent):
    process = daemon.detach(agent, "sleep 600")
    answer = install(daemon, agent, "hello")
    assert not answer["ok"] and "processes run in it" in answer["message"], answer
    assert daemon.processes(agent)[process]["running"]
    daemon("kill", agent, process).ok()
    harness.wait_until(lambda: not daemon.processes(agent)[process]["running"], "it has ended")
    assert install(daemon, agent, "hello")["ok"]


def test_a_layer_is_of_one_image(daemon, agent):
    assert install(daemon, agent, "hello")["ok"]
    daemon("agent", "set", agent, "image=hutch-tests:latest").ok()
    daemon("agent", "stop", agent).ok()
    result = daemon.sh(agent, ":")
    assert result.code == 125 and b"hutch agent reset" in result.err, str(result)
    daemon("agent", "reset", agent).ok()
    daemon.sh(agent, ":").ok()


def test_installations_take_turns(daemon, agent):
    calls = [daemon.popen("tool", "call", agent, "sandbox_install", json.dumps({"packages": [name]}))
             for name in ("hello", "more")]
    for call in calls:
        out, _ = call.communicate(timeout=120)
        assert b'"ok":true' in out, out
    assert daemon.sh(agent, "more-of-it").ok().text == "hello\n"


def test_a_reset_puts_the_packages_of_plugins_back(daemon, agent):
    tools = [recipes.tool("greet", "hello")]
    text = json.dumps(recipes.recipe("Greeter", dependencies={"apt": ["hello"]}, tools=tools))
    daemon("plugin", "install", "-", "--agent", agent, stdin=text.encode(), timeout=180).ok()
    daemon("agent", "reset", agent, timeout=180).ok()
    answer = json.loads(daemon("tool", "call", agent, "greeter_greet", "{}", timeout=180).out)
    assert answer["ok"] and answer["result"]["stdout"] == "hello\n", answer
    daemon("plugin", "remove", "greeter").ok()
