# A command changes the configuration of the user's own repository: hutch judges each setting, and says what it refuses.
import json

import harness
import pytest

LANDS = {
    "config": ("git config user.email other@person.example", "email = other@person.example"),
    "config of a new section": ("git config pull.rebase true", "rebase = true"),
    "remote add": ("git remote add up https://host.example/r.git", "[remote \"up\"]"),
    "its own remote": ("git remote add up https://host.example/r.git; git remote set-url up https://other.example/r; "
                       "git remote rename up down", "url = https://other.example/r"),
    "its own remote, removed": ("git remote add up https://host.example/r.git; git remote remove up", "Ann"),
    "branch -u": ("git branch -q -u side", "merge = refs/heads/side"),
    "switch": ("git branch -q -u side; git switch -q -c new --track side; git branch -m new newer", "branch \"newer\""),
    "branch -d": ("git switch -q -c new --track main; git switch -q main; git branch -q -D new", "Ann"),
    "set-branches": ("git remote set-branches origin main", "fetch = +refs/heads/main:refs/remotes/origin/main"),
    "submodule init": ("git submodule -q init", "url = https://host.example/s.git"),
}

HELD = {
    "core.fsmonitor": "git config core.fsmonitor ./evil",
    "core.hookspath": "git config core.hooksPath .evil",
    "core.pager": "git config --unset core.pager",
    "alias.x": "git config alias.x '!./evil'",
    "include.path": "git config include.path ../evil",
    "remote.origin.url": "git remote set-url origin https://other.example/r.git",
    "remote.origin.pushurl": "git remote set-url --push origin https://other.example/r.git",
    "remote.up.url": "git remote add up /elsewhere/r.git",
    "branch.main.remote": "git remote add up https://host.example/r; git config branch.main.remote up",
    "extensions.worktreeconfig": "git config extensions.worktreeConfig false",
}


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def config(as_user, project):
    """That of the project's repository."""
    script = ("git init -q -b main .; git config user.name Ann; git config user.email a@b.example; "
              "git config core.pager 'less -F'; git remote add origin https://host.example/own.git; "
              "git config -f .gitmodules submodule.s.path s; git config -f .gitmodules submodule.s.url ../s.git; "
              "git update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,s; "
              "git add .gitmodules; git commit -q -m first; git branch side; git config branch.main.remote origin; "
              "git config branch.main.merge refs/heads/main; chmod 600 .git/config")
    harness.run_in(as_user, ["/bin/sh", "-ec", script], cwd=project).ok()
    return project / ".git/config"


@pytest.mark.parametrize("command", LANDS)
def test_harmless_settings_land(hutch, backend, config, command):
    script, expected = LANDS[command]
    ran = hutch.sh(script).ok()
    assert expected in config.read_text() and "refused" not in ran.errors, (ran, config.read_text())
    assert "less -F" in config.read_text() and config.stat().st_mode & 0o777 == 0o600
    assert not (config.parent / "config.lock").exists()


def test_who_the_user_is_and_addresses_are_shown(hutch, backend, config):
    ran = hutch.sh("git branch -q -u side; git config user.email other@person.example").ok()
    assert (f"{config} was changed: git uses the name and the addresses in it" in ran.errors
            and "+user.email = other@person.example" in ran.errors
            and "+branch.main.remote = ." in ran.errors and "merge" not in ran.errors), ran
    ran = hutch.sh("git branch -q -u main side").ok()
    assert "was changed" not in ran.errors, ran


def test_an_address_is_not_hidden_among_lines(hutch, backend, config):
    more = "for i in $(seq 40); do printf '[branch \"b%s\"]\\n\\tremote = origin\\n' $i; done > .git/config.lock; "
    ran = hutch.sh(more + "cat .git/config >> .git/config.lock; mv .git/config.lock .git/config; "
                   "git remote add up https://host.example/r; "
                   "for i in $(seq 40); do git config branch.c$i.rebase true; done").ok()
    assert "+remote.up.url = https://host.example/r" in ran.errors and "lines more" not in ran.errors, ran


@pytest.mark.parametrize("setting", HELD)
def test_others_are_named(hutch, backend, config, setting):
    before = config.read_text()
    ran = hutch.sh(HELD[setting])
    added = '[remote "up"]\n\turl = https://host.example/r\n\tfetch = +refs/heads/*:refs/remotes/up/*\n'
    assert ran.code not in (0, 125) and config.read_text().replace(added, "") == before, ran
    assert (f"writing {config} was refused: it changes {setting}; --allow-write {config} allows it, "
            "filesystem.allowGitConfig allows it for each repository") in ran.errors, ran
    assert not (config.parent / "config.lock").exists()
    why = hutch("why").ok().text
    assert setting in why and str(config) in why, why


