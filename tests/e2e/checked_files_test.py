# Files of the system that programs refuse where somebody else seems to own them: what ssh_config includes.
import dataclasses

import pytest

import harness
import own_ssh

SECONDS = 30.0
GROUP = 4243  # nobody's but a test's


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def on_host(base, hutch, as_user, backend):
    """on_host(change, *command): the command in a sandbox of a host whose drop-ins a script made."""
    own_ssh.skip_unless_possible()

    def run(change, *command, options=(), groups=""):
        person = dataclasses.replace(as_user, groups=groups)
        of_person = harness.Hutch(base, person, hutch.cwd, backend)
        return of_person.run(*command, options=options, outer=own_ssh.enter(person, change, hutch.cwd), timeout=SECONDS)
    return run


def port_of(result):
    return [line.split()[1] for line in result.ok().text.splitlines() if line.startswith("port ")]


ASK = ("ssh", "-G", "dropped.example")
FILE = "/etc/ssh/ssh_config.d/20-drop.conf"
DROP = "printf 'Host dropped.example\\n  Port 2022\\n' > 20-drop.conf"
OF_GROUP = f"{DROP}; chgrp {GROUP} 20-drop.conf; chmod 640 20-drop.conf"


@pytest.mark.parametrize("change,groups", [
    (DROP, ""),
    (f"{DROP}; mv 20-drop.conf /etc/ssh/real; ln -s ../real 20-drop.conf", ""),
    (f"{DROP}; mv 20-drop.conf /etc/ssh/included; printf 'Include included\\n' > 10-more.conf", ""),
    (OF_GROUP, f"{GROUP},4"),
], ids=["file", "link", "included-twice", "of-the-users-group"])
def test_ssh_reads_a_drop_in_of_the_system(on_host, change, groups):
    assert port_of(on_host(change, *ASK, groups=groups)) == ["2022"]


def test_a_copy_belongs_to_the_user_and_cannot_be_written(on_host, as_user):
    result = on_host(DROP, "sh", "-c", f"stat -c '%u %a' {FILE}; echo x >> {FILE}; cat {FILE}")
    assert "Port 2022\n" in result.text and "x\n" not in result.text, str(result)
    if not as_user.is_root:
        assert result.text.splitlines()[0] == f"{as_user.uid} 444", str(result)


@pytest.mark.parametrize("change", [f"{DROP}; chmod 666 20-drop.conf", f"{DROP}; chown 4242 20-drop.conf"],
                         ids=["writable-by-all", "of-another-user"])
def test_a_file_that_ssh_refuses_outside_is_refused_inside(on_host, change):
    result = on_host(change, *ASK)
    assert result.code == 255 and "Bad owner or permissions" in result.errors, str(result)


def test_a_rule_that_comes_later_is_said_not_to_hold_yet(base, hutch, as_user, backend):
    own_ssh.skip_unless_possible()
    if as_user.is_root:
        pytest.skip("root has no copies")
    outer = own_ssh.enter(as_user, DROP, hutch.cwd)
    with hutch.popen("sh", "-c", f"cat {FILE}; read line", backend=backend, outer=outer) as process:
        assert process.stdout.readline() == b"Host dropped.example\n"
        hutch("config", "add", "filesystem.denyRead", FILE).ok()
        said = process.communicate(b"\n", timeout=SECONDS)[1].decode()
    assert f"{FILE} is to be hidden, and what runs can still read it: the sandbox has a copy of {FILE}" in said


@pytest.mark.parametrize("change", [
    "i=0; while [ $i -lt 10000 ]; do : > $i.conf; i=$((i+1)); done",
    "/usr/bin/python3 -c 'import os; [os.symlink(\"0.conf\", f\"{i}.conf\") for i in range(10000)]'",
    "mkfifo 0.conf", "mkdir 0.conf", "ln -s /dev/zero 0.conf", "ln -s 0.conf 1.conf; ln -s 1.conf 0.conf",
    "head -c 1048576 /dev/zero > 0.conf", "i=0; while [ $i -lt 40 ]; do cp ../ssh_config $i.conf; i=$((i+1)); done",
], ids=["10000", "10000-links", "pipe", "directory", "device", "loop", "large", "including-itself"])
def test_odd_drop_ins_do_not_hold_a_start(on_host, as_user, change):
    result = on_host(change, "echo", "started")
    assert result.ok().text == "started\n", str(result)
    notes = [line for line in result.errors.splitlines() if "ssh" in line]
    assert len(notes) <= 1, str(result)
