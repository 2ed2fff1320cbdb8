# What containers alone are about: the engine, limits, what is shown of the host, and what is left behind.
import json
import os
import signal
import socket
import subprocess

import pytest

import harness

IMAGE = "hutch-tests:latest"

STATUS = "import re; print(re.findall(r'^(?:Cap\\w+|NoNewPrivs|Seccomp):.*', open('/proc/self/status').read(), re.M))"


def test_nobody_special_runs_in_it(hutch, backend, as_user):
    said = hutch.run("/usr/bin/python3", "-c", STATUS).ok().out.decode()
    for line in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert f"{line}:\\t0000000000000000" in said, said
    assert "NoNewPrivs:\\t1" in said and "Seccomp:\\t2" in said, said
    assert hutch.run("/usr/bin/id", "-u").ok().text.strip() == str(as_user.uid)


def test_its_root_is_the_images(hutch, backend, as_user):
    as_user.write(as_user.home / "secret", "host's")
    said = hutch.sh(f"cat {as_user.home}/secret; ls -A / | tr '\\n' ' '; echo; cat /etc/os-release | wc -c")
    assert "host's" not in said.out.decode() and ".hutch-guest" in said.out.decode(), str(said)


def test_the_project_is_the_hosts(hutch, backend, project, as_user):
    as_user.write(project / "in", "from outside")
    assert hutch.sh("cat in; echo from inside > out").ok().out == b"from outside"
    assert (project / "out").read_text() == "from inside\n"
    assert (project / "out").stat().st_uid == as_user.uid


def test_rules_hold(hutch, backend, project, as_user):
    as_user.mkdir(project / "hidden")
    as_user.write(project / "hidden/file", "secret")
    as_user.write(project / "key", "secret")
    as_user.mkdir(project / "kept")
    as_user.write(project / "kept/file", "kept")
    options = ["--deny-read", "./hidden", "--deny-read", "./key", "--deny-write", "./kept"]
    said = hutch.sh("cat hidden/file key; ls hidden; echo x > kept/file; echo x > kept/new; rm kept/file; "
                    "chmod 777 key; mv kept away; cat kept/file", options=options)
    assert b"secret" not in said.out and said.out.endswith(b"kept"), str(said)
    assert (project / "kept/file").read_text() == "kept" and not (project / "kept/new").exists()
    assert (project / "key").read_text() == "secret" and (project / "key").stat().st_mode & 0o777 == 0o644


def test_limits_are_the_engines(hutch, backend):
    probe = ("import os\n"
             "def read(*names):\n"
             "  for name in names:\n"
             "    if os.path.exists(name): return open(name).read().strip()\n"
             "print(read('/sys/fs/cgroup/pids/pids.max', '/sys/fs/cgroup/pids.max'))\n"
             "print(read('/sys/fs/cgroup/memory/memory.limit_in_bytes', '/sys/fs/cgroup/memory.max'))")
    said = hutch.run("/usr/bin/python3", "-c", probe, options=["--memory", "100M"]).ok().text.split()
    assert said == ["512", str(100 << 20)]
    hog = hutch.run("/usr/bin/python3", "-c", "x = bytearray(1 << 30); print(len(x))", options=["--memory", "100M"])
    assert hog.code == 137 and hog.out == b"", str(hog)
    assert b"killed for the memory limit" in hog.err, str(hog)
    # Killed by itself, with as much memory as it wants.
    suicide = hutch.run("/usr/bin/python3", "-c", "import os; os.kill(os.getpid(), 9)", options=["--memory", "100M"])
    assert suicide.code == 137 and b"memory limit" not in suicide.err, str(suicide)
    told = json.loads(hutch.run("/bin/true", options=["--json", "--pids", "64"]).ok().out)
    assert told["limits"] == "the engine" and told["backend"] == "container"


