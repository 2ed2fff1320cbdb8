# A command that would change the configuration of the user's own repository: it fails, and hutch says why.
import json

import harness
import pytest

COMMANDS = {
    "config": "git config user.email other@person.example",
    "remote add": "git remote add origin https://host.example/r.git",
    "branch -u": "git branch -q -u side",
    "worktree config": "git config extensions.worktreeConfig true",
    "written": "echo '[user]' >> .git/config",
}


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def config(as_user, project):
    """That of the project's repository."""
    script = ("git init -q .; git config user.name A; git config user.email a@b.example; "
              "git commit -q --allow-empty -m first; git branch side")
    harness.run_in(as_user, ["/bin/sh", "-ec", script], cwd=project).ok()
    return project / ".git/config"


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_told_why(hutch, backend, config, command):
    before = config.read_text()
    ran = hutch.sh(COMMANDS[command])
    # git-branch(1) does not look whether it could write the setting.
    assert ran.code != 125 and (ran.code != 0 or command == "branch -u") and config.read_text() == before, ran
    assert f"writing {config} was refused: git runs programs that it names; --allow-write {config} allows it" \
        in ran.errors, ran
    assert not (config.parent / "config.lock").exists()
    why = hutch("why").ok().text
    assert str(config) in why and ".git/config" in why, why


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "written"])
def test_what_it_says_helps(hutch, backend, config, command):
    ran = hutch.run("/bin/sh", "-c", COMMANDS[command], options=["--allow-write", config])
    assert ran.code == 0 and "was refused" not in ran.errors, ran


def test_each_repository(hutch, backend, config, as_user, project):
    policy = {"filesystem": {"allowRead": ["/"], "allowWrite": ["."], "allowGitConfig": True}}
    as_user.write(project / "policy.json", json.dumps(policy))
    hutch.run("/bin/sh", "-c", COMMANDS["config"], options=["--policy", "policy.json"]).ok()
    assert "other@person.example" in config.read_text()


def test_settings_of_worktrees(hutch, backend, project):
    """git-worktree(1) copies them to each new one."""
    script = ("git init -q r; cd r; git config extensions.worktreeConfig true; git config --worktree core.bare false; "
              "git -c user.name=A -c user.email=a@b.example commit -q --allow-empty -m first; "
              "git worktree add -q ../w; cat .git/worktrees/w/config.worktree; "
              "git -C ../w status --porcelain; git -C ../w log --format=%s")
    ran = hutch.run("/bin/sh", "-ec", script).ok()
    assert "bare = false" in ran.text and ran.text.endswith("first\n"), ran
    assert "refused" not in ran.errors, ran
