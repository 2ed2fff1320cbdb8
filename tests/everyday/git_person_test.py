# The user's git settings hold inside as values, without their files.
"""A home below the project's parent stands for the user's."""


import harness
import pytest

CONFIG = """[user]
 name = Ann Example
 email = ann@person.example
 signingkey = 0xSECRET
[init]
 defaultBranch = trunk
[core]
 excludesFile = ~/never
 editor = /nowhere/editor
[url "git@git.example:"]
 insteadOf = corp:
[url "https://hidden-token@git.example/"]
 insteadOf = secret:
[includeIf "gitdir:PROJECT/"]
 path = ~/work.inc
[includeIf "gitdir:/elsewhere/"]
 path = ~/other.inc
[safe]
 directory = /srv/shared
"""


@pytest.fixture
def git_home(as_user, project, request):
    """The home of a user with a configuration of git, and what says who they are."""
    home = as_user.mkdir(project.parent / f"{project.name}-git-home", 0o700)
    as_user.write(home / ".gitconfig", CONFIG.replace("PROJECT", str(project)))
    as_user.write(home / "never", "*.never\n")
    as_user.write(home / "work.inc", "[user]\n\temail = ann@work.example\n")
    as_user.write(home / "other.inc", "[user]\n\temail = wrong@other.example\n")
    return home


@pytest.fixture(params=["namespace", "bwrap"])
def isolating(request):
    return request.param


def inside(hutch, home, backend, script, *options):
    return hutch("run", "--backend", backend, *options, "--", "/bin/sh", "-ec", script, env={"HOME": str(home)})


def test_a_commit_is_the_users(hutch, git_home, isolating):
    said = inside(hutch, git_home, isolating, "git init -q new; cd new; git commit -q --allow-empty -m x; "
                                              "git log --format='%an %ae %cn %ce'; git symbolic-ref HEAD").ok().text
    assert said.splitlines() == ["Ann Example ann@person.example Ann Example ann@person.example", "refs/heads/trunk"]


def test_conditions_are_met_as_outside(hutch, git_home, isolating, as_user, project):
    harness.run_in(as_user, ["git", "init", "-q", "."], cwd=project).ok()
    assert inside(hutch, git_home, isolating, "git config user.email").ok().text == "ann@work.example\n"


def test_what_is_never_added(hutch, git_home, isolating):
    said = inside(hutch, git_home, isolating, "git init -q new; cd new; touch a.never b; git status --short").ok().text
    assert said == "?? b\n"


def test_no_password_no_program_and_no_file_comes_along(hutch, git_home, isolating):
    said = inside(hutch, git_home, isolating, "git config --global --list; ls -A $HOME; cat $HOME/.gitconfig").ok().text
    assert "url.git@git.example:.insteadof=corp:" in said and "safe.directory=/srv/shared" in said
    for word in ("token", "SECRET", "editor", "work.inc", "never\n"):
        assert word not in said, said


def test_it_can_be_changed_inside_and_stays_outside(hutch, git_home, isolating):
    before = (git_home / ".gitconfig").read_bytes()
    said = inside(hutch, git_home, isolating, "git config --global user.name Other; git config user.name").ok().text
    assert said == "Other\n" and (git_home / ".gitconfig").read_bytes() == before


def test_the_repositorys_own_settings_come_first(hutch, git_home, isolating, as_user, project):
    harness.run_in(as_user, ["/bin/sh", "-ec", "git init -q .; git config user.email own@repository.example"],
                   cwd=project).ok()
    assert inside(hutch, git_home, isolating, "git config user.email").ok().text == "own@repository.example\n"


@pytest.mark.parametrize("options", [["--allow-read", "~/.gitconfig"], ["--deny-read", "~/.gitconfig"]])
def test_a_rule_about_the_file_decides(hutch, git_home, isolating, options):
    said = inside(hutch, git_home, isolating, "cat ~/.gitconfig 2>&1 || true", *options).ok().text
    assert ("signingkey" in said) == (options[0] == "--allow-read"), said
    assert "Ann Example" not in said or options[0] == "--allow-read", said


@pytest.mark.parametrize("text", [b"\0", b"[user\n", b"[user]\n\tname = \xff\xfe\n", b"x" * (1 << 20),
                                  b'[user]\n\tname = "' + b"n" * 70_000 + b'"\n'])
def test_a_damaged_file_stops_nothing(hutch, git_home, isolating, as_user, text):
    (git_home / ".gitconfig").write_bytes(text)
    assert inside(hutch, git_home, isolating, "echo ran").ok().text == "ran\n"


def test_a_fifo_in_its_place_stops_nothing(hutch, git_home, isolating, as_user):
    (git_home / ".gitconfig").unlink()
    harness.run_in(as_user, ["mkfifo", str(git_home / ".gitconfig")], cwd="/").ok()
    assert inside(hutch, git_home, isolating, "echo ran").ok().text == "ran\n"


@pytest.mark.parametrize("named", [".excludes", "PROJECT/.excludes", "~/link"])
def test_a_link_of_the_sandboxs_is_no_list_of_excludes(hutch, git_home, isolating, as_user, project, named):
    as_user.write(git_home / "secret", "canary\n")
    as_user.write(git_home / ".gitconfig", f"[core]\n excludesFile = {named.replace('PROJECT', str(project))}\n")
    (git_home / "link").symlink_to(project / ".excludes")
    look = "cat ~/.config/git/ignore || true"
    as_user.write(project / ".excludes", "plain\n")
    assert "plain" in inside(hutch, git_home, isolating, look).ok().text
    (project / ".excludes").unlink()
    # Where the setting names the whole path, the link is refused.
    inside(hutch, git_home, isolating, f"ln -s {git_home}/secret .excludes || true").ok()
    assert "canary" not in inside(hutch, git_home, isolating, look).ok().text