def test_a_limit_of_the_disk_holds_or_is_an_error(hutch, backend, engine, as_user, project):
    policy = as_user.write(project / "policy.json", '{"limits": {"disk": "64M"}, "filesystem": {"allowWrite": ["."]}}')
    script = "dd if=/dev/zero of=/var/tmp/hog bs=1M count=128 2>&1 | tail -1; ls -l /var/tmp/hog"
    said = hutch.sh(script, options=["--policy", policy])
    if said.code == 125:
        assert b"limits.disk: the engine's storage cannot hold it" in said.err and b"pquota" in said.err, str(said)
        assert said.out == b"" and not engine.containers()
    else:
        assert b"134217728" not in said.out, str(said)


def test_the_network_is_the_gateways(hutch, backend):
    script = ("import socket, urllib.request\n"
              "try: socket.create_connection(('192.0.2.1', 80), 5).recv(1)\n"
              "except OSError as error: print('raw', error)\n"
              "try: urllib.request.urlopen('http://forbidden.test/', timeout=5)\n"
              "except OSError as error: print('name', error)\n")
    said = hutch.run("/usr/bin/python3", "-c", script)
    assert b"forbidden.test:80 was refused" in said.err and b"--allow-domain forbidden.test" in said.err, str(said)


def test_programs_trust_who_opens_their_tls(hutch, backend, as_user, project):
    rules = {"filesystem": {"allowWrite": ["."]}, "network": {"rules": [{"host": "ruled.test", "methods": ["GET"]}]}}
    policy = as_user.write(project / "policy.json", json.dumps(rules))
    script = ("import os, ssl\n"
              "bundle = os.environ['SSL_CERT_FILE']\n"
              "print(len(ssl.create_default_context().get_ca_certs()) > 0, bundle)\n"
              "for name in (bundle,):\n"
              "  try: open(name, 'w').write('x'); print('written', name)\n"
              "  except OSError: pass\n")
    said = hutch.run("/usr/bin/python3", "-c", script, options=["--policy", policy])
    assert said.out.decode().splitlines() == ["True /.hutch/ca-bundle.pem"], str(said)


def test_a_server_of_the_host_is_reached_by_a_rule_alone(hutch, backend):
    script = ("import socket, sys\n"
              "s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5); print(s.recv(9))")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        refused = hutch.run("/usr/bin/python3", "-c", script, port)
        assert refused.code != 0 and b"ConnectionRefused" in refused.err, str(refused)


@pytest.mark.parametrize("image, says", [("no-such-image", "the engine has no image no-such-image"),
                                         ("../x", "is no name of an image"), ("a b", "is no name of an image")])
def test_an_image_that_is_not_there(hutch, backend, image, says):
    result = harness.Hutch.__call__(hutch, "run", "--backend", "container", "--image", image, "--", "true",
                                    **hutch.with_engine({}))
    assert result.code == 125 and says.encode() in result.err, str(result)


def test_kill_9_leaves_nothing(hutch, backend, engine):
    with hutch.popen("/bin/sh", "-c", "echo up; sleep 300") as running:
        assert running.stdout.readline() == b"up\n"
        assert len(engine.containers()) == 1
        running.send_signal(signal.SIGKILL)
    harness.wait_until(lambda: not engine.containers(), "the container went with it")
    directory = next(hutch.state.rglob("containers"))
    assert len(os.listdir(directory)) == 1
    hutch.sh("true").ok()
    assert os.listdir(directory) == []


def test_the_daemon_killed(daemon, engine):
    names = [daemon.create() for _ in range(2)]
    status, other = engine.ask("POST", "/v1.41/containers/create?name=hutch-0000000000000000",
                               json.dumps({"Image": IMAGE, "Cmd": ["true"]}))
    assert status == 201, other
    try:
        for name in names:
            daemon.sh(name, "true").ok()
        assert len(engine.containers()) == 3
        daemon.kill()
        assert [daemon.status(name) for name in names] == ["stopped", "stopped"]
        harness.wait_until(lambda: len(engine.containers()) == 1, "its containers are gone, and no other")
        assert os.listdir(daemon.data / "containers") == []
        assert daemon.sh(names[0], "echo again").ok().out == b"again\n"
    finally:
        engine.ask("DELETE", "/v1.41/containers/hutch-0000000000000000?force=1")
        for name in names:
            daemon("agent", "remove", name).ok()


