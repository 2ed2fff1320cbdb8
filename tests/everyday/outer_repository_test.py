# A directory whose repository lies outside of it: the repository comes along, as far as git writes it.
import json
import os
import time

import harness
import pytest

GIT = "git -c user.name=A -c user.email=a@b.example"
MADE = f"""
{GIT} init -q -b main m; {GIT} -C m commit -q --allow-empty -m module
{GIT} init -q -b main r; cd r; mkdir -p packages/a; echo a > packages/a/a; git add .; {GIT} commit -q -m first
git worktree add -q ../w -b side; {GIT} -c protocol.file.allow=always submodule --quiet add ../m s; {GIT} commit -q -m s
git worktree add -q ../other -b other; git tag mine; git worktree add -q .trees/in -b in
"""
# What a task does with git, from the first look to its end.
TASK = f"""
git status --porcelain; echo b > b; git add b; {GIT} commit -q -m more; git log --format=%s -1
{GIT} checkout -q -b task; echo c >> b; {GIT} stash -q; {GIT} stash pop -q; {GIT} commit -q -a -m task
git tag t; {GIT} checkout -q -; {GIT} merge -q --no-ff -m merged task; {GIT} rebase -q HEAD~1; git branch -D task
git fetch -q . HEAD:refs/heads/fetched; git reset -q --hard HEAD; git pack-refs --all
git -c gc.reflogExpire=never -c gc.reflogExpireUnreachable=never gc -q; git fsck; exit 3
"""
# The main work tree's, and other worktrees': what no task in a worktree changes.
KEPT = ["HEAD", "index", "config", "hooks", "info", "description", "logs/HEAD", "ORIG_HEAD", "modules",
        "worktrees/other", "worktrees/in"]


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def places(as_user, project):
    """The repository r with a part, a submodule and linked worktrees, in a home that is hidden from the others."""
    harness.run_in(as_user, ["/bin/sh", "-ec", MADE], cwd=project).ok()
    return project


def outside(as_user, place, script):
    return harness.run_in(as_user, ["/bin/sh", "-ec", script], cwd=place).ok().text


def content(place):
    """Every file below a path, or the file itself, without its time."""
    if not place.is_dir():
        return place.read_bytes() if place.exists() else None
    return {str(path.relative_to(place)): path.is_file() and path.read_bytes() for path in sorted(place.rglob("*"))}


def kept(git):
    return {name: content(git / name) for name in KEPT}


@pytest.mark.parametrize("place", ["w", ".trees/in", "r/s"])
def test_git_works(hutch, backend, places, as_user, place):
    place = "r/.trees/in" if place == ".trees/in" else place
    before = kept(places / "r/.git")
    ran = hutch.run("/bin/sh", "-ec", TASK, cwd=places / place)
    assert ran.code == 3 and "more\n" in ran.text and "git finds" not in ran.errors, ran
    assert "more" in outside(as_user, places / place, "git log --format=%s")
    now = kept(places / "r/.git")
    own = {"r/.trees/in": "worktrees/in", "r/s": "modules"}.get(place)
    assert {name: now[name] for name in now if name != own} == {name: before[name] for name in now if name != own}
    outside(as_user, places / "r", "git fsck; git status; git worktree list; cd ../other; git status")


@pytest.mark.parametrize("place, git", [("w", "r/.git"), ("r/s", "r/.git/modules/s")])
def test_what_git_obeys_stays_the_users(hutch, backend, places, place, git):
    for write in (f"git config core.fsmonitor {places}/evil", f"echo x > {places / git}/hooks/pre-commit",
                  f"git config --worktree core.fsmonitor {places}/evil"):
        assert hutch.run("/bin/sh", "-c", write, cwd=places / place).code != 0
    assert "fsmonitor" not in (places / git / "config").read_text()
    assert not (places / git / "hooks/pre-commit").exists()


