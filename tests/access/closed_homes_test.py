# A rule about what lies below a directory that root's sandbox cannot enter: it starts, and the rule holds.
import os

import pytest


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def home(base):
    """Another person's, with a key, a project and a repository."""
    if os.geteuid() != 0:
        pytest.skip("root alone makes files of others")
    other = base.person("user")
    made = other.mkdir(base.unused("closed"))
    other.write(made / ".ssh/key", "secret\n")
    other.write(made / "plain", "shown\n")
    yield made
    made.chmod(0o755)


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o710, 0o711, 0o755, 0o000])
@pytest.mark.parametrize("option", ["--deny-read", "--deny-write"])
def test_a_home_of_any_mode(hutch, backend, home, mode, option):
    home.chmod(mode)
    options = [option, str(home / ".ssh")]
    hutch.run("true", options=options).ok()
    tried = hutch.sh(f"cat {home}/.ssh/key; echo x > {home}/.ssh/key; echo x > {home}/.ssh/new", options=options)
    assert "x" not in (home / ".ssh/key").read_text() and not (home / ".ssh/new").exists(), tried
    if option == "--deny-read":
        assert "secret" not in tried.text, tried


@pytest.mark.parametrize("mode", [0o700, 0o711, 0o755])
def test_a_credential_of_a_pattern(hutch, backend, home, mode):
    home.chmod(mode)
    options = ["--deny-read", f"{home.parent}/*closed/.ssh"]
    assert "secret" not in hutch.sh(f"cat {home}/.ssh/key; true", options=options).ok().text


def test_what_is_open_stays_so(hutch, backend, home):
    home.chmod(0o755)
    options = ["--deny-read", str(home / ".ssh")]
    assert hutch.run("cat", home / "plain", options=options).ok().text == "shown\n"