@pytest.mark.parametrize("setting", HELD)
def test_what_it_says_helps(hutch, backend, config, setting):
    ran = hutch.run("/bin/sh", "-c", HELD[setting], options=["--allow-write", config])
    assert ran.code == 0 and "was refused" not in ran.errors, ran


WRITES = {
    "appended": "echo '[user]' >> .git/config",
    "opened": "exec 3<> .git/config",
    "its mode": "chmod 666 .git/config",
    "removed": "rm -f .git/config",
    "moved": "mv .git/config x",
    "linked": "ln .git/config x",
    "another name's": "cp .git/config x; mv x .git/config",
    "a link as the lock": "ln -s ../x .git/config.lock; cp .git/config x; mv .git/config.lock .git/config",
    "the repository moved": "mv .git x",
    "a part of it": "rm .git/HEAD",
}


@pytest.mark.parametrize("way", WRITES)
def test_no_other_way(hutch, backend, config, as_user, project, way):
    harness.run_in(as_user, ["rm", "-r", ".git/hooks"], cwd=project).ok()
    before, mode = config.read_text(), config.stat().st_mode
    ran = hutch.sh(WRITES[way])
    assert ran.code not in (0, 125), ran
    assert config.read_text() == before and config.stat().st_mode == mode and config.stat().st_nlink == 1
    assert (project / ".git/HEAD").exists()


# git outside has written it, and renames it by its name in the next moment.
OUTSIDE_LOCK = {
    "opened": "exec 3<> .git/config.lock",
    "appended": "echo '[user]' >> .git/config.lock",
    "cut": "truncate -s 0 .git/config.lock",
    "its mode": "chmod 666 .git/config.lock",
    "removed": "rm -f .git/config.lock",
    "moved": "mv .git/config.lock x",
    "renamed to the configuration": "mv .git/config.lock .git/config",
    "linked": "ln .git/config.lock x",
    "another in its place": "cp .git/config x; mv -f x .git/config.lock",
    "exchanged": "cp .git/config x; python3 -c \"import ctypes, sys; sys.exit("
                 "ctypes.CDLL(None).renameat2(-100, b'x', -100, b'.git/config.lock', 2) != 0)\"",
}


@pytest.mark.parametrize("way", OUTSIDE_LOCK)
def test_the_lock_of_git_outside_stays(hutch, backend, config, as_user, project, way):
    lock = config.with_name("config.lock")
    harness.run_in(as_user, ["cp", "-p", config, lock], cwd=project).ok()
    before, text = lock.stat(), lock.read_text()
    ran = hutch.sh(OUTSIDE_LOCK[way])
    assert ran.code not in (0, 125), ran
    after = lock.stat()
    assert (after.st_ino, after.st_mode, after.st_nlink) == (before.st_ino, before.st_mode, 1)
    assert lock.read_text() == text == config.read_text()


def test_a_lock_of_its_own_is_the_sandboxs(hutch, backend, config):
    before = config.read_text()
    hutch.sh("echo x > .git/config.lock; echo y >> .git/config.lock; chmod 600 .git/config.lock; rm .git/config.lock; "
             "cp .git/config .git/config.lock; mv .git/config.lock .git/config").ok()
    assert config.read_text() == before and not config.with_name("config.lock").exists()


def test_push_sets_the_upstream(hutch, backend, config, as_user, project):
    outside = "git init -q --bare own.git; git remote set-url origin ./own.git"
    harness.run_in(as_user, ["/bin/sh", "-ec", outside], cwd=project).ok()
    ran = hutch.sh("git switch -q -c new; git push -q -u origin new").ok()
    assert "refused" not in ran.errors and "merge = refs/heads/new" in config.read_text(), ran
    pushed = harness.run_in(as_user, ["git", "-C", "own.git", "branch"], cwd=project).ok()
    assert pushed.text.strip() == "new"


def test_each_repository(hutch, backend, config, as_user, project):
    policy = {"filesystem": {"allowRead": ["/"], "allowWrite": ["."], "allowGitConfig": True}}
    as_user.write(project / "policy.json", json.dumps(policy))
    hutch.run("/bin/sh", "-c", HELD["core.fsmonitor"], options=["--policy", "policy.json"]).ok()
    assert "fsmonitor" in config.read_text()


def test_a_rule_about_the_file_holds(hutch, backend, config):
    before = config.read_text()
    ran = hutch.run("/bin/sh", "-c", LANDS["config"][0], options=["--deny-write", config])
    assert ran.code not in (0, 125) and config.read_text() == before, ran


def test_settings_of_worktrees(hutch, backend, project):
    """git-worktree(1) copies them to each new one."""
    script = ("git init -q r; cd r; git config extensions.worktreeConfig true; git config --worktree core.bare false; "
              "git -c user.name=A -c user.email=a@b.example commit -q --allow-empty -m first; "
              "git worktree add -q ../w; cat .git/worktrees/w/config.worktree; "
              "git -C ../w status --porcelain; git -C ../w log --format=%s")
    ran = hutch.run("/bin/sh", "-ec", script).ok()
    assert "bare = false" in ran.text and ran.text.endswith("first\n"), ran
    assert "refused" not in ran.errors, ran


