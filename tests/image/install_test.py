# sandbox_install: root of an agent's image installs into the agent's layer, and is nobody anywhere else.
import concurrent.futures
import os
import pathlib
import tempfile

import daemons
import harness
import packages
import pytest
import rootfs

pytestmark = pytest.mark.skipif(not packages.are_there(), reason="no apt and dpkg to make a system of")

FILES = [("usr/bin/hello", b"#!/bin/sh\necho hello\n", 0o755), ("usr/bin/scores", b"#!/bin/sh\nid -g\n", 0o755)]
# What ends with an installation is told from what another worker's tests run.
MARKERS = [f"{number}{os.getpid()}" for number in (731, 732, 733)]
SETUID = r"""
#include <stdio.h>
#include <unistd.h>
int main(void) { printf("%d %d\n", geteuid(), getegid()); return 0; }
"""


def contents(compiler):
    setuid = compiler.build(SETUID, ("-static",)).read_bytes()
    return [
        packages.Package("hello", FILES, "chown root:games /usr/bin/scores && chmod 2755 /usr/bin/scores"),
        packages.Package("around", [], "cat /proc/self/status > /srv/status; id -u > /srv/id; pwd > /srv/pwd\n"
                                       "echo $HOME:$EVIL:$LD_PRELOAD > /srv/variables\n"
                                       "ls -A /workspace/agents/* > /srv/home 2>&1; ls -A /tmp > /srv/tmp\n"
                                       "touch /workspace/agents/*/made || true"),
        packages.Package("setuid", [("usr/bin/setuid", setuid, 0o755)], "chmod 6755 /usr/bin/setuid"),
        packages.Package("daemon", [], f"sleep {MARKERS[0]} & (sleep {MARKERS[1]} & ) & :"),
        packages.Package("endless", [], f"cat /srv/began || {{ touch /srv/began; sleep {MARKERS[2]}; }}"),
        packages.Package("mover", [], 'mv "$(cat /srv/from)" "$(cat /srv/to)"'),
        packages.Package("broken", [], "echo it went wrong >&2; exit 3"),
    ]


@pytest.fixture(params=rootfs.OWNERS)
def agents(request, base, compiler):
    """A daemon with the image "system"; of root, of a user alone, and of one with subordinate ids."""
    made = daemons.Daemon(base, rootfs.owner(base, request.param))
    made.owner = request.param
    path = packages.archive(made.state / "system.tar", made.person, contents(compiler))
    made("image", "import", "system", path).ok()
    path.unlink()
    yield made
    for name in [one["name"] for one in made.json("agent", "list")]:
        made("agent", "remove", name).ok()
    made("image", "remove", "system").ok()
    made.stop()


@pytest.fixture
def agent(agents):
    return agents.create("image=system", "autonomousExec.enabled=true")


def install(agents, agent, *names):
    return agents.tool(agent, "sandbox_install", packages=list(names))


def text(agents, agent, path):
    return agents.exec(agent, "/bin/cat", path).ok().text


def test_a_package_is_installed_into_the_layer(agents, agent):
    answer = install(agents, agent, "hello")
    assert answer["ok"], answer
    assert answer["result"]["installed"] == ["hello"]
    assert agents.sh(agent, "hello").ok().text == "hello\n"
    many = agents.owner != "user"
    owner, group = (0, 60) if many else (agents.person.uid, agents.person.uid)
    assert agents.sh(agent, "stat -c '%a %u:%g' /usr/bin/hello /usr/bin/scores").ok().text == (
        f"755 {owner}:{owner}\n2755 {owner}:{group}\n")
    agents("agent", "stop", agent).ok()
    assert agents.sh(agent, "hello").ok().text == "hello\n"
    assert not (agents.data / "images/system:latest/root/usr/bin/hello").exists()
    agents("agent", "reset", agent).ok()
    assert agents.sh(agent, "hello").code == 127


def test_what_was_fetched_does_not_stay_in_the_layer(agents, agent):
    assert install(agents, agent, "hello")["ok"]
    kept = agents.sh(agent, "ls -A /var/cache/apt /var/cache/apt/archives").ok().text
    assert ".deb" not in kept and ".bin" not in kept, kept


