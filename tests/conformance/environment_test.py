# What a command finds: environment, directory, ids, hostname, temporary directory.
import pytest
from common import isolates

STANDARD = {"PATH", "HOME", "TERM", "LANG", "USER", "LOGNAME", "TMPDIR", "HUTCH", "HUTCH_BACKEND"}
PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
# What says how a person wants to be talked to.
OF_PERSON = {"TZ": "Asia/Tokyo", "LC_TIME": "en_GB.UTF-8", "LC_ALL": "C.UTF-8", "COLORTERM": "truecolor",
             "NO_COLOR": "1", "FORCE_COLOR": "1", "CI": "true"}


def environment_of(result):
    return dict(line.split("=", 1) for line in result.ok().out.decode().splitlines())


def test_the_environment_is_the_standard_one(hutch, backend, as_user):
    found = environment_of(hutch.run("env", env={"SECRET_TOKEN": "x", "LD_PRELOAD": "/nowhere.so"}))
    standard = STANDARD | PROXIES if isolates(backend) else STANDARD
    assert set(found) <= standard | {"PWD", "SHLVL", "_"}
    assert standard <= set(found)
    assert found["HOME"] == str(as_user.home)
    assert found["HUTCH"] == "1" and found["HUTCH_BACKEND"] == backend
    assert found["LOGNAME"] == found["USER"]


def test_language_time_zone_and_terminal_are_the_callers(hutch, backend):
    given = {**OF_PERSON, "SHELL": "/bin/sh"}
    found = environment_of(hutch.run("env", env={**given, "TZDIR": "/nowhere", "LCX": "x", "HUTCH": "0"}))
    in_image = backend in ("container", "vm")
    assert {name: found.get(name) for name in OF_PERSON} == OF_PERSON
    assert found.get("SHELL") == (None if in_image else "/bin/sh")
    assert not {"TZDIR", "LCX"} & set(found) and found["HUTCH"] == "1"


def test_a_time_zone_as_long_as_a_variable_may_be(hutch, backend):
    long = "A" * 65536
    assert environment_of(hutch.run("env", env={"TZ": long}))["TZ"] == long


def test_proxy_variables_are_the_gateways_own(hutch, backend):
    """Never the caller's, which lead nowhere inside; none where there is no gateway; an option replaces them."""
    if not isolates(backend):
        pytest.skip("it has no gateway")
    outside = {"http_proxy": "http://user:secret@proxy.example:3128", "NO_PROXY": "*"}
    found = environment_of(hutch.run("env", env=outside))
    assert found["http_proxy"] == found["HTTPS_PROXY"] == "http://127.0.0.1:1023"
    assert not {"ALL_PROXY", "all_proxy"} & set(found), "httpx does not know the scheme that it would have to have"
    assert found["NO_PROXY"] == found["no_proxy"] == "localhost,127.0.0.1,::1"
    found = environment_of(hutch.run("env", options=["--env", "https_proxy=", "--env", "NO_PROXY"], env=outside))
    assert found["https_proxy"] == "" and found["NO_PROXY"] == "*"
    found = environment_of(hutch.run("env", options=["--network", "none"], env=outside))
    assert not PROXIES & set(found)


def test_env_adds_a_value(hutch, backend):
    found = environment_of(hutch.run("env", options=["--env", "EXTRA=a=b c"]))
    assert found["EXTRA"] == "a=b c"


def test_env_passes_the_callers_own(hutch, backend):
    found = environment_of(hutch.run("env", options=["--env", "MINE"], env={"MINE": "given"}))
    assert found["MINE"] == "given"


def test_the_temporary_directory_exists_and_is_writable(hutch, backend):
    hutch.sh('test -d "$TMPDIR" && f=$(mktemp) && echo x > "$f"').ok()


def test_the_temporary_directory_is_private(hutch, backend, as_user):
    if not isolates(backend):
        pytest.skip("none isolates nothing")
    hutch.sh("echo x > /tmp/hutch-conformance-private").ok()
    assert hutch.sh("ls -A /tmp").ok().out == b""


def test_the_directory_is_the_callers(hutch, backend, project):
    assert hutch.run("pwd").ok().out.decode() == f"{project}\n"


def test_cwd_names_another(hutch, backend, project, as_user):
    as_user.mkdir(project / "below")
    assert hutch.run("pwd", options=["--cwd", "below"]).ok().out.decode() == f"{project}/below\n"


def test_a_directory_that_does_not_exist_is_an_error(hutch, backend, project):
    result = hutch.run("touch", str(project / "ran"), options=["--cwd", "nowhere"])
    assert result.code == 125 and b"nowhere" in result.err
    assert not (project / "ran").exists()


def test_the_ids_are_the_callers(hutch, backend, as_user):
    assert hutch.sh("id -u; id -g").ok().out.decode() == f"{as_user.uid}\n{as_user.gid}\n"


def test_the_hostname_is_its_own(hutch, backend):
    if not isolates(backend):
        pytest.skip("none isolates nothing")
    assert hutch.run("cat", "/proc/sys/kernel/hostname").ok().out == b"hutch\n"


def test_new_files_are_the_callers(hutch, backend, project, as_user):
    hutch.sh("umask 022; echo x > made; mkdir dir").ok()
    made = (project / "made").stat()
    assert made.st_uid == as_user.uid and made.st_gid == as_user.gid
    assert made.st_mode & 0o777 == 0o644


def test_the_umask_is_an_ordinary_one(hutch, backend):
    assert hutch.sh("umask").ok().out == (b"0002\n" if backend == "user" else b"0022\n")


def test_signals_are_at_their_defaults(hutch, backend):
    found = hutch.run("grep", "-E", "^Sig(Blk|Ign|Pnd)", "/proc/self/status").ok().out.decode().splitlines()
    assert [line.split()[1] for line in found] == ["0" * 16] * 3, found
