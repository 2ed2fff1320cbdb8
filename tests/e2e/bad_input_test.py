# Bad input: one line on stderr that names the thing, exit code 125, and nothing was run.
import pytest

TOUCH = ["--", "/bin/touch", "ran"]

# (arguments, words that the line has to hold)
COMMAND_LINES = {
    "no such policy": (["run", "--policy", "absent.json", *TOUCH], ["absent.json"]),
    "policy is a directory": (["run", "--policy", "/etc", *TOUCH], ["/etc"]),
    "unknown option": (["run", "--alow-read", "/usr", *TOUCH], ["--alow-read"]),
    "option without its value": (["run", "--policy"], ["--policy"]),
    "no command": (["run"], ["command"]),
    "no command after --": (["run", "--"], ["command"]),
    "command and -c": (["run", "-c", "touch ran", *TOUCH], ["-c"]),
    "unknown backend": (["run", "--backend", "namespaces", *TOUCH], ["namespaces", "namespace"]),
    "no such cwd": (["run", "--cwd", "absent-dir", *TOUCH], ["absent-dir"]),
    "cwd is a file": (["run", "--cwd", "/etc/passwd", *TOUCH], ["/etc/passwd"]),
    "memory": (["run", "--memory", "12Q", *TOUCH], ["--memory", "12Q"]),
    "memory for nothing": (["run", "--memory", "1K", *TOUCH], ["--memory", "1K", "4M"]),
    "memory of nothing": (["run", "--memory", "", *TOUCH], ["--memory"]),
    "memory too large": (["run", "--memory", "99999999999999999999G", *TOUCH], ["--memory"]),
    "cpus": (["run", "--cpus", "many", *TOUCH], ["--cpus", "many"]),
    "no cpus": (["run", "--cpus", "0", *TOUCH], ["--cpus"]),
    "negative cpus": (["run", "--cpus", "-1", *TOUCH], ["--cpus"]),
    "pids": (["run", "--pids", "-5", *TOUCH], ["--pids", "-5"]),
    "pids is a fraction": (["run", "--pids", "1.5", *TOUCH], ["--pids", "1.5"]),
    "timeout": (["run", "--timeout", "soon", *TOUCH], ["--timeout", "soon"]),
    "negative timeout": (["run", "--timeout", "-1s", *TOUCH], ["--timeout"]),
    "idle timeout": (["run", "--idle-timeout", "10x", *TOUCH], ["--idle-timeout", "10x"]),
    "tmp size": (["run", "--tmp-size", "1Z", *TOUCH], ["--tmp-size", "1Z"]),
    "variable without a name": (["run", "--env", "=value", *TOUCH], ["--env"]),
    "control descriptor that is not open": (["run", "--control-fd", "77", *TOUCH], ["77"]),
    "control descriptor that is nobody's yet": (["run", "--control-fd", "3", *TOUCH], ["not an open descriptor"]),
    "control descriptor that is no number": (["run", "--control-fd", "x", *TOUCH], ["--control-fd"]),
    "pattern that is not closed": (["run", "--deny-read", "a[b", *TOUCH], ["a[b"]),
    "unknown kind of network": (["run", "--network", "outbuond", *TOUCH], ["outbuond", "outbound"]),
    "every domain": (["run", "--allow-domain", "*", *TOUCH], ["--allow-domain", "every host"]),
    "a top-level domain": (["run", "--allow-domain", "*.com", *TOUCH], ["--allow-domain", "*.com", "too broad"]),
    "a star before an address": (["run", "--allow-domain", "*.0.0.1", *TOUCH], ["--allow-domain", "*.0.0.1"]),
    "a domain with a scheme": (["run", "--allow-domain", "https://a.org", *TOUCH], ["https://a.org"]),
    "a domain with a line end": (["run", "--allow-domain", "a.org\r\nb", *TOUCH], ["a.org\\x0d\\x0ab"]),
    "an address with a zone": (["run", "--allow-domain", "[fe80::1%eth0]", *TOUCH], ["zone"]),
    "bits behind a prefix": (["run", "--allow-domain", "10.0.0.1/8", *TOUCH], ["10.0.0.1/8"]),
    "domain's port": (["run", "--allow-domain", "a.org:99999", *TOUCH], ["a.org:99999", "65535"]),
    "a domain where there is no network": (
        ["run", "--network", "none", "--allow-domain", "a.org", *TOUCH],
        ["--allow-domain", "--network none"],
    ),
    "denied domain": (["run", "--deny-domain", "a b", *TOUCH], ["--deny-domain", "a b"]),
    "host port": (["run", "--allow-host-port", "65536", *TOUCH], ["--allow-host-port", "65536"]),
    "host port of the gateway": (["run", "--allow-host-port", "1023", *TOUCH], ["1023", "gateway"]),
    "published port": (["run", "--publish", "8080", *TOUCH], ["--publish", "8080", "HOST:SANDBOX"]),
    "a port published twice": (["run", "--publish", "8080:1024", "--publish", "8080:81", *TOUCH], ["8080", "twice"]),
    "unknown verb": (["rnu", *TOUCH], ["rnu", "run"]),
    "unknown verb for help": (["help", "rnu"], ["rnu"]),
    "check without a path": (["check", "read"], ["path"]),
    "check of neither": (["check", "execute", "/usr"], ["execute"]),
    "check without a host": (["check", "connect"], ["host"]),
    "check of what is no host": (["check", "connect", "a b"], ["a b"]),
    "check of no port": (["check", "connect", "a.org:0"], ["a.org:0"]),
    "explain with an unknown option": (["explain", "--jsn"], ["--jsn"]),
}

