# What a command finds: environment, directory, ids, hostname, temporary directory.
import pytest
from common import isolates

STANDARD = {"PATH", "HOME", "TERM", "LANG", "USER", "TMPDIR"}
PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"}


def environment_of(result):
    return dict(line.split("=", 1) for line in result.ok().out.decode().splitlines())


def test_the_environment_is_the_standard_one(hutch, backend, as_user):
    found = environment_of(hutch.run("env", env={"SECRET_TOKEN": "x", "LD_PRELOAD": "/nowhere.so"}))
    standard = STANDARD | PROXIES if isolates(backend) else STANDARD
    assert set(found) <= standard | {"PWD", "SHLVL", "_"}
    assert standard <= set(found)
    assert found["HOME"] == str(as_user.home)


def test_proxy_variables_are_the_gateways_own(hutch, backend):
    """Never the caller's, which lead nowhere inside; none where there is no gateway; an option replaces them."""
    if not isolates(backend):
        pytest.skip("it has no gateway")
    outside = {"http_proxy": "http://user:secret@proxy.example:3128", "NO_PROXY": "*"}
    found = environment_of(hutch.run("env", env=outside))
    assert found["http_proxy"] == found["HTTPS_PROXY"] == "http://127.0.0.1:1023"
    assert found["all_proxy"] == "socks5h://127.0.0.1:1023"
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