@pytest.mark.parametrize("place, git", [("w", "r/.git"), ("r/s", "r/.git/modules/s")])
def test_settings_of_the_repository(hutch, backend, places, place, git):
    """As in a repository that lies in the project."""
    config = places / git / "config"
    ran = hutch.run("/bin/sh", "-ec", "git switch -q -c new; git config branch.new.description x; "
                                      "git branch -m new newer", cwd=places / place)
    assert ran.ok().errors == "" and "description = x" in config.read_text(), ran
    assert "newer" in config.read_text() and not config.with_name("config.lock").exists()
    ran = hutch.run("/bin/sh", "-c", "git config core.pager x", cwd=places / place)
    assert ran.code != 0 and f"it changes core.pager; --allow-write {config} allows it" in ran.errors, ran
    helped = hutch.run("/bin/sh", "-c", "git config core.pager x", cwd=places / place,
                       options=["--allow-write", config])
    assert helped.ok().errors == "" and "pager = x" in config.read_text()


def test_explain_says_so(hutch, places):
    text = hutch("explain", cwd=places / "w").ok().text
    assert f"allowWrite {places}/r/.git/worktrees/w (repository of this worktree)" in text, text
    assert f"denyWrite {places}/r/.git/hooks (repository of this worktree)" in text, text
    for name, says in [("refs/heads/x", "allowed"), ("HEAD", "denied"), ("new", "denied"),
                       ("worktrees/other/HEAD", "denied"), ("worktrees/w/HEAD", "allowed")]:
        text = hutch("check", "write", f"{places}/r/.git/{name}", cwd=places / "w").text
        assert text.startswith(says) and "repository of this worktree" in text, (name, text)


LEFT = {
    "an option": (["--no-outer-repository"], None),
    "a key": ([], {"outerRepository": False}),
    "an option that hides it": (["--deny-read", "{r}"], None),
    "a policy that hides it": ([], {"denyRead": ["/home", "/root", "~", "{r}/.git"]}),
}


@pytest.mark.parametrize("place, git, why", [
    *[("w", "r/.git", why) for why in LEFT],
    *[("r/s", "r/.git/modules/s", why) for why in LEFT if "hides" not in why]])  # what hides r hides s as well
def test_it_stays_outside(hutch, places, as_user, why, place, git):
    options, keys = LEFT[why]
    options = [option.replace("{r}", str(places / "r")) for option in options]
    if keys is not None:
        text = json.dumps({"filesystem": {"denyRead": ["/home", "/root", "~"], "allowRead": ["."],
                                          "allowWrite": ["."], **keys}}).replace("{r}", str(places / "r"))
        options += ["--policy", as_user.write(places / "policy.json", text)]
    ran = hutch.run("git", "status", cwd=places / place, options=options)
    line = f"git finds no repository here: it is {places / git}, outside of the sandbox; --allow-write {places / git}"
    assert ran.code == 128 and line in ran.errors, ran
    assert line in hutch("why").ok().text


@pytest.mark.parametrize("closed", ["r/.git", "r"])
def test_a_rule_that_denies_writing_leaves_reading(hutch, places, closed):
    options = ["--deny-write", places / closed]
    assert hutch.run("git", "log", "--format=%s", "-1", cwd=places / "w", options=options).ok().text == "first\n"
    commit = f"{GIT} commit -q --allow-empty -m x"
    assert hutch.run("/bin/sh", "-c", commit, cwd=places / "w", options=options).code != 0


def test_a_work_tree_that_is_only_read(hutch, places, as_user):
    policy = as_user.write(places / "policy.json", json.dumps({"filesystem": {
        "denyRead": ["/home", "/root", "~"], "allowRead": ["."], "allowWrite": []}}))
    options = ["--policy", policy]
    assert hutch.run("git", "log", "--format=%s", "-1", cwd=places / "w", options=options).ok().text == "first\n"
    assert hutch.run("touch", places / "r/.git/refs/heads/x", cwd=places / "w", options=options).code != 0


