# The user's own git and a sandbox: ordinary work goes on, and what is prepared for git is moved aside.
"""The attacks themselves are cases of the suite (suite/git_ways.py)."""

import os
import pathlib
import shutil
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
from git_ways import as_person, commit_first  # noqa: E402


@pytest.fixture
def repository(as_user, project):
    return commit_first(as_user, project)


# Ordinary work, all in one sandbox; the same script outside gives the same trees.
WORK = """
set -e
git init -q -b main new && cd new
git config user.name A && git config user.email a@b.example
echo one > file && git add file && git commit -q -m one
git switch -q -c side && echo two > two && git add two && git commit -q -m two
git checkout -q main && echo three > three && git add three && git commit -q -m three
git merge -q -m merged side && git branch -q -d side
git switch -q -c topic HEAD~1 && echo four > four && git add four && git commit -q -m four
git rebase -q main && git switch -q main && git merge -q --ff-only topic
echo five >> file && git stash -q && git stash pop -q && git checkout -q file
git worktree add -q wt -b linked && echo six > wt/six && git -C wt add six && git -C wt commit -q -m six
git -C wt status -s && git worktree list | wc -l
git worktree remove wt && git worktree prune
cd ..
git clone -q new copy && git -C copy log --oneline | wc -l
git init -q --bare bare.git && git -C new push -q ../bare.git main && git -C bare.git log --oneline main | wc -l
git clone -q --bare new other.git && git -C other.git config user.name B
git -C new rebase -q -x true HEAD~1
git -C new status -s
"""


def test_ordinary_work_goes_on(hutch, project, as_user, backend):
    result = hutch.sh(WORK)
    assert result.code == 0, str(result)
    assert result.text.split() == ["2", "5", "5"], str(result)
    assert b"was refused" not in result.err and b"failed" not in result.err, str(result)
    inside = as_person(as_user, ["git", "-C", "new", "log", "--format=%T", "main"], project).text
    assert len(inside.split()) == 5, inside


def test_a_worktree_and_a_submodule_in_a_repository_that_was_there(hutch, repository, as_user, backend):
    as_person(as_user, ["git", "clone", "-q", ".", "source"], repository)
    script = """
    set -e
    git worktree add -q wt -b linked && git -C wt status -s && echo x > wt/x && git -C wt add x
    git -c user.name=A -c user.email=a@b.example -C wt commit -q -m x
    mkdir -p .git/modules; git clone -q --separate-git-dir .git/modules/sub source sub
    git -C sub log --oneline && cat sub/.git
    """
    result = hutch.sh(script)
    assert result.code == 0, str(result)
    assert (repository / "wt/.git").read_text(encoding="utf-8").startswith("gitdir: "), str(result)
    as_person(as_user, ["git", "-C", "wt", "log", "-1"], repository)
    as_person(as_user, ["git", "-C", "sub", "log", "-1"], repository)


def test_a_rebase_that_stops_at_a_conflict_stays(hutch, repository, as_user, backend):
    script = """
    git() { command git -c user.name=A -c user.email=a@b.example "$@"; }
    git checkout -q -b side; echo a > file; git commit -q -a -m a
    git checkout -q main; echo b > file; git commit -q -a -m b
    git rebase side; test -e .git/rebase-merge/git-rebase-todo
    """
    result = hutch.sh(script).ok()
    assert b"moved" not in result.err, str(result)
    assert (repository / ".git/rebase-merge/git-rebase-todo").exists()


def test_no_hard_link_changes_where_a_repository_is(hutch, repository, backend):
    link = "echo 'gitdir: ../.git/modules/sub' > sub/.git; ln sub/.git x; echo evil > x"
    result = hutch.sh("mkdir -p sub .git/modules/sub; " + link)
    changed = (repository / "sub/.git").read_text(encoding="utf-8") == "evil\n"
    assert changed == (backend == "none"), str(result)


