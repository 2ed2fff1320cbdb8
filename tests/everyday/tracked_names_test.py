# git in repositories that track protected names gives inside what it gives outside: the same files, the same status.
import ctypes
import json
import os
import pathlib
import signal
import struct

import harness
import pytest

IN_MOVED_TO, IN_CREATE = 0x80, 0x100

# Files of names that hutch protects, a program, a link, and an ordinary one; three branches differ in them.
MAKE = """
git init -q -b main .; git config user.name Ann; git config user.email a@b.example
mkdir -p .vscode/sub .claude/agents .husky sub/.idea docs
echo '{"a": 1}' > .vscode/settings.json; printf '#!/bin/sh\\n' > .vscode/run.sh; chmod 755 .vscode/run.sh
ln -s settings.json .vscode/link; echo agent > .claude/agents/one.md; echo '{}' > .mcp.json; echo 'export A=1' > .envrc
echo x > .husky/pre-commit; echo '[submodule]' > .gitmodules; echo i > sub/.idea/a.xml; echo d > docs/d; echo 1 > n
git add -A; git commit -qm first
git branch old
echo '{"a": 2}' > .vscode/settings.json; echo '{"two": 2}' > .mcp.json; git rm -q .envrc; echo s > .vscode/sub/s
git add -A; git commit -qm second; echo 2 > n; git commit -qam third
git checkout -q -b side old; echo '{"b": 3}' > .vscode/settings.json; chmod 644 .vscode/run.sh
ln -sf other.json .vscode/link; echo t > .claude/agents/two.md; echo o > other; git add -A; git commit -qm side
git checkout -q -b fine old; echo f > fine; echo '{"fine": 1}' > sub/.idea/b.json; git add -A; git commit -qm fine
git checkout -q main; git clean -qfd
"""

COMMANDS = {
    "checkout": "git checkout -q side",
    "checkout, and back": "git checkout -q side; git checkout -q main; git checkout -q -",
    "checkout of an older commit": "git checkout -q HEAD~2",
    "checkout of a path": "git checkout -q side -- .vscode",
    "switch": "git switch -q -c new side",
    "merge": "git checkout -q fine; git merge -q main -m merged",
    "merge, forward": "git checkout -q old; git merge -q --ff-only main",
    "rebase": "git checkout -q fine; git rebase -q main",
    "cherry-pick": "git cherry-pick fine >&2",
    "revert": "git checkout -q old; git reset -q --hard main; git revert --no-edit HEAD~1 >&2",
    "restore": "git restore -s side .vscode/settings.json .vscode/link; git restore .vscode",
    "reset": "git reset -q --hard side",
    "stash of a change": "echo more >> n; git stash -q; git checkout -q side; git checkout -q main; git stash pop -q",
    "many, in parallel": "git -c checkout.workers=4 -c checkout.thresholdForParallelism=0 checkout -q side",
    "bisect": "git bisect start HEAD old >&2; git bisect good >&2; git bisect reset >&2",
    "a commit inside": "git checkout -q -b work; echo w > w; git add w; git commit -qm w; git checkout -q side; "
                       "git checkout -q work; git rebase -q fine",
}

LIST = ("git status --porcelain; git symbolic-ref -q HEAD || echo detached; git log --format=%s | head -3; "
        "find . -path ./.git -prune -o -printf '%P %y %m %l\\n' | sort; "
        "find . -path ./.git -prune -o -type f -print | sort | xargs grep -H '' ")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


class Bringing(harness.Hutch):
    """Its settings let git bring in what the user has committed."""

    def __init__(self, plain, state):
        vars(self).update(vars(plain), plain=plain, state=state)
        self("settings", "set", "security.gitBringsCommitted", "true").ok()

    def __call__(self, *args, **options):
        return super().__call__(*args, **{"env": {"HUTCH_STATE": str(self.state)}, **options})


    def popen(self, *command, **options):
        return super().popen(*command, **{"env": {"HUTCH_STATE": str(self.state)}, **options})


@pytest.fixture
def hutch(hutch, as_user, project):
    return Bringing(hutch, as_user.mkdir(project.parent / f"{project.name}-state", 0o700))


@pytest.fixture
def repository(as_user, project):
    harness.run_in(as_user, ["/bin/sh", "-ec", MAKE], cwd=project).ok()
    return project


def outside(as_user, repository, script):
    return harness.run_in(as_user, ["/bin/sh", "-ec", script], cwd=repository)


