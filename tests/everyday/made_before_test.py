# A repository that an earlier sandbox made: the next one's, until the person configures it.
import daemons
import harness
import pytest

pytestmark = pytest.mark.usefixtures("backend")
CLONE = "git clone -q . lib"
STEPS = ".git/rebase-merge/git-rebase-todo"


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def made(hutch, as_user, project):
    """In the project, which is a repository with a commit."""
    outside(as_user, project, "git init -q; git -c user.name=A -c user.email=a@b.example commit -q --allow-empty -m x")
    hutch.sh(CLONE).ok()
    return project / "lib"


def outside(person, directory, script):
    return harness.run_in(person, ["/bin/sh", "-ec", script], cwd=directory).ok().text


@pytest.mark.parametrize("script", [f"rm -rf lib; {CLONE}; git -C lib status", "mv lib other; git -C other status",
                                    "cp -a lib copy; rm -rf copy lib", "git -C lib config core.filemode false"])
def test_it_can_be_used_as_a_whole(hutch, made, script):
    hutch.sh(script).ok()
    hutch.sh("rm -rf lib other copy").ok()
    assert not made.exists() and not (made.parent / "other").exists()


THEIRS = {
    "a setting": "git config core.pager less",
    "a hook": "echo true > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    "another repository": "cd ..; rm -rf lib; git init -q lib",
    "a copy": "cd ..; mv lib old; cp -a old lib; rm -rf old",
}


@pytest.mark.parametrize("what", THEIRS)
def test_it_is_theirs_by(hutch, as_user, made, what):
    outside(as_user, made, THEIRS[what])
    before = outside(as_user, made, "cat .git/config; ls -l .git/hooks")
    for script in ("rm -rf lib/.git/config lib/.git/hooks", "mv lib other", "git -C lib remote set-url origin x:/y"):
        assert hutch.sh(script).code != 0, script
    assert outside(as_user, made, "cat .git/config; ls -l .git/hooks") == before


HARMFUL = {
    "a hook": "echo ./tripwire > lib/.git/hooks/pre-commit",
    "a setting": "git -C lib config core.fsmonitor ./tripwire",
    "hooks by a move": "mkdir d; echo ./tripwire > d/pre-commit; rm -rf lib/.git/hooks; mv d lib/.git/hooks",
    "a configuration by a move": "echo '[core] fsmonitor = ./tripwire' > c; mv c lib/.git/config",
}


@pytest.mark.parametrize("way", HARMFUL)
def test_nothing_harmful_gets_in(hutch, as_user, made, way):
    hutch.sh(HARMFUL[way])
    said = outside(as_user, made, "cat .git/config; cat .git/hooks/* 2> /dev/null || true")
    assert "tripwire" not in said


def test_the_persons_rebase_there_stays(hutch, as_user, made):
    outside(as_user, made, f"mkdir .git/rebase-merge; echo 'exec ./mine' > {STEPS}")
    hutch.sh("touch f; git -C lib status").ok()
    assert (made / STEPS).exists()
    hutch.sh("touch lib/f; git -C lib add f").ok()
    assert (made / STEPS).exists()


def test_an_agents_is_the_agents_after_a_stop(base, as_user, backend):
    daemon = daemons.Daemon(base, as_user)
    try:
        directory = as_user.mkdir(as_user.home / base.unused("made").name)
        outside(as_user, directory, "git init -q one; cd one; "
                                    "git -c user.name=A -c user.email=a@b.example commit -q --allow-empty -m x")
        name = daemon.create(f"backend={backend}", f"dir={directory}")
        daemon.sh(name, "git clone -q one lib").ok()
        daemon("agent", "stop", name).ok()
        daemon.sh(name, "rm -rf lib; git clone -q one lib").ok()
        outside(as_user, directory / "lib", "git config core.pager less")
        daemon("agent", "stop", name).ok()
        assert daemon.sh(name, "rm -rf lib").code != 0 and (directory / "lib/.git/config").exists()
    finally:
        daemon.stop()
