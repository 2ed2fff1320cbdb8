# An agent's own network, laid over its policy: allow, deny, its modes, and what is said of a host that is refused.
"""No host of these is there: what is asked is whether the gateway refuses it, or tries and does not find it."""

import contextlib
import json
import socket
import time

import pytest

ASK = "curl -s -o /dev/null -w '%{http_code} %{http_connect}' --max-time 20 http://HOST/ 2>&1"


def asked(daemon, agent, host):
    return daemon.sh(agent, ASK.replace("HOST", host))


def is_refused(result):
    return result.text.startswith("403")


def shown(daemon, agent):
    return json.loads(daemon("agent", "show", agent, "--json").ok().text)


def test_a_refused_host_is_said_with_the_command_that_allows_it(daemon, agent):
    remedy = f"hutch agent allow {agent} one.example"
    for _ in range(2):
        done = asked(daemon, agent, "one.example")
        assert is_refused(done) and "one.example:80 was refused" in done.errors and remedy in done.errors, str(done)
    assert remedy in daemon.sh(agent, "curl -s http://one.example/").text
    assert remedy in daemon("why").ok().text
    assert (daemon.data / "daemon.log").read_text().count(f"{remedy} allows it") == 1
    assert "refused" not in daemon.sh(agent, "true").ok().errors


def test_a_tool_says_it(daemon, agent):
    daemon("agent", "set", agent, "autonomousExec.enabled=true").ok()
    answer = json.loads(daemon("tool", "call", agent, "sandbox_exec",
                               json.dumps({"command": "curl -s http://one.example/"})).ok().text)
    assert any(f"hutch agent allow {agent} one.example" in line for line in answer["warnings"]), answer


def test_allow_and_deny_hold_at_once_and_again(daemon, agent):
    assert is_refused(asked(daemon, agent, "one.invalid"))
    said = daemon("agent", "allow", agent, "one.invalid", "*.two.invalid:80").ok()
    assert said.errors == "", str(said)
    assert not is_refused(asked(daemon, agent, "one.invalid")) and not is_refused(asked(daemon, agent, "a.two.invalid"))
    assert is_refused(asked(daemon, agent, "three.invalid"))
    daemon("agent", "deny", agent, "one.invalid").ok()
    now = shown(daemon, agent)
    assert now["allowedDomains"] == ["*.two.invalid:80"] and now["deniedDomains"] == ["one.invalid"], now
    assert is_refused(asked(daemon, agent, "one.invalid"))
    daemon("agent", "stop", agent).ok()
    assert is_refused(asked(daemon, agent, "one.invalid")) and not is_refused(asked(daemon, agent, "a.two.invalid"))
    daemon("agent", "allow", agent, "one.invalid").ok()
    assert not is_refused(asked(daemon, agent, "one.invalid"))


def test_the_files_stay_as_they_are(daemon, agent):
    secret = daemon.person.write(daemon.person.home / f"of-{agent}.txt", "theirs")
    daemon("agent", "set", agent, "network=outbound").ok()
    assert not is_refused(asked(daemon, agent, "one.invalid"))
    assert daemon.sh(agent, f"cat {secret}").code != 0
    daemon("agent", "set", agent, "network=rules").ok()
    assert is_refused(asked(daemon, agent, "one.invalid"))


@pytest.mark.parametrize("first", ["none", "rules"])
def test_none_closes_all(daemon, agent, first):
    daemon("agent", "allow", agent, "one.invalid").ok()
    daemon("agent", "set", agent, f"network={first}").ok()
    assert (asked(daemon, agent, "one.invalid").text[:3] == "000") == (first == "none")
    refused = daemon("agent", "allow", agent, "two.invalid")
    assert (refused.code != 0) == (first == "none")
    if first == "none":
        assert f"hutch agent set {agent} network=rules" in refused.errors, str(refused)
    said = daemon("agent", "set", agent, f"network={'rules' if first == 'none' else 'none'}").ok()
    assert ("holds from the next start on" in said.errors) == (first == "none"), str(said)
    daemon("agent", "stop", agent).ok()
    assert (asked(daemon, agent, "one.invalid").text[:3] == "000") == (first == "rules")


@pytest.mark.parametrize("when", ["at once", "from the start"])
def test_none_closes_what_the_policy_opens_beside_its_hosts(daemon, agent, when):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        port = server.getsockname()[1]
        path = daemon.person.mkdir(daemon.person.home / f"sockets-{agent}-{when[-4:]}") / "s"
        local.bind(str(path))
        path.chmod(0o777)
        local.listen()
        policy = {"network": {"hostPorts": [port], "allowUnixSockets": [str(path)]}}
        file = daemon.person.write(daemon.state / f"ports-{agent}.json", json.dumps(policy))
        connect = f"""python3 -c '
import socket
for family, place in ((socket.AF_INET, ("127.0.0.1", {port})), (socket.AF_UNIX, "{path}")):
    try:
        reached = socket.socket(family)
        reached.settimeout(5)
        reached.connect(place)
        if family == socket.AF_INET: reached.sendall(b"x"); print(reached.recv(1) == b"y")
        else: print(True)
    except OSError: print(False)
'"""
        daemon("agent", "set", agent, f"policy={file}").ok()
        server.settimeout(0.2)

        def reached():
            running = daemon.popen("exec", agent, "--", "/bin/sh", "-c", connect)
            while running.poll() is None:
                with contextlib.suppress(TimeoutError), server.accept()[0] as accepted:
                    accepted.sendall(b"y")
                    running.wait(30)
            return running.communicate(timeout=30)[0].split()

        if when == "at once":
            assert reached() == [b"True", b"True"]
        daemon("agent", "set", agent, "network=none").ok()
        assert reached() == [b"False", b"False"]