@pytest.mark.parametrize("command", COMMANDS)
def test_as_outside(as_user, hutch, backend, repository, command):
    twin = repository.parent / f"{repository.name}-twin"
    outside(as_user, repository.parent, f"cp -a {repository} {twin}").ok()
    outside(as_user, twin, "git update-index -q --refresh").ok()
    expected = outside(as_user, twin, COMMANDS[command] + "\n" + LIST).ok()
    ran = hutch.sh("set -e; " + COMMANDS[command] + "\n" + LIST).ok()
    assert ran.out == expected.out, (ran, expected)
    assert outside(as_user, repository, LIST).ok().out == expected.out
    assert "refused" not in ran.errors and "was not" not in ran.errors, ran


def test_from_packs(as_user, hutch, backend, repository):
    outside(as_user, repository, "git tag -a -m x v1 side; git pack-refs --all; git repack -q -a -d -f --depth=50").ok()
    ran = hutch.sh("git checkout -q v1; cat .vscode/settings.json; git checkout -q HEAD~1; git status --porcelain").ok()
    assert ran.out == b'{"b": 3}\n' and "was not" not in ran.errors, ran


def test_no_other_name_is_there_for_a_moment(as_user, hutch, backend, repository):
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    for directory in (repository, repository / ".vscode"):
        libc.inotify_add_watch(watch, bytes(directory), IN_MOVED_TO | IN_CREATE)
    hutch.sh("git checkout -q side; git checkout -q main").ok()
    events, names = os.read(watch, 1 << 16), set()
    os.close(watch)
    while events:
        size = struct.unpack_from("iIII", events)[3]
        names.add(events[16:16 + size].rstrip(b"\0").decode())
        events = events[16 + size:]
    tracked = outside(as_user, repository, "git ls-tree -rt --name-only main; git ls-tree -rt --name-only side").ok()
    assert ".mcp.json" in names and "settings.json" in names, names
    assert not names - {path.split("/")[-1] for path in tracked.text.split("\n")}, names


def test_names_of_hutchs_own_are_nobodys(hutch, backend, repository, as_user):
    as_user.write(repository / ".hutch-own-1", "there\n")
    for script in ("echo x > .hutch-own-1", "echo x > .hutch-own-2", "mv n .hutch-own-2", "mv .hutch-own-1 m",
                   "ln n .hutch-own-2", "ln .hutch-own-1 m", "ln -s n .hutch-own-2", "rm .hutch-own-1",
                   "mkdir .hutch-own-2"):
        ran = hutch.plain.sh(script)
        assert ran.code not in (0, 125) and "permitted" in ran.errors, (script, ran)
    assert (repository / ".hutch-own-1").read_text() == "there\n"


def test_modes_are_those_of_the_user(as_user, hutch, backend, repository):
    hutch.sh("umask 000; git checkout -q side; umask 077; git checkout -q main; umask 000; git checkout -q side").ok()
    paths = [".vscode/settings.json", ".claude/agents/two.md"]
    modes = {path: (repository / path).stat().st_mode & 0o777 for path in paths}
    assert set(modes.values()) == {0o644}, modes
    hutch.sh("umask 177; git checkout -q main").ok()
    assert (repository / ".vscode/run.sh").stat().st_mode & 0o777 == 0o755


def quarantined(hutch):
    return sorted(path.read_text() for path in (hutch.state / "data/quarantine").iterdir())


def test_a_change_that_is_replaced_is_kept(as_user, hutch, backend, repository):
    outside(as_user, repository, "echo mine > .vscode/settings.json").ok()
    ran = hutch.sh("git checkout -q -f side; rm -f .envrc; git checkout -q -f main").ok()
    assert (repository / ".vscode/settings.json").read_text() == '{"a": 2}\n', ran
    assert quarantined(hutch) == ["mine\n"], ran
    assert f"{repository}/.vscode/settings.json had a content of yours" in ran.errors, ran
    assert "quarantine/settings.json-" in ran.errors, ran


def test_a_change_that_is_removed_is_kept(as_user, hutch, backend, repository):
    outside(as_user, repository, "git checkout -q old; echo mine > .envrc").ok()
    ran = hutch.sh("git checkout -q -f main; ls -A").ok()
    assert b".envrc" not in ran.out and quarantined(hutch) == ["mine\n"], ran


