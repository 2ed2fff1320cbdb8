# sandbox_install in machines: root of a machine beside the agent's, whose disk the agent's machines begin with.
import harness
import internet as internets
import net_machines
import packages
import pytest
import recipes

pytestmark = pytest.mark.skipif(not packages.are_there(), reason="no apt and dpkg to make a system of")

CONTENTS = [
    *packages.every_install_has(),
    packages.Package("around", [], "cat /proc/self/status > /srv/status; id -u > /srv/id\n"
                                   "ls -A /workspace /tmp /shares > /srv/seen 2>&1 || :"),
    packages.Package("place", [], "rm -rf /workspace; touch /workspace"),
]
SOURCES = "deb [trusted=yes] http://good.example/debian ./\n"


@pytest.fixture(scope="module")
def internet(base):
    with internets.running(base.unused("internet-of-installations")) as made:
        place = made.www / "debian"
        place.mkdir()
        for name, content in packages.repository(CONTENTS).items():
            (place / name).write_bytes(content)
        yield made


@pytest.fixture(scope="module")
def daemon(internet, base, root_archive):
    person = base.person(harness.PEOPLE[-1])
    root = packages.archive(base.unused("machines-system.tar"), base.person(harness.PEOPLE[0]), [], SOURCES)
    root.chmod(0o644)
    made = net_machines.NetDaemon(internet, root, base, person)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def agent(daemon):
    name = daemon.agent("installer", "autonomousExec.enabled=true", allowedDomains=[])
    yield name
    daemon("agent", "remove", name).ok()
    assert not list((daemon.data / "machines").iterdir()), "its disk is gone"


def install(daemon, agent, *names):
    return daemon.tool(agent, "sandbox_install", packages=list(names))


def disks_of(daemon):
    return {path: path.stat().st_ino for path in (daemon.data / "machines").glob("*/*") if path.name != "package-hosts"}


def test_what_is_installed_is_there_after_a_stop_and_a_start(daemon, agent):
    answer = install(daemon, agent, "hello")
    assert answer["ok"] and answer["result"]["installed"] == ["hello"], answer
    assert daemon.sh(agent, "hello; stat -c '%a %u:%g' /usr/bin/scores", timeout=180).ok().text == "hello\n2755 0:60\n"
    assert install(daemon, agent, "more")["ok"]
    daemon("agent", "stop", agent).ok()
    assert daemon.sh(agent, "more-of-it", timeout=180).ok().text == "hello\n"
    assert daemon.sh(agent, "echo x > /usr/bin/hello || echo closed").ok().text == "closed\n"


def test_its_hosts_are_open_to_an_installation_alone(daemon, agent, internet):
    options = "-o Dir::State::lists=/tmp/lists -o Debug::NoLocking=1"
    tried = daemon.sh(agent, f"mkdir -p /tmp/lists/partial && apt-get {options} update", timeout=180)
    assert "good.example" in str(tried) and "403" in str(tried), str(tried)


def test_what_fails_changes_nothing_and_names_what_is_unknown(daemon, agent):
    assert install(daemon, agent, "hello")["ok"]
    disks = disks_of(daemon)
    answer = install(daemon, agent, "around", "no-such-package")
    assert not answer["ok"] and "Unable to locate package no-such-package" in answer["message"], answer
    answer = install(daemon, agent, "broken")
    assert not answer["ok"] and "it went wrong" in answer["message"], answer
    assert not install(daemon, agent, "--option=x")["ok"]
    assert disks_of(daemon) == disks
    assert daemon.sh(agent, "test ! -e /srv/id && hello", timeout=180).ok().text == "hello\n"


def test_what_a_plugin_says_that_it_needs_is_installed(daemon):
    name = daemon.agent("plugged", "autonomousExec.enabled=true", allowedDomains=[])
    tools = [recipes.tool("say", "more-of-it")]
    words = recipes.Files(daemon)("More Of It", dependencies=["hello", "more"], tools=tools)
    [done] = daemon.json("plugin", "install", words, "--agent", name, timeout=300)
    assert done["state"] == "ready", done
    answer = daemon.tool(name, "more-of-it_say")
    assert answer["ok"] and answer["result"]["stdout"] == "hello\n", answer
    daemon("plugin", "remove", "more-of-it").ok()
    daemon("agent", "remove", name).ok()


def test_nothing_runs_meanwhile(daemon, agent):
    number = daemon.detach(agent, "sleep 1000")
    answer = install(daemon, agent, "around")
    assert not answer["ok"] and "processes run in it" in answer["message"], answer
    daemon("kill", agent, number).ok()
    harness.wait_until(lambda: not daemon.processes(agent)[number]["running"], "it has ended")


def test_root_has_what_installing_takes_and_sees_nothing_of_the_agent(daemon, agent):
    daemon.person.write(daemon.data / "workspace/agents" / agent / "secret", "x")
    assert install(daemon, agent, "around")["ok"]
    status = daemon.sh(agent, "cat /srv/status", timeout=180).ok().text
    fields = dict(line.split(":\t") for line in status.splitlines() if ":\t" in line)
    lent = "00000000000000fb"  # CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID
    assert {fields[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {lent}
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")
    assert daemon.sh(agent, "cat /srv/id").ok().text == "0\n"
    seen = daemon.sh(agent, "cat /srv/seen").ok().text
    assert agent not in seen and "secret" not in seen, seen


def test_over_another_system_it_is_refused_until_a_reset(daemon, agent, root_archive):
    assert install(daemon, agent, "hello")["ok"]
    internet, daemon.internet = daemon.internet, None
    try:
        daemon("agent", "stop", agent).ok()
        files = daemon.data / "vm/files/manifest.json"
        before = files.read_text()
        daemon.person.write(files, before.replace('"system": "', '"system": "0'))
        refused = daemon.sh(agent, "true", timeout=180)
        assert refused.code == 125 and f"hutch agent reset {agent}" in refused.errors, refused
        daemon.person.write(files, before)
        assert daemon.sh(agent, "hello", timeout=180).ok().text == "hello\n"
    finally:
        daemon.internet = internet


def test_a_reset_drops_it_and_another_agent_has_none_of_it(daemon, agent):
    other = daemon.agent("other", allowedDomains=[])
    assert daemon.sh(other, "hello", timeout=180).code == 127
    daemon("agent", "remove", other).ok()
    daemon("agent", "reset", agent).ok()
    assert daemon.sh(agent, "hello", timeout=180).code == 127
    assert install(daemon, agent, "hello")["ok"]


def test_what_no_machine_starts_with_is_undone(daemon, agent):
    other = daemon.agent("spoiled", "autonomousExec.enabled=true", allowedDomains=[])
    for name, there in ((other, []), (agent, ["hello"])):
        if there:
            assert install(daemon, name, *there)["ok"]
        before = disks_of(daemon)
        answer = install(daemon, name, "place")
        assert not answer["ok"] and "is undone" in answer["message"], answer
        assert disks_of(daemon) == before
        assert daemon.sh(name, "ls -d /workspace/agents; hello || :", timeout=180).ok().text == (
            "/workspace/agents\n" + "hello\n" * len(there))
    daemon("agent", "remove", other).ok()