def test_the_engine_stopped_and_started(base, loaded_engine, daemon):
    name = daemon.create()
    daemon.sh(name, "true").ok()
    loaded_engine.stop()
    try:
        daemon("agent", "stop", name)
        refused = daemon.sh(name, "true")
        assert refused.code == 125 and b"no engine of containers listens" in refused.err, str(refused)
    finally:
        loaded_engine.start()
    assert daemon.sh(name, "echo back").ok().out == b"back\n"
    daemon("agent", "remove", name).ok()
    harness.wait_until(lambda: not loaded_engine.containers(), "none is left")


def test_the_users_git_settings_hold_in_an_agents_container(daemon, agent):
    config = daemon.person.write(daemon.person.home / ".gitconfig", "[user]\n name = Ann Example\n")
    said = daemon.sh(agent, "cat $GIT_CONFIG_SYSTEM; echo x > $GIT_CONFIG_SYSTEM || echo refused").ok().text
    config.unlink()
    assert "Ann Example" in said and said.endswith("refused\n"), said


def test_two_agents_have_nothing_of_each_other(daemon, agent):
    other = daemon.create()
    daemon.sh(agent, "echo mine > ~/file; echo tmp > /tmp/file; echo root > /var/tmp/file; "
                     "sleep 60 >/dev/null 2>&1 &").ok()
    said = daemon.sh(other, f"cat /workspace/agents/{agent}/file /tmp/file /var/tmp/file; ls /workspace/agents; "
                            "grep -l sleep /proc/[0-9]*/comm")
    assert b"mine" not in said.out and b"tmp" not in said.out and b"root" not in said.out, str(said)
    assert agent.encode() not in said.out and b"comm" not in said.out, str(said)
    daemon("agent", "remove", other).ok()


def test_settings_that_cannot_be(daemon):
    result = daemon("agent", "create", "bad", "backend=container", "image=../x")
    assert result.code == 125 and b"is no name of an image" in result.err, str(result)


@pytest.fixture
def mounted_below(as_user, project):
    """A directory with another file system in it."""
    top = as_user.mkdir(as_user.home / f"shown-{project.name}")
    below = as_user.mkdir(top / "below")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"uid={as_user.uid}", "tmpfs", below], check=True)
    as_user.write(below / "file", "the host's")
    yield top
    subprocess.run(["umount", "-l", below], check=True)


def test_what_is_mounted_below_what_is_only_read_is_not_written(hutch, backend, mounted_below):
    script = f"cd {mounted_below}; echo more >> below/file; echo new > below/new; mkdir below/d; ls -a . > /dev/null"
    said = hutch.sh(script, options=["--allow-read", mounted_below]).ok()
    assert (mounted_below / "below/file").read_text() == "the host's", str(said)
    assert [entry.name for entry in (mounted_below / "below").iterdir()] == ["file"]


def test_the_engine_stopped_and_started_under_the_pool(loaded_engine, daemon):
    def counts():
        found = daemon.json("pool", "stats")
        return {key: found[key] for key in ("idle", "busy", "starting", "total")}

    fill = ("pool", "fill", "--backend", "container", "--image", IMAGE)
    daemon(*fill, "2").ok()
    loaded_engine.stop()
    try:
        daemon("pool", "drain")
        refused = daemon(*fill, "1")
        assert refused.code == 125 and b"no engine of containers listens" in refused.err, str(refused)
    finally:
        loaded_engine.start()
    harness.wait_until(lambda: daemon(*fill, "2").code == 0, "the pool has two again")
    assert counts() == {"idle": 2, "busy": 0, "starting": 0, "total": 2}
    assert len(loaded_engine.containers()) == 2
    daemon("pool", "drain").ok()
    harness.wait_until(lambda: not loaded_engine.containers(), "none is left")
    harness.wait_until(lambda: counts()["total"] == 0, "the pool has none")