def test_what_the_user_does_meanwhile(hutch, backend, places, as_user):
    """Their git replaces files of the repository, adds worktrees, and is in the middle of a rebase with a program."""
    script = "i=0; while [ ! -e go ]; do sleep 0.05; i=$((i+1)); [ $i -lt 600 ]; done; git status; exit 4"
    with hutch.popen("/bin/sh", "-ec", f"touch ready; {script}", cwd=places / "w") as started:
        harness.wait_until(lambda: (places / "w/ready").exists(), "the command runs")
        outside(as_user, places / "r", f"""
            git config user.name Ann; git checkout -q -b more; echo x > x; git add x; {GIT} commit -q -m x
            git worktree add -q ../late -b late; git worktree remove ../other; git gc -q
            GIT_SEQUENCE_EDITOR=true {GIT} rebase -q -x false HEAD~1 || true""")
        time.sleep(1.5)
        as_user.write(places / "w/go")
        out, errors = started.communicate(timeout=harness.PATIENCE)
    assert started.returncode == 4 and b"quarantine" not in errors, (out, errors)
    assert (places / "r/.git/rebase-merge").is_dir() and (places / "r/.git/worktrees/late/gitdir").exists()


def test_what_a_command_prepares_there_is_found(hutch, backend, places):
    steps = f"{places}/r/.git/worktrees/w/rebase-merge"
    ran = hutch.run("/bin/sh", "-ec", f"mkdir -p {steps}; echo 'exec ./evil' > {steps}/git-rebase-todo",
                    cwd=places / "w").ok()
    assert "names a program that git would run" in ran.errors and not os.path.exists(steps), ran


def test_a_part_of_a_repository(hutch, backend, places):
    ran = hutch.run("git", "log", cwd=places / "r/packages/a")
    line = (f"this directory is a part of {places / 'r'}, outside of the sandbox: git finds no repository here, and a "
            "package manager no workspace; start hutch there, with --cwd packages/a")
    assert ran.code == 128 and line in ran.errors, ran
    helped = hutch.run("git", "log", "--format=%s", "--", ".", options=["--cwd", "packages/a"], cwd=places / "r")
    assert helped.ok().text == "first\n"


def test_sparse_checkout_leaves_the_repository_as_it_is(hutch, backend, places):
    """Its own config.worktree is read-only: git would end half-way."""
    before = (places / "r/.git/config").read_text()
    ran = hutch.run("git", "sparse-checkout", "set", "packages", cwd=places / "w")
    assert ran.code != 0 and "it changes extensions.worktreeconfig" in ran.errors, ran
    assert (places / "r/.git/config").read_text() == before


def test_a_part_of_a_worktree(hutch, places):
    ran = hutch.run("git", "log", cwd=places / "w/packages/a")
    assert ran.code == 128 and "start hutch there, with --cwd packages/a" in ran.errors, ran
    assert hutch.run("git", "log", options=["--cwd", "packages/a"], cwd=places / "w").ok()


def test_who_does_not_fail_hears_nothing(hutch, places):
    assert hutch.run("true", cwd=places / "w").ok().errors == ""
    assert "git finds" not in hutch.run("false", cwd=places / "r").errors


# The next run must not reach more than what its own directory and the user's git say.

FOREIGN = {
    "a directory of the user's": "gitdir: /root/.ssh\n",
    "itself": "gitdir: .git\n",
    "a repository that does not know it": "gitdir: ../r/.git\n",
    "a worktree of another directory": "gitdir: ../r/.git/worktrees/other\n",
    "a submodule of another directory": "gitdir: ../r/.git/modules/s\n",
    "a name with a line end": "gitdir: ../r/.git/worktrees/oth\ner\n",
    "a long text": "x" * 100_000,
    "nothing": "",
}


