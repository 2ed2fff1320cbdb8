# An agent whose sandbox is a virtual machine: its directories are shared with the host, and it stays.
import json
import os
import signal
import stat

import daemons
import harness
import pytest
import recipes
import seed_plugin


@pytest.fixture(scope="module")
def agent(daemon):
    name = daemon.create("backend=vm", "autonomousExec.enabled=true", name="valerie")
    daemon.sh(name, "true", timeout=180).ok()
    return name


@pytest.fixture
def recipe(daemon):
    return recipes.Files(daemon)


@pytest.fixture
def home(daemon, agent):
    return daemon.data / "workspace/agents" / agent


def programs(daemon):
    """By the name of the program, of all that the daemon has started."""
    found = {}
    for pid in daemons.descendants(daemon.pid()):
        try:
            found[os.path.basename(os.readlink(f"/proc/{pid}/exe"))] = pid
        except OSError:
            continue
    return found


def test_it_is_a_user_of_its_own_at_home(daemon, agent, home):
    said = daemon.sh(agent, "id -un; id -u; pwd; echo $HOME $HUTCH_OUTPUT; uname -n; ls -ld . | cut -c1-10").ok().text
    place = f"/workspace/agents/{agent}"
    assert said.splitlines() == [f"agent-{agent}", "1000", place, f"{place} /output", "hutch", "drwx------"], said


def test_files_are_the_same_on_both_sides(daemon, agent, home):
    daemon.sh(agent, "mkdir -p deep/er; echo made inside > deep/er/file; ln -s er deep/link; chmod 751 deep").ok()
    made = home / "deep/er/file"
    assert made.read_text() == "made inside\n"
    assert made.stat().st_uid == daemon.person.uid, "they are the person's out here"
    assert stat.S_IMODE((home / "deep").stat().st_mode) == 0o751
    daemon.person.write(home / "from-host", "made outside\n")
    said = daemon.sh(agent, "cat from-host; stat -c %u from-host; echo more >> from-host").ok().text
    assert said == "made outside\n1000\n"
    assert (home / "from-host").read_text() == "made outside\nmore\n"
    daemon.sh(agent, "echo out > /output/result; echo all > /workspace/shared/note").ok()
    assert (daemon.data / "output" / agent / "result").read_text() == "out\n"
    assert (daemon.data / "workspace/shared/note").read_text() == "all\n"


def test_tools_work_on_it(daemon, agent, home):
    wrote = daemon.tool(agent, "sandbox_write_file", path="notes.txt", content="one\ntwo\n")
    assert wrote["ok"], wrote
    assert (home / "notes.txt").read_text() == "one\ntwo\n"
    read = daemon.tool(agent, "sandbox_read_file", path="notes.txt")
    assert "two" in json.dumps(read["result"]), read
    ran = daemon.tool(agent, "sandbox_exec", command="cat notes.txt; echo err >&2; exit 3")
    assert ran["result"]["exit_code"] == 3 and ran["result"]["stdout"] == "one\ntwo\n", ran


def test_what_runs_in_the_background_stays(daemon, agent, home):
    number = daemon.detach(agent, "echo started; sleep 1000")
    assert number in daemon.processes(agent)
    daemon("kill", agent, number).ok()
    harness.wait_until(lambda: not daemon.processes(agent)[number]["running"], "it has ended")


def test_nothing_else_of_the_host_is_there(daemon, agent, home):
    assert daemon.sh(agent, "ls /shares || ls /shares/all").code != 0, "a second way to the same files"
    said = daemon.sh(agent, "cat /proc/mounts; ls /shares/all/0/../../etc/shadow /shares/../usr/lib")
    assert str(daemon.data) not in said.text
    assert "shadow" not in said.text


# What the kernel of the machine lets the agent make, and what the host makes of it.
def test_no_file_gives_rights_on_the_host(daemon, agent, home):
    daemon.sh(agent, "cp /bin/busybox mine; chmod 4755 mine; chmod u+s mine; chmod 2755 mine; "
                     "mknod disk b 8 0; mknod null c 1 3; mkfifo pipe; mkdir -m 2770 grouped; true").ok()
    assert stat.S_IMODE((home / "mine").stat().st_mode) & 0o6000 == 0
    assert not (home / "disk").exists() and not (home / "null").exists()
    assert stat.S_ISFIFO((home / "pipe").stat().st_mode)
    grouped = home / "grouped"
    assert not grouped.exists() or grouped.stat().st_mode & stat.S_ISUID == 0


