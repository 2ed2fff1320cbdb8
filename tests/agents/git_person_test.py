# An agent has the user's git settings as values, below its own.
import json

import harness
import pytest

CONFIG = """[user]
 name = Ann Example
 email = ann@person.example
[init]
 defaultBranch = trunk
[core]
 excludesFile = ~/never
 editor = /nowhere/editor
[url "https://hidden-token@git.example/"]
 insteadOf = secret:
"""


@pytest.fixture
def of_person(own_daemon):
    """The daemon of a user with a configuration of git."""
    person = own_daemon.person
    files = [person.write(person.home / name, text) for name, text in ((".gitconfig", CONFIG), ("never", "*.never\n"))]
    yield own_daemon
    for file in files:
        file.unlink()


@pytest.fixture(params=["namespace", "bwrap"])
def agent(of_person, request):
    name = of_person.create(f"backend={request.param}")
    yield name
    of_person("agent", "remove", name).ok()


COMMIT = "git init -q new; cd new; touch a.never b; git status --short; git commit -q --allow-empty -m x; " \
         "git log --format='%an %ae'; git symbolic-ref HEAD"


def test_a_commit_is_the_users(of_person, agent):
    said = of_person.sh(agent, COMMIT).ok().text
    assert said.splitlines() == ["?? b", "Ann Example ann@person.example", "refs/heads/trunk"]


def test_no_program_and_no_password(of_person, agent):
    said = of_person.sh(agent, "git config --list; cat /run/hutch.gitconfig").ok().text
    assert "Ann Example" in said and "token" not in said and "editor" not in said


def test_the_machines_own_settings_stay(of_person, agent):
    said = of_person.sh(agent, "cat /run/hutch.gitconfig").ok().text
    assert said.startswith("[include]\n\tpath = /etc/gitconfig\n")


def test_its_own_settings_come_first(of_person, agent):
    of_person.sh(agent, "git config --global user.name Robot").ok()
    assert of_person.sh(agent, "git config user.name; git config user.email").ok().text == "Robot\nann@person.example\n"


def test_a_rule_about_the_file_decides(of_person):
    policy = of_person.person.write(of_person.person.home / "policy.json",
                                    '{"filesystem": {"allowRead": ["/"], "denyRead": ["~/.gitconfig"]}}')
    name = of_person.create("backend=namespace", f"policy={policy}")
    said = of_person.sh(name, "git config --list").ok().text
    assert "Ann Example" not in said
    of_person("agent", "remove", name).ok()


@pytest.fixture
def more_files(of_person):
    """Two files that the user's own includes, one of them by a link."""
    person = of_person.person
    files = [person.write(person.home / "more.inc", '[url "https://more.example/"]\n insteadOf = more:\n'),
             person.write(person.home / "dir/linked.inc", '[url "https://linked.example/"]\n insteadOf = linked:\n'),
             person.home / "link.inc"]
    files[2].symlink_to("dir/linked.inc")
    person.write(person.home / ".gitconfig", CONFIG + "[include]\n path = ~/more.inc\n path = ~/link.inc\n")
    yield
    for path in files:
        path.unlink()
    files[1].parent.rmdir()


@pytest.mark.parametrize("denied, absent", [("~/more.inc", "more"), ("~/dir", "linked"), ("~/never", "never"),
                                            ("~/**/*.inc", "more"), ("~/.gitconfig", "Ann Example")])
def test_a_rule_about_any_of_gits_files_decides(of_person, more_files, denied, absent):
    def seen(rules):
        policy = of_person.person.write(of_person.person.home / "policy.json",
                                        json.dumps({"filesystem": {"denyRead": rules}}))
        name = of_person.create("backend=namespace", f"policy={policy}")
        text = of_person.sh(name, "cat /run/hutch.gitconfig /run/hutch.gitignore; git config --list >/dev/null").text
        of_person("agent", "remove", name).ok()
        return text

    # A rule about the home, or above it, is about none of them.
    for rules in ([], ["~"], ["/home", "~"]):
        for word in ("more", "linked", "never", "Ann Example"):
            assert word in seen(rules), (rules, word)
    assert absent not in seen(["~", denied])


def test_nothing_is_written_in_the_users_files(of_person, agent):
    before = harness.run_in(of_person.person, ["sha256sum", ".gitconfig"], cwd=of_person.person.home).ok().text
    of_person.sh(agent, "git config --system user.name Other || true; git config --global user.name Other").ok()
    after = harness.run_in(of_person.person, ["sha256sum", ".gitconfig"], cwd=of_person.person.home).ok().text
    assert before == after