@pytest.mark.parametrize("text", FOREIGN)
def test_a_file_that_the_repository_does_not_know(hutch, places, as_user, text):
    as_user.write(places / "odd/.git", FOREIGN[text])
    ran = hutch.run("/bin/sh", "-c", f"ls {places}/r/.git; false", cwd=places / "odd")
    assert ran.code == 1 and "allow-write" not in ran.errors and "HEAD" not in ran.text, ran


def test_a_pipe(hutch, places, as_user):
    as_user.mkdir(places / "odd")
    os.mkfifo(places / "odd/.git")
    assert hutch.run("false", cwd=places / "odd").code == 1


AUTHORED = {
    "commondir that leads outside": ("evil/.git/worktrees/x", {"commondir": "{r}/.git", "gitdir": "{odd}/.git"}),
    "a circle of gitdir": ("evil/.git/worktrees/x", {"commondir": "../..", "gitdir": "{odd}/evil/.git"}),
    "a directory that is no repository of git's": ("evil/worktrees/x", {"commondir": "../..", "gitdir": "{odd}/.git"}),
    "a link to the repository": ("link/worktrees/x", {}),
}


@pytest.mark.parametrize("way", AUTHORED)
def test_both_sides_by_one_author(hutch, places, as_user, way):
    """What an archive may hold: it gains nothing of the user's."""
    directory, files = AUTHORED[way]
    odd = as_user.mkdir(places / "odd")
    fill = lambda text: text.replace("{r}", str(places / "r")).replace("{odd}", str(odd))  # noqa: E731
    for name, text in files.items():
        as_user.write(odd / directory / name, fill(text) + "\n")
    git = odd / directory.split("/worktrees")[0]
    if files:
        outside(as_user, odd, f"echo ref: refs/heads/main > {odd / directory}/HEAD; mkdir -p {git}/objects {git}/refs; "
                              f"cp {odd / directory}/HEAD {git}/")
    else:
        os.symlink(places / "r/.git", odd / "link")
    as_user.write(odd / ".git", f"gitdir: {directory}\n")
    ran = hutch.run("/bin/sh", "-c", f"ls {places}/r/.git {places}/r; touch {places}/r/.git/refs/x; false", cwd=odd)
    assert ran.code == 1 and "HEAD" not in ran.text and "packages" not in ran.text, ran
    assert not (places / "r/.git/refs/x").exists()


MADE_INSIDE = {
    "as git does": "git worktree add -q --no-checkout packages/a/t -b new",
    "by hand": """
        own=.git/worktrees/t; mkdir -p $own packages/a/t; cp .git/HEAD $own/; echo ../.. > $own/commondir
        echo "$PWD/packages/a/t/.git" > $own/gitdir; printf 'gitdir: %s\\n' "$PWD/$own" > packages/a/t/.git""",
    "without the mark": """git worktree add -q --no-checkout packages/a/t -b new; cd packages/a/t; size=$(wc -c < .git)
        truncate -s $((size - 1)) .git || true; cp .git x; mv x .git || true; cat .git > y; ln -f y .git || true
        printf '%s\\n' "$(cat .git)" > .git || true; tail -c 2 .git >/dev/null""",
}


@pytest.mark.parametrize("way", MADE_INSIDE)
def test_a_worktree_that_a_sandbox_made(hutch, backend, places, as_user, way):
    """A run in the repository makes it. A later one in that directory does not get the repository by it."""
    hutch.run("/bin/sh", "-c", MADE_INSIDE[way], cwd=places / "r")
    outside(as_user, places / "r/packages/a/t", "git status")
    ran = hutch.run("/bin/sh", "-c", f"ls {places}/r/.git; git status", cwd=places / "r/packages/a/t")
    line = f"it is {places}/r/.git, outside of the sandbox, and a sandbox made the link to it; --allow-write"
    assert ran.code == 128 and line in ran.errors and "HEAD" not in ran.text, ran
    helped = hutch.run("git", "status", cwd=places / "r/packages/a/t", options=["--allow-write", places / "r/.git"])
    assert helped.ok()