def test_links_lead_to_the_machines_own_files(daemon, agent, home):
    daemon.sh(agent, "ln -s /etc/hostname out; ln -s ../../../../../../etc/hostname up").ok()
    here = open("/etc/hostname").read() if os.path.exists("/etc/hostname") else "?"
    daemon.sh(agent, "echo changed > out; echo changed > up")
    assert not os.path.exists("/etc/hostname") or open("/etc/hostname").read() == here
    said = daemon.tool(agent, "sandbox_read_file", path="out")
    assert here.strip() not in json.dumps(said) or not here.strip()


def test_it_has_the_bridge_of_the_host(daemon, agent):
    assert daemon.sh(agent, "hutch-host config set k 'from another kernel'; hutch-host config get k").ok().text == \
        "from another kernel\n"
    daemon.sh(agent, "osaurus-host agent memory store 'the build needs clang'").ok()
    assert "clang" in daemon.sh(agent, "hutch-host agent memory query build").ok().text
    assert daemon.sh(agent, "hutch-host secrets get NOBODYS").code == 3
    # The program is the machine's, and nobody's to change.
    assert daemon.sh(agent, "echo x >> /run/hutch-guest || rm -f /run/hutch-guest").code != 0
    assert daemon.sh(agent, "HUTCH_BRIDGE=tcp:10.0.2.2:1 hutch-host config get k").code == 6


def test_plugins_run_in_machines(daemon, recipe):
    name = daemon.create("backend=vm", "autonomousExec.enabled=true")
    show = recipes.tool("show", "cat done; echo $PARAM_WORD; hutch-host config get own", word="string")
    words = recipe("Machine Words", setup="echo made > done; hutch-host config set own 1", tools=[show])
    [done] = daemon.json("plugin", "install", words, "--agent", name, timeout=300)
    assert (done["state"], done["tools"]) == ("ready", ["machine-words_show"]), done
    answer = daemon.tool(name, "machine-words_show", word="told")
    assert answer["ok"] and answer["result"]["stdout"] == "made\ntold\n1\n", answer
    daemon("plugin", "remove", "machine-words").ok()
    assert daemon.sh(name, "ls -A plugins", timeout=180).text == ""
    daemon("agent", "remove", name).ok()


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_the_seeds_plugin_works_byte_for_byte(base, pandas_archive, root_archive):
    """With another kernel; its processor is emulated, so that what takes a second elsewhere takes a minute."""
    person = base.person("root" if os.geteuid() == 0 else "user")
    made = daemons.Daemon(base, person)
    made("vm", "provision", "--root", str(pandas_archive), timeout=1200).ok()
    name = made.create("backend=vm", "autonomousExec.enabled=true", "autonomousExec.commandTimeout=300")
    seed_plugin.works(made, name)
    made("agent", "remove", name).ok()
    made.stop()


def test_another_policy_or_place_than_it_holds_is_refused(daemon, project):
    policy = daemon.state / "net.json"
    daemon.person.write(policy, json.dumps({"network": {"allowUnixSockets": ["/run/some.sock"]}}))
    for setting, why in ((f"policy={policy}", "Unix sockets"), (f"dir={project}", "its own directories alone")):
        refused = daemon("agent", "create", "wanting", "backend=vm", setting)
        if refused.code == 0:
            refused = daemon.sh("wanting", "true")
            daemon("agent", "remove", "wanting").ok()
        assert refused.code == 125 and why in refused.errors, refused


@pytest.mark.parametrize("whom", ["virtiofsd", "qemu-system-x86_64"])
def test_its_end_is_told_and_it_starts_again(daemon, agent, home, whom):
    daemon.sh(agent, "echo kept > kept; sync", timeout=180).ok()
    left = programs(daemon)
    with daemon.popen("exec", agent, "--", "/bin/sh", "-c", "echo up; sleep 1000") as process:
        assert process.stdout.readline() == b"up\n"
        os.kill(programs(daemon)[whom], signal.SIGKILL)
        assert process.wait(timeout=60) != 0
    harness.wait_until(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in left.values()), "all is gone")
    assert daemon.sh(agent, "cat kept", timeout=180).ok().text == "kept\n"