# (text of the policy file, words that the line has to hold)
POLICIES = {
    "not JSON": ("{", ["policy.json"]),
    "not an object": ("[]", ["policy.json"]),
    "empty": ("", ["policy.json"]),
    "unknown key": ('{"filesytem": {}}', ["filesytem", "filesystem"]),
    "unknown key below": ('{"filesystem": {"denyRaed": []}}', ["denyRaed", "denyRead"]),
    "not a list": ('{"filesystem": {"denyRead": "/x"}}', ["denyRead"]),
    "not a text": ('{"filesystem": {"denyRead": [3]}}', ["denyRead"]),
    "limit that does not parse": ('{"limits": {"memory": "12Q"}}', ["memory", "12Q"]),
    "limit of another type": ('{"limits": {"pids": []}}', ["pids"]),
    "unknown limit": ('{"limits": {"memroy": "1G"}}', ["memroy", "memory"]),
    "unknown backend": ('{"backend": "bwarp"}', ["bwarp", "bwrap"]),
    "unknown network": ('{"network": "nothing"}', ["nothing"]),
    "unknown key of the network": ('{"network": {"allowedDomain": []}}', ["allowedDomain", "allowedDomains"]),
    "a domain that is none": ('{"network": {"allowedDomains": ["a.org", "b c"]}}', ["allowedDomains[1]", "b c"]),
    "a reason for nothing": ('{"network": {"deniedDomainReasons": {"a.org": "x"}}}', ["a.org", "deniedDomains"]),
    "a range that is none": ('{"network": {"deniedResolvedAddresses": ["10.1/8"]}}', ["10.1/8"]),
    "a rule for every host": ('{"network": {"rules": [{"host": "*"}]}}', ["rules[0]", "every host"]),
    "a method in lower case": ('{"network": {"rules": [{"host": "a.org", "methods": ["get"]}]}}', ["methods[0]"]),
    "a rule that cannot hold": (
        '{"network": {"rules": [{"host": "a.b.org"}], "tlsTerminate": {"excludeDomains": ["*.b.org"]}}}',
        ["a.b.org", "excludeDomains", "*.b.org"],
    ),
    "a proxy of another kind": ('{"network": {"parentProxy": {"http": "socks5://u:p@h:1"}}}', ["socks5", "http://"]),
    "the same key twice": ('{"backend": "bwrap", "backend": "none"}', ["backend"]),
    "refused because it weakens": ('{"enableWeakerNestedSandbox": true}', ["enableWeakerNestedSandbox"]),
    "too deep": ("[" * 100_000, ["policy.json"]),
    "too large": ('{"x": "' + "y" * (2 << 20) + '"}', ["policy.json"]),
    "a control character in a name": ('{"\\u001b[31m": 1}', ["\\x1b"]),
}