def test_an_operation_behind_a_link_stays(hutch, repository, as_user, backend):
    as_user.mkdir(repository / "other")
    as_user.mkdir(repository / ".git/worktrees")
    (repository / ".git/worktrees/x").symlink_to("../../other")
    hutch.sh("mkdir other/rebase-merge; echo exec make > other/rebase-merge/git-rebase-todo").ok()
    assert (repository / "other/rebase-merge/git-rebase-todo").exists()


def test_many_prepared_operations_take_little_memory(hutch, repository, as_user, backend):
    if backend == "none":
        pytest.skip("nothing is looked at there")
    for number in range(200):
        todo = as_user.write(repository / f".git/worktrees/{number}/rebase-merge/git-rebase-todo")
        os.truncate(todo, 1 << 20)
    started = hutch.popen("true", stdout=None, stderr=None)
    _, status, used = os.wait4(started.pid, 0)
    assert status == 0 and used.ru_maxrss < 120 << 10, used


def test_an_operation_that_the_user_had_prepared_stays(hutch, repository, as_user, backend):
    as_user.mkdir(repository / ".git/rebase-merge")
    todo = as_user.write(repository / ".git/rebase-merge/git-rebase-todo", "exec make\n")
    hutch.run("true").ok()
    assert todo.exists()


def test_what_was_moved_aside_is_told_and_kept(hutch, repository, as_user, backend):
    if backend == "none":
        pytest.skip("nothing is looked at there")
    result = hutch.sh("mkdir .git/rebase-merge; echo exec evil > .git/rebase-merge/git-rebase-todo").ok()
    line = next(line for line in result.errors.splitlines() if "was moved to" in line)
    aside = pathlib.Path(line.rsplit("was moved to ", 1)[1])
    assert (aside / "git-rebase-todo").read_text(encoding="utf-8") == "exec evil\n"
    assert not (repository / ".git/rebase-merge").exists()


LOCAL = """
g() { git -c user.name=A -c user.email=a@b.example -c protocol.file.allow=always "$@"; }
set -e
mkdir many && seq 1 3000 | sed 's,.*,many/a-file-of-some-length-&,' | xargs touch
g -c index.version=4 -c index.threads=4 add many && g commit -q -m many
g update-index --index-version 2 && g -c index.threads=4 update-index --force-write-index
g update-index --split-index && echo y > y && g add y && g commit -q -m y && g update-index --no-split-index
g sparse-checkout init --cone --sparse-index && g sparse-checkout set sub && g status -s && g sparse-checkout disable
git init -q --object-format=sha256 other && echo x > other/x && g -C other add x && g -C other commit -q -m x
g worktree add -q wt -b linked && echo x > wt/x && g -C wt add x && g -C wt commit -q -m x
mkdir .git/rr-cache; g checkout -q -b side; echo a > file; g commit -q -a -m a
g checkout -q main; echo b > file; g commit -q -a -m b; ! g merge -q side; test -s .git/MERGE_RR
"""


def test_indexes_that_git_itself_writes_stay(hutch, repository, as_user, backend):
    result = hutch.sh(LOCAL).ok()
    assert b"moved" not in result.err and b"staged" not in result.err, str(result)
    assert (repository / ".git/MERGE_RR").exists() and (repository / "other/.git/index").exists()
    assert "file" in as_person(as_user, ["git", "diff", "--name-only"], repository).text


@pytest.mark.parametrize("way", ["../VICTIM", "link"])
def test_no_resolution_copies_a_file_into_the_repository(hutch, repository, as_user, backend, way):
    victim = as_user.write(repository.parent / f"{repository.name}-victim", "a secret\n", 0o600)
    number = "0123456789012345678901234567890123456789"
    name = way.replace("VICTIM", victim.name)
    script = (f"ln -s {victim} link; mkdir -p .git/rr-cache/{number}; echo x > .git/rr-cache/{number}/preimage; "
              f"printf '{number}\\t{name}\\0' > .git/MERGE_RR")
    hutch.sh(script).ok()
    as_person(as_user, ["git", "commit", "-q", "--allow-empty", "-m", "x"], repository)
    images = (repository / ".git/rr-cache").rglob("*image")
    copied = "a secret\n" in [image.read_text(encoding="utf-8") for image in images]
    assert copied == (backend == "none")