# The user changes meanwhile what git has just made.
def test_a_change_of_what_has_landed_is_kept(as_user, hutch, backend, repository):
    script = ("git checkout -q side; echo; while ! test -e go; do sleep 0.05; done; git checkout -q -f main; "
              "test ! -e .claude/agents/two.md")
    with hutch.popen("/bin/sh", "-ec", script) as running:
        assert running.stdout.readline() == b"\n"
        (repository / ".claude/agents/two.md").write_text("mine\n")
        (repository / "go").write_text("")
        assert running.wait(timeout=60) == 0, running.stderr.read()
    assert quarantined(hutch) == ["mine\n"]


LINKED = """
git checkout -q -b linked; ln -s settings/own.json .mcp.json.new; mv .mcp.json.new .mcp.json; git commit -qam linked
git checkout -q main; git clean -qfdx
"""


def test_a_link_that_lands_protects_its_target(as_user, hutch, backend, repository):
    outside(as_user, repository, LINKED).ok()
    ran = hutch.sh("git checkout -q linked; readlink .mcp.json; mkdir -p settings; echo evil > settings/own.json")
    assert ran.out == b"settings/own.json\n" and ran.code != 0 and "permitted" in ran.errors, ran
    ran = hutch.sh("rm -rf settings; git checkout -q main; git checkout -q linked; mkdir x; echo evil > x/own.json; "
                   "rm -rf settings; ln -s x settings || mv x settings")
    assert ran.code != 0 and not (repository / "settings/own.json").exists(), ran


def test_a_link_does_not_land_where_the_sandbox_has_written(as_user, hutch, backend, repository):
    outside(as_user, repository, LINKED).ok()
    ran = hutch.sh("mkdir settings; echo evil > settings/own.json; git checkout -q -f linked").ok()
    assert not (repository / ".mcp.json").is_symlink() and ".mcp.json was not written" in ran.errors, ran


def test_a_link_to_a_repository_is_the_repositorys_own(as_user, hutch, backend, repository):
    outside(as_user, repository, "git worktree add -q wt old").ok()
    script = "set -e; mkdir d; cp wt/.git d/.git; cd d; git checkout -q -f side; git status --porcelain"
    ran = hutch.sh(script)
    assert not (repository / "d/.vscode/settings.json").exists(), ran
    ran = hutch.sh("cd wt; git checkout -q -f old; git checkout -q -f side; cat .vscode/settings.json").ok()
    assert ran.out == b'{"b": 3}\n' and "was not" not in ran.errors, ran


def readers_of(process):
    """The processes that read objects for the supervisor of a run."""
    parents, supervisors = {}, set()
    for path in pathlib.Path("/proc").iterdir():
        try:
            parents[int(path.name)] = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if b"--access" in (path / "cmdline").read_bytes():
                supervisors.add(int(path.name))
        except (OSError, ValueError):
            pass

    def is_of_run(pid):
        return pid == process.pid or (pid in parents and is_of_run(parents[pid]))

    return [pid for pid in supervisors if parents[pid] in supervisors and is_of_run(pid)]


def test_a_reader_that_died_is_started_again(as_user, hutch, backend, repository):
    outside(as_user, repository, "for i in 4 5; do echo $i > .mcp.json; git commit -q -a -m $i; done").ok()
    script = ("git checkout -q side; echo; while ! test -e go; do sleep 0.05; done; git checkout -q main~1; "
              "cat .mcp.json")
    with hutch.popen("/bin/sh", "-ec", script) as running:
        assert running.stdout.readline() == b"\n"
        readers = readers_of(running)
        assert readers
        for pid in readers:
            os.kill(pid, signal.SIGKILL)
        (repository / "go").write_text("")
        assert running.stdout.read() == b"4\n", running.stderr.read()


def test_an_older_version_is_shown(as_user, hutch, backend, repository):
    outside(as_user, repository, "for i in 4 5; do echo $i > .mcp.json; git commit -q -a -m $i; done").ok()
    ran = hutch.sh("git checkout -q HEAD~1").ok()
    assert f"{repository}/.mcp.json was changed" in ran.errors and "+4" in ran.errors, ran


def test_files_of_a_new_worktree_go_with_it(hutch, backend, repository):
    ran = hutch.sh("set -e; git worktree add -q wt side; git worktree remove wt; ls").ok()
    assert b"wt" not in ran.out and "was not" not in ran.errors, ran