def test_a_worktree_that_a_sandbox_led_elsewhere(hutch, backend, places, as_user):
    """The user's own link, at another place: the sandbox writes the file that names it."""
    deep = places / "r/a/b/c/d"
    outside(as_user, places / "r", f"git worktree add -q {deep}/tree -b deep")
    script = f"mv a/b/c/d/tree packages/b; echo {places}/r/packages/b/.git > .git/worktrees/tree/gitdir"
    hutch.run("/bin/sh", "-ec", script, cwd=places / "r").ok()
    ran = hutch.run("git", "status", cwd=places / "r/packages/b")
    assert ran.code == 128 and "a sandbox made the link" in ran.errors, ran


LED_ELSEWHERE = {
    "the directory moved": "rm -rf plain; mv 1/2/3/WT plain; ln -s ../../../plain 1/2/3/WT",
    "the file moved": "mkdir -p plain; mv 1/2/3/WT/.git plain/; mv 1/2/3/WT 1/2/3/o; ln -s ../../../plain 1/2/3/WT",
}


@pytest.mark.parametrize("what, git", [("wt", ".git"), ("sub", ".git/modules/1/2/3/sub")])
@pytest.mark.parametrize("way", LED_ELSEWHERE)
def test_a_symbolic_link_that_a_sandbox_made_to_lead_elsewhere(hutch, backend, places, as_user, way, what, git):
    """The user's own link is too deep to be held where it is; what names it stays as it is."""
    outside(as_user, places / "r", f"git worktree add -q 1/2/3/wt -b deep; git -c protocol.file.allow=always submodule "
                                   f"--quiet add ../m 1/2/3/sub; {GIT} commit -q -m deep")
    hutch.run("/bin/sh", "-c", LED_ELSEWHERE[way].replace("WT", what), cwd=places / "r")
    if not (places / "r/plain").is_dir():
        return  # it was refused
    ran = hutch.run("/bin/sh", "-c", f"touch {places}/r/{git}/refs/heads/x; git status", cwd=places / "r/plain")
    assert not (places / "r" / git / "refs/heads/x").exists() and ran.code == 128, ran
    assert "by a symbolic link, which a sandbox may have made; --allow-write" in ran.errors or what == "sub", ran


MODULE = {
    "a remote": "mkdir GIT/remotes; echo 'URL: ext::evil' > GIT/remotes/x",
    "a remote, the older way": "mkdir -p GIT/branches; echo ext::evil > GIT/branches/x",
    "a worktree's common directory": "rm -f GIT/worktrees/sw/commondir",
    "a worktree's place": "echo /nowhere > GIT/worktrees/sw/gitdir",
    "the worktrees, moved": "mv GIT/worktrees GIT/x",
}


@pytest.mark.parametrize("way", MODULE)
def test_what_a_submodules_repository_keeps(hutch, backend, places, as_user, way):
    git = places / "r/.git/modules/s"
    outside(as_user, places / "r/s", "git worktree add -q ../../sw -b sw")
    seen = lambda: [content(git / name) or None  # noqa: E731
                    for name in ("remotes", "branches", "worktrees")]
    before = seen()
    hutch.run("/bin/sh", "-c", MODULE[way].replace("GIT", str(git)), cwd=places / "r/s")
    assert seen() == before
    options = ["--allow-write", git / "config"]
    assert hutch.run("git", "config", "user.email", "a@b", cwd=places / "r/s", options=options).ok()
    outside(as_user, places / "r/s", "git config user.name Ann; git -C ../../sw status")


def test_many_worktrees(hutch, places, as_user):
    outside(as_user, places / "r/.git/worktrees", "seq -f n%g 1000 | xargs mkdir")
    assert hutch.run("git", "log", "--format=%s", "-1", cwd=places / "w").ok().text == "first\n"
