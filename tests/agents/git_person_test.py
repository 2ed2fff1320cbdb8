# An agent has the user's git settings as values, below its own.
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


def test_nothing_is_written_in_the_users_files(of_person, agent):
    before = harness.run_in(of_person.person, ["sha256sum", ".gitconfig"], cwd=of_person.person.home).ok().text
    of_person.sh(agent, "git config --system user.name Other || true; git config --global user.name Other").ok()
    after = harness.run_in(of_person.person, ["sha256sum", ".gitconfig"], cwd=of_person.person.home).ok().text
    assert before == after