def test_a_users_own_change_comes_back(as_user, hutch, backend, repository):
    outside(as_user, repository, "echo mine > .vscode/settings.json").ok()
    ran = hutch.sh("git stash -q; cat .vscode/settings.json; git stash pop -q; git status --porcelain").ok()
    assert ran.out == b'{"a": 2}\n M .vscode/settings.json\n', ran
    assert (repository / ".vscode/settings.json").read_text() == "mine\n" and "was not" not in ran.errors, ran


def test_what_no_commit_of_the_user_has_is_held_back(as_user, hutch, backend, repository):
    path = repository / ".vscode/settings.json"
    before = path.stat().st_mtime_ns
    script = ("b=$(echo evil | git hash-object -w --stdin); "
              "git update-index --cacheinfo 100644,$b,.vscode/settings.json; "
              "git commit -qm evil; git checkout -q -f side; git checkout -q -f main; git status --porcelain")
    ran = hutch.sh("set -e; " + script, options=["--json"]).ok()
    assert path.read_text() == '{"b": 3}\n', ran
    refusals = json.loads(ran.out)["refusals"]
    line = (f"{path} was not written: git brings in only what your commits have, and only with "
            f"security.gitBringsCommitted; outside, `git -C {path.parent} restore {path.name}` brings it; "
            "Visual Studio Code runs its tasks and obeys its settings; "
            f"--allow-write {path} allows it, filesystem.allowObeyed [\".vscode\"] allows the name")
    assert [one for one in refusals if line in json.dumps(one["what"]).replace('\\"', '"')], refusals
    assert "was not written" in hutch("why").ok().text
    assert path.stat().st_mtime_ns >= before


def test_what_one_run_commits_is_held_in_the_next(as_user, hutch, backend, repository):
    hutch.sh("set -e; b=$(echo evil | git hash-object -w --stdin); git checkout -q -b theirs; "
             "git update-index --cacheinfo 100644,$b,.vscode/settings.json; git commit -qm evil").ok()
    ran = hutch.sh("git checkout -q main; git checkout -q theirs; git checkout -q .")
    assert "evil" not in (repository / ".vscode/settings.json").read_text(), ran
    assert "was not written" in ran.errors, ran


def test_a_clone_has_all_other_files(as_user, hutch, backend, repository, project):
    ran = hutch.sh(f"git clone -q {project} c; ls -A c; git -C c status --porcelain").ok()
    assert b"docs" in ran.out and b"\nn\n" in ran.out and not (project / "c/.mcp.json").exists(), ran
    assert f"{project}/c/.mcp.json was not written" in ran.errors, ran


def test_without_the_setting_nothing_lands(as_user, hutch, backend, repository, project):
    ran = hutch.plain.sh("git checkout -q side; cat other")
    assert (repository / ".vscode/settings.json").read_text() == '{"a": 2}\n', ran
    assert (repository / "other").read_text() == "o\n" and ".envrc was not written" in ran.errors, ran
    outside(as_user, repository, "git checkout -q -f side; git checkout -q -f main").ok()
    ran = hutch.plain.sh(f"git clone -q {project} c; ls -A c").ok()
    assert b"docs" in ran.out and b"\nn\n" in ran.out and not (project / "c/.mcp.json").exists(), ran
    assert f"{project}/c/.mcp.json was not written" in ran.errors, ran


def test_a_worktree_in_the_project(as_user, hutch, backend, repository):
    ran = hutch.sh("git worktree add -q wt side; git -C wt status --porcelain; cat wt/.vscode/settings.json").ok()
    assert ran.out == b'{"b": 3}\n' and "was not" not in ran.errors, ran


def test_own_writes_fail_at_the_call(hutch, backend, repository):
    for script in ("echo x > .mcp.json", "echo x >> .mcp.json", "mv n .mcp.json", "ln n .vscode/new",
                   "sed -i s/a/b/ .vscode/settings.json", "chmod 600 .mcp.json", "mv .vscode other",
                   "mv sub/.idea x", "mv sub x"):
        ran = hutch.sh(script)
        assert ran.code not in (0, 125) and "permitted" in ran.errors, (script, ran)


def test_a_removal_is_told(hutch, backend, repository):
    ran = hutch.sh("rm .mcp.json").ok()
    assert (repository / ".mcp.json").exists() and "/.mcp.json was not removed" in ran.errors, ran
    outcome = hutch.sh("rm .vscode/sub/s; git status --porcelain").ok()
    assert outcome.out == b" D .vscode/sub/s\n" and "was not" not in outcome.errors, outcome
