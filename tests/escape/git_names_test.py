# What the user's git obeys by another name than the one that it is obeyed by: links, and what a shell makes of a name.
"""Each case bites where nothing protects, and nowhere else; and what is the person's stays."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
from git_ways import as_person, commit_first  # noqa: E402

EVIL = "printf '#!/bin/sh\\necho > went\\n' > {0}; chmod +x {0}"
CONFIG = "printf '[core]\\n\\tfsmonitor = echo > went;\\n' > {0}"


@pytest.fixture
def repository(as_user, project):
    commit_first(as_user, project)
    return project


def outside(person, directory, script):
    as_person(person, ["sh", "-c", "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.example GIT_COMMITTER_NAME=A "
                                   f"GIT_COMMITTER_EMAIL=a@b.example; {script}"], directory)


SCRIPT = "mkdir scripts; printf '#!/bin/sh\\n' > scripts/pre-commit; chmod +x scripts/pre-commit; "
REWRITE = EVIL.format("scripts/pre-commit")
# (what the user has, what the sandbox does)
HOOKS = {
    "a link": (SCRIPT + "ln -s ../../scripts/pre-commit .git/hooks/pre-commit", REWRITE),
    "an absolute link": (SCRIPT + "ln -s $PWD/scripts/pre-commit .git/hooks/pre-commit", REWRITE),
    "a link, its directory moved": (
        SCRIPT + "ln -s ../../scripts/pre-commit .git/hooks/pre-commit", "mv scripts old; mkdir scripts; " + REWRITE),
    "a link to what is not there": ("mkdir scripts; ln -s ../../scripts/pre-commit .git/hooks/pre-commit", REWRITE),
    "a link by a link": (
        SCRIPT + "ln -s pre-commit scripts/x; ln -s ../../scripts/x .git/hooks/pre-commit", REWRITE),
    "a link by a link, which is another one then": (
        SCRIPT + "ln -s pre-commit scripts/x; ln -s ../../scripts/x .git/hooks/pre-commit",
        EVIL.format("scripts/evil") + "; rm scripts/x; ln -s evil scripts/x"),
    "another name": (SCRIPT + "ln scripts/pre-commit .git/hooks/pre-commit", REWRITE),
    "another name, cut off and appended to": (
        SCRIPT + "ln scripts/pre-commit .git/hooks/pre-commit",
        "python3 -c \"import os; os.truncate('scripts/pre-commit', 0)\"; "
        + REWRITE.replace(" > scripts", " >> scripts")),
    "another name, by a third one": (
        SCRIPT + "ln scripts/pre-commit .git/hooks/pre-commit", "ln scripts/pre-commit x; " + EVIL.format("x")),
    "a link in the directory of a setting": (
        SCRIPT + "mkdir .githooks; ln -s ../scripts/pre-commit .githooks/pre-commit; "
        "git config core.hooksPath .githooks",
        REWRITE),
    "a link to a directory": (
        "mkdir h; rm -r .git/hooks; ln -s ../h .git/hooks", EVIL.format("h/pre-commit")),
}


@pytest.mark.parametrize("way", HOOKS)
def test_a_hook_by_another_name(hutch, repository, as_user, backend, way):
    users, attack = HOOKS[way]
    outside(as_user, repository, users + "; git add .; git commit -qnm users --allow-empty")
    result = hutch.sh(attack)
    outside(as_user, repository, "git commit -q --allow-empty -m x")
    assert (repository / "went").exists() == (backend == "none"), str(result)


# What leads into "app", where the sandbox is, from outside of what it may write: (what the user has, what it does).
AROUND = {
    "a hook of a repository above": (
        "mkdir -p app/scripts; : > app/scripts/x; ln -s ../../app/scripts/x .git/hooks/pre-commit; "
        "chmod +x app/scripts/x", EVIL.format("scripts/x")),
    "another name of a hook of a repository above": (
        "mkdir -p app; : > app/x; chmod +x app/x; ln app/x .git/hooks/pre-commit", EVIL.format("x")),
    "a hook in a directory of a setting": (
        "mkdir app ../h-$$; : > app/x; chmod +x app/x; ln -s $PWD/app/x ../h-$$/pre-commit; "
        "git config core.hooksPath $PWD/../h-$$", EVIL.format("x")),
    "an included file": (
        "mkdir app; : > app/gc; ln -s $PWD/app/gc ../gc-$$; git config include.path $PWD/../gc-$$",
        CONFIG.format("gc")),
    "another name of an included file": (
        "mkdir app; : > app/gc; ln app/gc gc; git config include.path ../gc", CONFIG.format("gc")),
    "the configuration of the work tree": (
        "mkdir app; : > app/gc; git config extensions.worktreeConfig true; ln -s ../app/gc .git/config.worktree",
        CONFIG.format("gc")),
    "the user's configuration": (
        "mkdir app; git config --global user.name A; cp $HOME/.gitconfig app/gc; rm $HOME/.gitconfig; "
        "ln -s $PWD/app/gc $HOME/.gitconfig", CONFIG.format("gc")),
}


@pytest.mark.parametrize("way", AROUND)
def test_what_leads_into_the_project(hutch, repository, as_user, backend, way, request):
    users, attack = AROUND[way]
    home = as_user.home
    request.addfinalizer(lambda: (home / ".gitconfig").unlink(missing_ok=True))
    outside(as_user, repository, users + "; git add .; git commit -qnm users --allow-empty")
    result = hutch.sh(attack, cwd=repository / "app")
    outside(as_user, repository, "git status; git commit -q --allow-empty -m x")
    assert (repository / "went").exists() == (backend == "none"), str(result)


# (what the user has, a file of theirs that the sandbox may write all the same)
FINE = {
    "a directory behind a link of an editor's": ("mkdir docs .vscode; ln -s ../docs .vscode/docs", "docs/a"),
    "a directory behind a link in hooks": ("mkdir docs; ln -s ../../docs .git/hooks/docs", "docs/a"),
    "a directory behind a link of husky's": ("mkdir docs .husky; ln -s ../docs .husky/docs", "docs/a"),
    "a file with two names": ("echo a > a; ln a b", "b"),
}


@pytest.mark.parametrize("what", FINE)
def test_what_nothing_obeys_may_be_written(hutch, repository, as_user, backend, what):
    users, file = FINE[what]
    outside(as_user, repository, users)
    hutch.sh(f"echo b > {file}").ok()


def test_many_links_in_a_protected_directory(hutch, repository, as_user, backend):
    """As a package manager makes them: no rule for each."""
    outside(as_user, repository, "mkdir -p .claude/skills/x/store; cd .claude/skills/x; : > store/a; "
                                 "for i in $(seq 1000); do ln -s store/a $i; done")
    hutch.sh("true").ok()


# (what the user has, what the sandbox does)
SETTINGS = {
    "an included file behind a link": (
        "mkdir cfg; : > cfg/gc; ln -s cfg/gc gc; git config include.path ../gc", "rm gc; " + CONFIG.format("gc")),
    "an included file behind a link to its directory": (
        "mkdir -p a/cfg; : > a/cfg/gc; ln -s a/cfg cfg; git config include.path ../cfg/gc",
        "rm cfg; mkdir cfg; " + CONFIG.format("cfg/gc")),
    "an included file behind a link that is moved away": (
        "mkdir -p d a; : > a/gc; ln -s ../a/gc d/gc; git config include.path ../d/gc",
        "mv d e; mkdir d; " + CONFIG.format("d/gc")),
    "another name of an included file": (
        ": > gc; ln gc other; git config include.path ../gc", CONFIG.format("other")),
    "a program behind a link": (
        "mkdir a; : > a/x; chmod +x a/x; ln -s a/x x; git config core.fsmonitor $PWD/x", "rm x; " + EVIL.format("x")),
    "a program behind a link to its directory": (
        "mkdir a; : > a/x; chmod +x a/x; ln -s a l; git config core.fsmonitor $PWD/l/x",
        "rm l; mkdir l; " + EVIL.format("l/x")),
    "hooks behind a link": (
        "mkdir -p a/hk; ln -s a/hk hk; git config core.hooksPath $PWD/hk",
        "rm hk; mkdir hk; " + EVIL.format("hk/pre-commit")),
    "hooks by the name of a user": (
        "git config core.hooksPath \"~daemon/../..$PWD/hk\"; mkdir hk", EVIL.format("hk/pre-commit")),
    "an included file by the name of a user": (
        ": > gc; git config include.path \"~daemon/../..$PWD/gc\"", CONFIG.format("gc")),
    "hooks by where git is installed": (
        "git config core.hooksPath \"%(prefix)/..$PWD/hk\"; mkdir hk", EVIL.format("hk/pre-commit")),
    "a program by the top of the work tree": (
        "mkdir tools; git config core.fsmonitor '$(git rev-parse --show-toplevel)/tools/x'",
        "mkdir -p tools; " + EVIL.format("tools/x")),
    "a program by the working directory": (
        "mkdir tools; git config core.fsmonitor '$PWD/tools/x'", "mkdir -p tools; " + EVIL.format("tools/x")),
    "a program of a command line in a command line": (
        "mkdir tools; git config core.fsmonitor 'sh -c \"exec ./tools/x\"'",
        "mkdir -p tools; " + EVIL.format("tools/x")),
    "a program in a directory of PATH": (
        "mkdir tools; git config core.fsmonitor 'PATH=./tools:$PATH x'", "mkdir -p tools; " + EVIL.format("tools/x")),
    "a module of Python": (
        "mkdir tools; : > tools/x.py; git config core.fsmonitor 'python3 -m tools.x'",
        "mkdir -p tools; echo 'open(\"went\", \"w\")' > tools/x.py"),
}


@pytest.mark.parametrize("way", SETTINGS)
def test_what_a_setting_names(hutch, repository, as_user, backend, way):
    users, attack = SETTINGS[way]
    outside(as_user, repository, users + "; git add .; git commit -qnm users --allow-empty; rm -f went")
    result = hutch.sh(attack)
    outside(as_user, repository, "git status; git commit -q --allow-empty -m x")
    assert (repository / "went").exists() == (backend == "none"), str(result)


RUN = "#!/bin/sh\n: ${1#-F}; . ./${1#-F}\n"
# Aliases of the user's, each of which runs tools/x.
COMMANDS = {
    "the top of the work tree in a variable": "!T=$(git rev-parse --show-toplevel); $T/tools/x",
    "the same, in a function": '!f() { root="$(git rev-parse --show-toplevel)"; "$root/tools/x" "$@"; }; f',
    "the top without errors": "!$(git rev-parse --show-toplevel 2>/dev/null)/tools/x",
    "beside the directory of git": "!$(git rev-parse --absolute-git-dir)/../tools/x",
    "where the user is, or here": '!"${GIT_PREFIX:-./}"tools/x',
    "a script where the user is": "!sh ./${GIT_PREFIX}tools/x",
    "a directory in a variable": "!d=tools; $d/x",
    "another directory for one command": "!env -C tools ./x",
    "another directory, after the end of options": '!cd -- "$(git rev-parse --show-toplevel)" && ./tools/x',
    "a setting of one command": "!git -c alias.y=!tools/x y",
    "a program of one command": "!git -c core.fsmonitor=tools/x status",
    "a variable of one command": "!GIT_EDITOR=tools/x git commit --allow-empty",
    "a directory in PATH": "!PATH=tools:$PATH; x",
    "an absolute directory in PATH": "!export PATH=$(pwd)/tools:$PATH; x",
    "a pattern": "!tools/?",
    "an argument of the user's": "!f() { tools/${1:-x}; }; f",
    "a program that starts others": "!nice -n5 ./tools/x",
    "a value joined to its option": "!$HOME/run-it -Ftools/x",
}


@pytest.mark.parametrize("there", ["there", "absent"])
@pytest.mark.parametrize("way", COMMANDS)
def test_what_an_alias_runs(hutch, repository, as_user, backend, way, there):
    as_user.write(as_user.home / "run-it", RUN, 0o755)
    made = SCRIPT.replace("scripts/pre-commit", "tools/x").replace("scripts", "tools") if there == "there" else ""
    outside(as_user, repository, made + "git add .; git commit -qnm users --allow-empty")
    as_person(as_user, ["git", "config", "alias.x", COMMANDS[way]], repository)
    result = hutch.sh("mkdir -p tools; " + EVIL.format("tools/x"))
    outside(as_user, repository, "git x || true")
    assert any(repository.rglob("went")) == (backend == "none"), str(result)


# (a setting as people have it, what the sandbox may write nevertheless)
ORDINARY = {
    "an editor": ("core.editor", "code --wait", "code"),
    "a pager": ("core.pager", "less -FRX", "less FRX"),
    "a filter": ("filter.lfs.process", "git-lfs filter-process", "git-lfs"),
    "a log": ("alias.l", "!git log --oneline", "git log"),
    "a log of one's own format": ("alias.l", "log --pretty=format:'%h %s' --date=short", "log short"),
    "a function": ("alias.p", '!f() { git push origin "$1"; }; f', "git push origin f"),
    "a range": ("alias.r", "!f() { git log ${1:-origin/main}..HEAD; }; f", "origin/main"),
    "a command line": ("alias.c", "!sh -c 'git log $1' -", "git log"),
    "a directory that a build makes": ("alias.d", "!git subtree push --prefix docs/dist origin pages", "docs/dist/a"),
    "a removal": ("alias.c", "!rm -rf build/out && make", "build/out/a make"),
    "references": ("alias.b", "!git for-each-ref --format='%(refname:short)' refs/heads", "refs/heads/a"),
    "a state of git": ("alias.a", '!test -d "$(git rev-parse --git-dir)/rebase-merge" && rm -f '
                                  '"$(git rev-parse --git-dir)/index.lock"', "rebase-merge/a"),
}


@pytest.mark.parametrize("what", ORDINARY)
def test_ordinary_settings_hold_nothing(hutch, repository, as_user, backend, what):
    key, value, names = ORDINARY[what]
    there = [name for name in names.split() if "/" not in name]
    outside(as_user, repository, f"touch x {' '.join(there)}")
    as_person(as_user, ["git", "config", key, value], repository)
    who = "; ".join(f"export GIT_{who}_NAME=A GIT_{who}_EMAIL=a@b.example" for who in ("AUTHOR", "COMMITTER"))
    hutch.sh(f"set -e; {who}; for name in {names}; do mkdir -p $(dirname $name); echo x > $name; done; "
             "git init -q --bare b; git checkout -qb origin/main; git commit -q --allow-empty -m x; "
             "git rebase -q --force-rebase HEAD~1").ok()


def test_hooks_beside_a_directory_of_the_sandboxs(hutch, repository, as_user, backend, request):
    request.addfinalizer(lambda: (as_user.home / ".gitconfig").unlink(missing_ok=True))
    outside(as_user, repository, "git config --global core.hooksPath hk/../hq")
    result = hutch.sh("git init -q new; cd new; mkdir -p hk hq; " + EVIL.format("hq/pre-commit"))
    outside(as_user, repository / "new", "git commit -q --allow-empty -m x")
    assert (repository / "new/went").exists() == (backend == "none"), str(result)


def test_other_files_with_two_names(hutch, repository, as_user, backend):
    outside(as_user, repository, "echo a > a; ln a b; : > gc; ln gc g2; git config include.path ../gc")
    hutch.sh("echo b > b; echo c > c; ln c d; echo d > d; rm g2").ok()
    assert (repository / "a").read_text() == "b\n" and (repository / "c").read_text() == "d\n"


def test_many_repositories_before_the_users(hutch, repository, as_user, backend):
    """hutch looks at a limited number."""
    many = ("import os\nfor i in range(4200):\n    d = f'!a/{i}/.git/'\n    os.makedirs(d + 'objects'); "
            "os.mkdir(d + 'refs')\n    open(d + 'HEAD', 'w').write('ref: refs/heads/m\\n')\n")
    hutch.sh("mkdir .git/rebase-merge; echo exec x > .git/rebase-merge/git-rebase-todo; ln -s /nowhere .git/ORIG_HEAD; "
             f"python3 - <<'END'\n{many}END", timeout=120).ok()
    left = [name for name in ("rebase-merge", "ORIG_HEAD") if (repository / ".git" / name).is_symlink()
            or (repository / ".git" / name).exists()]
    assert left == (["rebase-merge", "ORIG_HEAD"] if backend == "none" else [])


def test_large_files_hide_nothing_of_the_users(hutch, repository, as_user, backend):
    outside(as_user, repository, "git worktree add -q ../w-$(basename $PWD)")
    (gitdir,) = (repository / ".git/worktrees").glob("*/gitdir")
    hutch.sh("for i in $(seq 40); do g=m/$i/.git; mkdir -p $g/refs $g/objects $g/rebase-merge; "
             "echo ref: refs/heads/m > $g/HEAD; head -c 1048576 /dev/zero > $g/rebase-merge/git-rebase-todo; "
             "done", timeout=120).ok()
    assert gitdir.exists(), "it is the person's"


# (what the sandbox makes, whether it may)
OTHERS = {
    "Sapling's settings in a repository of git's": "mkdir -p .git/sl; echo '[hooks]' > .git/sl/config",
    "a workspace of Jujutsu that leads to a repository of its own": (
        "mkdir -p .jj; echo '[ui]' > evil.toml; mkdir evil; printf ../evil > .jj/repo"),
    "such a workspace, moved there": "mkdir -p .jj; printf ../evil > x; mv x .jj/repo",
    "such a workspace, linked there": "mkdir -p .jj; printf ../evil > x; ln x .jj/repo",
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_systems(hutch, repository, backend, what):
    hutch.sh(OTHERS[what])
    made = [path for path in (repository / ".git/sl/config", repository / ".jj/repo")
            if path.exists() and path.read_text().strip()]
    assert bool(made) == (backend == "none")


def test_an_ordinary_workspace_of_jujutsu(hutch, repository):
    hutch.sh("mkdir -p .jj/repo/store w/.jj; echo x > .jj/repo/store/type; printf $PWD/.jj/repo > w/.jj/repo").ok()
    assert (repository / "w/.jj/repo").read_text() == f"{repository}/.jj/repo"