def test_several_installations_at_once(agents, agent):
    """Of one agent one after the other, and of another beside them; what each installs is there."""
    other = agents.create("image=system", "autonomousExec.enabled=true")
    wanted = [(agent, "hello"), (agent, "setuid"), (other, "hello"), (agent, "around")]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda one: install(agents, *one), wanted))
    assert all(answer["ok"] for answer in answers), answers
    assert agents.sh(agent, "hello && test -e /usr/bin/setuid -a -e /srv/status").ok().text == "hello\n"
    assert agents.sh(other, "hello; test -e /srv/status || echo apart").ok().text == "hello\napart\n"
    assert agents.sh(agent, "dpkg --audit").ok().text == ""


def test_another_agent_has_it_not(agents, agent):
    other = agents.create("image=system")
    assert install(agents, agent, "hello")["ok"]
    assert agents.sh(other, "hello").code == 127


def test_what_fails_says_so_and_harms_nothing(agents, agent):
    answer = install(agents, agent, "no-such-package")
    assert not answer["ok"] and "Unable to locate" in answer["message"], answer
    assert install(agents, agent, "hello")["ok"]
    answer = install(agents, agent, "broken")
    assert not answer["ok"] and answer["kind"] == "execution_error", answer
    assert "it went wrong" in answer["message"]
    assert agents.sh(agent, "hello").ok().text == "hello\n"