def test_a_network_holds_when_the_policy_file_has_gone(daemon, agent):
    file = daemon.person.write(daemon.state / f"gone-{agent}.json",
                               json.dumps({"network": "outbound", "filesystem": {"denyRead": ["~"]}}))
    daemon("agent", "set", agent, f"policy={file}").ok()
    assert not is_refused(asked(daemon, agent, "one.invalid"))
    file.unlink()
    assert "as it was" not in daemon("agent", "set", agent, "network=none").ok().errors
    assert is_refused(asked(daemon, agent, "one.invalid"))


def test_what_cannot_be_had_at_once_is_no_success(daemon, agent):
    assert is_refused(asked(daemon, agent, "one.invalid"))
    place = daemon.state / "config" / "default.json"
    if not place.parent.exists():
        daemon.person.mkdir(place.parent)
    before = place.read_text() if place.exists() else None
    daemon.person.write(place, "{ broken")
    try:
        failed = daemon("agent", "set", agent, "network=outbound")
        assert failed.code != 0 and "as it was" in failed.errors and f"hutch agent stop {agent}" in failed.errors
    finally:
        place.unlink() if before is None else place.write_text(before)
    daemon("agent", "set", agent, "network=outbound").ok()
    assert not is_refused(asked(daemon, agent, "one.invalid"))


def test_what_is_set_while_it_starts_is_not_lost(daemon, agent):
    for turn in range(8):
        daemon("agent", "stop", agent).ok()
        daemon("agent", "set", agent, "network=outbound").ok()
        starting = daemon.popen("agent", "start", agent)
        time.sleep(0.01 * turn)
        daemon("agent", "set", agent, "network=none").ok()
        starting.communicate(timeout=30)
        assert asked(daemon, agent, "one.invalid").text[:3] in ("000", "403"), f"after {turn} of 8 waits"


def test_without_isolation_it_is_said_that_none_holds(daemon):
    name = daemon.create("backend=none")
    assert "isolates nothing" in daemon("agent", "set", name, "network=none").ok().errors
    assert "isolates" not in daemon("agent", "set", name, "network=").ok().errors
    daemon("agent", "remove", name).ok()


def test_what_is_refused_shows_no_secret(daemon, agent):
    daemon("secret", "set", "--agent", agent, "TOKEN", stdin=b"verysecretvalue0123").ok()
    done = asked(daemon, agent, "verysecretvalue0123.example")
    assert "was refused" in done.errors and "verysecretvalue0123" not in done.errors, str(done)


def test_registries_are_those_of_the_home(daemon, agent):
    daemon.person.write(daemon.person.home / ".npmrc", "registry=https://npm.registry.invalid/\n")
    daemon.person.write(daemon.person.home / ".gemrc", ":sources:\n- https://gems.registry.invalid/\n")
    daemon("agent", "set", agent, "network=registries").ok()
    try:
        assert daemon.sh(agent, "curl -s -o /dev/null -w '%{http_connect}' https://npm.registry.invalid/").text != "403"
        # A sandbox that may write the home could write that file.
        for host in ("other.invalid", "gems.registry.invalid"):
            assert daemon.sh(agent, f"curl -s -o /dev/null -w '%{{http_connect}}' https://{host}/").text == "403"
    finally:
        (daemon.person.home / ".npmrc").unlink()
        (daemon.person.home / ".gemrc").unlink()


def test_what_cannot_hold_is_refused(daemon, agent):
    for setting, why in (("network=all", "registries"), ('allowedDomains=["a b"]', "allowedDomains"),
                         ("allowedDomains=x", "list")):
        refused = daemon("agent", "set", agent, setting)
        assert refused.code != 0 and why in refused.errors, str(refused)
    assert daemon("agent", "allow", agent, "a b").code != 0
    assert "a host is missing" in daemon("agent", "allow", agent).errors


def test_a_policy_that_opens_the_home_is_said(daemon, agent):
    open_one = daemon.person.write(daemon.state / f"open-{agent}.json", json.dumps({"network": "outbound"}))
    said = daemon("agent", "set", agent, f"policy={open_one}").ok()
    assert "can read your home" in said.errors and f"hutch agent set {agent} policy= network=outbound" in said.errors
    assert "can read" not in daemon("agent", "set", agent, "policy=", "network=outbound").ok().errors