SPARSE = ("mkdir d e; echo d > d/d; echo e > e/e; git add d e; git commit -qm dirs; "
          "git worktree add -q ../{project}-w; git worktree add -q w")


@pytest.mark.parametrize("place", [".", "w"])
def test_sparse_checkout(hutch, backend, config, as_user, project, place):
    script = (f"set -e; cd {place}; git sparse-checkout set d; ls; git status --porcelain; "
              "git sparse-checkout disable; ls; git status --porcelain; git config extensions.worktreeConfig")
    twin = project.parent / f"{project.name}-twin"
    harness.run_in(as_user, ["/bin/sh", "-ec", f"cp -a {project} {twin}"], cwd=project.parent).ok()
    for directory in (project, twin):
        harness.run_in(as_user, ["/bin/sh", "-ec", SPARSE.format(project=directory.name)], cwd=directory).ok()
    expected = harness.run_in(as_user, ["/bin/sh", "-c", script], cwd=twin).ok().text
    ran = hutch.sh(script).ok()
    assert ran.text == expected and ran.errors == "", (ran, expected)


@pytest.mark.parametrize("place", [".git/config.worktree", ".git/worktrees/w/config.worktree"])
def test_what_git_does_not_read_yet_stays_unread(hutch, backend, config, as_user, project, place):
    script = SPARSE.format(project=project.name) + f"; git config -f {place} core.fsmonitor ./evil"
    harness.run_in(as_user, ["/bin/sh", "-ec", script], cwd=project).ok()
    before = config.read_text()
    ran = hutch.sh("git sparse-checkout set d")
    assert ran.code != 0 and config.read_text() == before, ran
    assert f"writing {config} was refused: it changes extensions.worktreeconfig; " in ran.errors, ran


@pytest.mark.parametrize("there", ["there", "absent"])
def test_the_configuration_of_the_work_tree(hutch, backend, config, as_user, project, there):
    outside = "git config extensions.worktreeConfig true"
    if there == "there":
        outside += "; git config --worktree core.pager mine"
    harness.run_in(as_user, ["/bin/sh", "-ec", outside], cwd=project).ok()
    of_work_tree = project / ".git/config.worktree"
    hutch.sh("git sparse-checkout set --cone src").ok()
    assert "sparseCheckout = true" in of_work_tree.read_text()
    for setting in ("core.fsmonitor", "remote.origin.url"):
        ran = hutch.sh(f"git config --worktree --add {setting} https://evil.example/")
        assert ran.code not in (0, 125) and f"it changes {setting};" in ran.errors, ran
    assert "evil" not in of_work_tree.read_text() and ("mine" in of_work_tree.read_text()) == (there == "there")


WAYS_TO_WRITE = {
    "at once": "printf '{}' > .git/worktrees/w/config.worktree",
    "by git's lock": "printf '{}' > .git/worktrees/w/config.worktree.lock; "
                     "mv .git/worktrees/w/config.worktree.lock .git/worktrees/w/config.worktree",
}
ELSEWHERE = "[remote \"origin\"]\n\tpushurl = https://evil.example/e\n"


@pytest.mark.parametrize("order", ["read before", "read after"])
@pytest.mark.parametrize("way", WAYS_TO_WRITE)
def test_a_linked_work_tree_pushes_where_the_user_says(hutch, backend, config, as_user, project, way, order):
    harness.run_in(as_user, ["/bin/sh", "-ec", SPARSE.format(project=project.name)], cwd=project).ok()
    steps = ["git sparse-checkout set d", WAYS_TO_WRITE[way].format(ELSEWHERE)]
    hutch.sh("; ".join(steps if order == "read before" else reversed(steps)))
    remotes = harness.run_in(as_user, ["git", "remote", "-v"], cwd=project / "w").ok().text
    assert "https://host.example/own.git (push)" in remotes and "evil" not in remotes, remotes


# The directory is a repository with the last of its parts, and the refusal is about that part.
def test_a_repository_that_would_run_something_is_none(hutch, backend, project):
    made = project / "made"
    script = ("mkdir -p made/objects made/refs; printf '[core]\\n\\tfsmonitor = ./evil\\n' > made/config; "
              "echo ref: refs/heads/main > made/HEAD")
    ran = hutch.sh(script)
    remedy = f"outside, git could run a program or write a file by it; --allow-write {made}/HEAD allows it"
    assert ran.code == 2 and f"writing {made}/HEAD was refused: {remedy}" in ran.errors, ran
    assert hutch.run("sh", "-c", script, options=["--allow-write", f"{made}/HEAD"]).code == 0
    assert (made / "HEAD").exists()