def test_root_has_the_capabilities_that_installing_takes_and_no_more(agents, agent):
    assert install(agents, agent, "around")["ok"]
    assert text(agents, agent, "/srv/id") == "0\n"
    fields = dict(line.split(":\t") for line in text(agents, agent, "/srv/status").splitlines() if ":\t" in line)
    lent = "00000000000000fb"  # CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID
    assert {fields[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {lent}
    assert {fields[name] for name in ("CapInh", "CapAmb")} == {"0" * 16}
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")


def test_an_ordinary_command_has_none_before_and_after(agents, agent):
    status = "grep -h '^Cap' /proc/self/status 2>/dev/null || cat /proc/self/status"
    for _ in range(2):
        told = agents.sh(agent, status).ok().text
        found = {line.split(":\t")[1] for line in told.splitlines() if line.startswith("Cap")}
        assert found == {"0" * 16}, told
        assert install(agents, agent, "hello")["ok"]


def test_root_sees_no_file_of_the_host(agents, agent):
    home = agents.data / "workspace/agents" / agent
    agents.person.write(home / "secret", "x")
    agents.sh(agent, "touch /tmp/of-the-agent").ok()
    assert install(agents, agent, "around")["ok"]
    assert text(agents, agent, "/srv/home") == ""
    assert "of-the-agent" not in text(agents, agent, "/srv/tmp")
    assert sorted(entry.name for entry in home.iterdir()) == ["secret"]
    assert agents.sh(agent, f"ls /workspace/agents/{agent}").ok().text == "secret\n"


def test_no_variable_of_the_agents_reaches_root(agents, agent):
    home = agents.data / "workspace/agents" / agent
    agents.sh(agent, ":").ok()
    agents.person.write(home / ".profile", "export EVIL=1 LD_PRELOAD=/srv/evil.so APT_CONFIG=/srv/evil HOME=/srv\n")
    agents("agent", "stop", agent).ok()
    assert install(agents, agent, "around")["ok"]
    assert text(agents, agent, "/srv/variables") == "/root::\n"
    assert text(agents, agent, "/srv/pwd") == "/\n"


def test_a_setuid_program_that_is_installed_gives_nothing(agents, agent):
    assert install(agents, agent, "setuid")["ok"]
    uid = 1000 if agents.person.is_root else agents.person.uid
    assert agents.sh(agent, "stat -c %a /usr/bin/setuid").ok().text == "6755\n"
    assert agents.exec(agent, "/usr/bin/setuid").ok().text == f"{uid} {uid}\n"


def test_what_a_package_leaves_running_ends_with_the_installation(agents, agent):
    assert install(agents, agent, "daemon")["ok"]
    for marker in MARKERS[:2]:
        harness.wait_until(lambda marker=marker: not harness.processes_with(marker), "what it left has ended")


def test_stopping_the_agent_ends_an_installation(agents, agent):
    agents.sh(agent, ":").ok()
    call = agents.popen("tool", "call", agent, "sandbox_install", '{"packages": ["endless"]}')
    harness.wait_until(lambda: agents.sh(agent, "cat /srv/began").code == 0, "the script runs")
    agents("agent", "stop", agent).ok()
    assert not harness.processes_with(MARKERS[2])
    out, _ = call.communicate(timeout=30)
    assert b'"ok":false' in out, out
    assert agents.sh(agent, "echo again").ok().text == "again\n"
    assert install(agents, agent, "hello")["ok"], "what was broken off is brought to its end"


def test_a_killed_daemon_leaves_nothing_running(agents, agent):
    agents.sh(agent, ":").ok()
    call = agents.popen("tool", "call", agent, "sandbox_install", '{"packages": ["endless"]}')
    harness.wait_until(lambda: harness.processes_with(MARKERS[2]), "the script runs")
    agents.kill()
    harness.wait_until(lambda: not harness.processes_with(MARKERS[2]), "it has ended")
    call.communicate(timeout=30)
    assert agents.sh(agent, "echo again").ok().text == "again\n"
    assert install(agents, agent, "hello")["ok"], "what was broken off is brought to its end"


@pytest.fixture
def place(agents):
    """A directory outside of those that are each sandbox's own."""
    with tempfile.TemporaryDirectory(dir="/srv") as top:
        os.chmod(agents.person.own(top), 0o755)
        yield agents.person.mkdir(pathlib.Path(top) / "work")


def test_a_mount_that_root_moves_keeps_its_rules(agents, place):
    """In an installation nothing is mounted on the directory, and the kernel lets it be renamed."""
    agent = agents.create("image=system", f"dir={place}", "autonomousExec.enabled=true")
    agents.sh(agent, f"echo one > {place}/kept; echo {place} > /srv/from; echo {place}2 > /srv/to").ok()
    agents("config", "add", "--scope", "default", "filesystem.denyWrite", str(place / "kept")).ok()
    try:
        assert agents.sh(agent, f"echo two > {place}/kept").code != 0
        answer = install(agents, agent, "mover")
        assert answer["ok"], answer["message"]
        assert agents.exec(agent, "/bin/sh", "-c", f"echo fine > {place}2/other; echo evil > {place}2/kept",
                           options=["--cwd", "/"]).code != 0
        assert {path.name: path.read_text() for path in place.iterdir()} == {"kept": "one\n", "other": "fine\n"}
    finally:
        agents("config", "remove", "--scope", "default", "filesystem.denyWrite", str(place / "kept")).ok()


def test_installations_take_turns(agents, agent):
    calls = [agents.popen("tool", "call", agent, "sandbox_install", '{"packages": ["hello"]}') for _ in range(3)]
    for call in calls:
        out, _ = call.communicate(timeout=60)
        assert b'"ok":true' in out, out


def test_an_agent_without_an_image_has_no_root(agents):
    name = agents.create("autonomousExec.enabled=true")
    answer = install(agents, name, "hello")
    assert answer["kind"] == "unavailable" and "read-only" in answer["message"], answer


@pytest.mark.skipif("HUTCH_TEST_ALPINE" not in os.environ, reason="HUTCH_TEST_ALPINE names no archive of an Alpine")
def test_apk_installs_into_an_alpine(base, as_user):
    """A real one, from the repositories that it is configured for."""
    made = daemons.Daemon(base, as_user)
    made("image", "import", "alpine", os.environ["HUTCH_TEST_ALPINE"]).ok()
    agent = made.create("image=alpine", "autonomousExec.enabled=true")
    answer = install(made, agent, "jq")
    assert answer["ok"], answer
    assert made.sh(agent, "echo '[7]' | jq '.[0]'").ok().text == "7\n"
    assert made.sh(agent, "ls -A /var/cache/apk").ok().text == ""
    made("agent", "remove", agent).ok()
    made("image", "remove", "alpine").ok()
    made.stop()