PLACES_IN_PLACE = ["COMMIT_EDITMSG", "FETCH_HEAD", "MERGE_MSG", "logs/HEAD", "logs/refs/heads/main", "logs/refs",
                   "ORIG_HEAD", "worktrees/wt/COMMIT_EDITMSG", "worktrees/wt/logs/HEAD", "rr-cache"]


@pytest.mark.parametrize("place", PLACES_IN_PLACE)
@pytest.mark.parametrize("how", ["made", "moved", "moved with its directory"])
def test_no_link_leads_git_out_of_its_directory(hutch, repository, as_user, backend, place, how):
    as_person(as_user, ["git", "worktree", "add", "-q", "wt"], repository)
    as_user.mkdir(repository / "elsewhere")
    file = pathlib.PurePath(".git") / place
    script = {
        "made": f"rm -rf {file}; ln -s /elsewhere {file}",
        "moved": f"rm -rf {file}; ln -s /elsewhere x; mv -T x {file}",
        "moved with its directory": (
            f"mkdir d; cp -r {file.parent}/. d; rm -rf d/{file.name}; ln -s /elsewhere d/{file.name}; "
            f"mv {file.parent} old; mv -T d {file.parent}"),
    }[how]
    result = hutch.sh(script)
    assert (repository / file).is_symlink() == (backend == "none"), str(result)


def test_a_link_that_the_user_had_made_stays(hutch, repository, as_user, backend):
    (repository / ".git/description").unlink()
    (repository / ".git/description").symlink_to("../file")
    time.sleep(0.1)
    hutch.run("true").ok()
    assert (repository / ".git/description").is_symlink()


def test_what_was_staged_is_told(hutch, repository, as_user, backend):
    if backend == "none":
        pytest.skip("nothing is looked at there")
    blob = "$(echo evil | git hash-object -w --stdin)"
    result = hutch.sh(f"git update-index --add --cacheinfo 100755,{blob},.husky/pre-commit; echo y > y; git add y").ok()
    assert b" has .husky/pre-commit now, which the command may not write" in result.err, str(result)
    assert b"staged" not in hutch.sh("echo z > z; git add z").ok().err


def test_an_index_that_was_moved_aside_is_told_and_kept(hutch, repository, as_user, backend):
    if backend == "none":
        pytest.skip("nothing is looked at there")
    before = (repository / ".git/index").read_bytes()
    result = hutch.sh("python3 -c \"f = open('.git/index', 'r+b'); t = f.read(); f.seek(0);"
                      " f.write(t.replace(b'file', b'../f'))\"").ok()
    aside = pathlib.Path(next(line for line in result.errors.splitlines() if "was moved to" in line)
                         .split(" was moved to ")[1].split(";")[0])
    assert aside.read_bytes() == before.replace(b"file", b"../f"), str(result)
    assert as_person(as_user, ["git", "reset", "-q"], repository).code == 0
    assert not as_person(as_user, ["git", "status", "-s"], repository).text


def test_an_entry_of_the_user_lifts_what_a_setting_protects(hutch, repository, as_user, backend):
    as_person(as_user, ["git", "config", "core.hooksPath", ".husky"], repository)
    as_user.write(repository / ".husky/keep")
    result = hutch.sh("echo x > .husky/pre-commit", options=("--allow-write", str(repository / ".husky")))
    assert result.ok() and (repository / ".husky/pre-commit").exists()
    if backend != "none":
        assert hutch.sh("echo x > .husky/pre-push").code != 0