def assert_refused(result, project, words):
    assert result.code == 125, str(result)
    assert result.out == b"", str(result)
    assert result.err.count(b"\n") == 1 and result.err.endswith(b"\n"), str(result)
    assert all(byte >= 0x20 for byte in result.err[:-1]), str(result)
    for word in words:
        assert word in result.errors, f"does not name {word!r}: {result}"
    assert not (project / "ran").exists(), "the command was run"


@pytest.mark.parametrize("case", COMMAND_LINES)
def test_command_line(hutch, project, case):
    arguments, words = COMMAND_LINES[case]
    assert_refused(hutch(*arguments), project, words)


@pytest.mark.parametrize("case", POLICIES)
def test_policy(hutch, as_user, project, case):
    text, words = POLICIES[case]
    as_user.write(project / "policy.json", text)
    assert_refused(hutch("run", "--policy", "policy.json", *TOUCH), project, words)


@pytest.mark.parametrize("verb", [["explain"], ["check", "read", "/usr"]])
def test_explain_and_check_refuse_the_same(hutch, as_user, project, verb):
    as_user.write(project / "policy.json", '{"filesytem": {}}')
    assert_refused(hutch(verb[0], "--policy", "policy.json", *verb[1:]), project, ["filesytem", "filesystem"])


def test_an_option_of_the_network_where_the_policy_has_none(hutch, as_user, project):
    as_user.write(project / "policy.json", '{"network": "none"}')
    for option in (["--allow-domain", "a.org"], ["--allow-host-port", "5432"], ["--publish", "8080:80"]):
        result = hutch("run", "--policy", "policy.json", *option, *TOUCH)
        assert_refused(result, project, [option[0], "--network rules"])


@pytest.mark.parametrize("verb", [["run", *TOUCH], ["explain"], ["check", "connect", "a.org"]])
def test_a_password_in_a_proxys_url_is_never_printed(hutch, as_user, project, verb):
    as_user.write(project / "policy.json", '{"network": {"parentProxy": {"http": "http://u:s3cret@h:1/path"}}}')
    result = hutch(verb[0], "--policy", "policy.json", *verb[1:])
    assert_refused(result, project, ["network.parentProxy.http"])
    assert "s3cret" not in result.errors


def test_policy_that_may_not_be_read(hutch, as_user, project):
    if as_user.is_root:
        pytest.skip("root may read everything")
    as_user.write(project / "policy.json", "{}", mode=0o000)
    assert_refused(hutch("run", "--policy", "policy.json", *TOUCH), project, ["policy.json", "Permission denied"])


def test_policy_that_is_a_pipe_does_not_hang(hutch, project, run_outside):
    run_outside("mkfifo", "policy.json").ok()
    assert_refused(hutch("run", "--policy", "policy.json", *TOUCH), project, ["policy.json"])


def test_cwd_that_is_hidden(hutch, as_user, project):
    as_user.mkdir(project.parent / (project.name + "-secret"))
    hidden = project.parent / (project.name + "-secret")
    assert_refused(hutch("run", "--deny-read", str(hidden), "--cwd", str(hidden), *TOUCH), project, [str(hidden)])


def test_default_policy_file_is_named(hutch, as_user, project):
    """A mistake in a file that nobody named on the command line says which file it is."""
    if as_user.is_root:
        pytest.skip("root's own is /etc/hutch/default.json, which a test leaves alone")
    config = as_user.home / ".config/hutch/default.json"
    as_user.write(config, '{"filesytem": {}}')
    try:
        result = hutch("run", *TOUCH)
    finally:
        config.unlink()
    assert_refused(result, project, ["default.json", "filesytem"])


def test_a_bad_command_is_not_a_bad_input(hutch):
    """Not found and not executable are the command's own fate: 127 and 126."""
    assert hutch("run", "--", "no-such-command-here").code == 127
    assert hutch("run", "--", "/etc/passwd").code == 126