def test_a_configuration_that_includes_without_end(hutch, repository, as_user, backend):
    as_person(as_user, ["git", "config", "include.path", "../loop"], repository)
    as_user.write(repository / "loop", "[include]\n\tpath = loop\n\tpath = .git/config\n\tpath = /dev/zero\n")
    assert hutch.run("true").code == 0


def test_a_configuration_that_is_too_large_is_an_error(hutch, repository, as_user, backend):
    as_person(as_user, ["git", "config", "include.path", "../large"], repository)
    as_user.write(repository / "large", "#" * (2 << 20))
    result = hutch.run("true")
    assert result.code == 125 and b"larger than" in result.err, str(result)


# What the first sandbox shows, hides before its end, and the second one shows again.
SHOW = "mkdir .git/rebase-merge; echo exec evil > .git/rebase-merge/git-rebase-todo; echo up; read line; "


def test_two_sandboxes_show_and_hide_an_operation_in_turns(hutch, repository, as_user, backend):
    with hutch.popen("sh", "-c", SHOW + "mv .git/rebase-merge .git/x") as first:
        assert first.stdout.readline() == b"up\n"
        with hutch.popen("sh", "-c", "echo up; read line; mv .git/x .git/rebase-merge") as second:
            assert second.stdout.readline() == b"up\n"
            first.communicate(b"\n", timeout=60)
            assert (repository / ".git/x/git-rebase-todo").exists(), "the first one hides it"
            _, errors = second.communicate(b"\n", timeout=60)
    assert (repository / ".git/rebase-merge").exists() == (backend == "none"), errors
    assert (b"was moved to" in errors) == (backend != "none"), errors


def test_an_operation_stays_beside_a_sandbox_that_cannot_write_there(hutch, repository, as_user, backend):
    as_user.mkdir(repository / ".git/rebase-merge")
    other = as_user.mkdir(repository.parent / f"{repository.name}-other")
    with hutch.popen("sh", "-c", "echo up; read line", cwd=other) as beside:
        assert beside.stdout.readline() == b"up\n"
        todo = as_user.write(repository / ".git/rebase-merge/git-rebase-todo", "exec make\n")
        hutch.run("true").ok()
        beside.communicate(b"\n", timeout=60)
    assert todo.exists()


def test_many_small_repositories_lock_nobody_out(hutch, as_user, project, backend):
    if (as_user.is_root or backend == "none") and os.environ.get("HUTCH_TEST_ALL") != "1":
        pytest.skip("slow: ./dev test --all")
    as_person(as_user, ["git", "init", "-q", "r"], project)
    shutil.rmtree(project / "r/.git/hooks")
    (project / "r/.git/hooks").mkdir()
    for number in range(1100):
        shutil.copytree(project / "r", project / f"many/r{number}")
    if os.geteuid() == 0:
        for top, directories, files in os.walk(project / "many"):
            for name in [".", *directories, *files]:
                as_user.own(os.path.join(top, name))
    if backend == "bwrap":
        # It takes so many arguments and no more.
        result = hutch.run("true")
        assert result.code == 125 and b"--deny-write for the directory" in result.err, str(result)
        hutch.run("true", options=("--deny-write", "many")).ok()
    else:
        hutch.run("true").ok()


def test_too_many_repositories_name_their_directory_and_what_helps(hutch, as_user, project, backend):
    if backend == "none":
        pytest.skip("nothing is read there")
    if (as_user.is_root or backend != "namespace") and os.environ.get("HUTCH_TEST_ALL") != "1":
        pytest.skip("slow: ./dev test --all")
    for number in range(8300):
        place = project / f"many/r{number}"
        place.mkdir(parents=True)
        (place / ".git").write_text("gitdir: x\n")
    result = hutch.run("true")
    assert result.code == 125 and b"/many holds the most repositories" in result.err, str(result)
    hutch.run("true", options=("--deny-write", "many")).ok()
