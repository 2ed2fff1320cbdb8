# Whose a repository is that appears in an agent's project while its sandbox runs.
"""hutch looks for repositories again when rules are looked up again. What the person made by then is the person's, and
what the agent made stays the agent's."""

import itertools

import harness
import pytest

NUMBERS = itertools.count(1)
OURS = "[remote \"origin\"]\n\turl = https://mine.example/x\n"


@pytest.fixture(params=["bwrap", "namespace"])
def project(daemon, request):
    """An agent, and its project below the person's home, with a repository."""
    directory = daemon.person.mkdir(daemon.person.home / f"made-{next(NUMBERS)}")
    outside(daemon, directory, "git init -q -b main")
    name = daemon.create(f"backend={request.param}", f"dir={directory}")
    daemon.sh(name, "echo x > warm").ok()
    yield name, directory
    daemon("agent", "remove", name).ok()


def outside(daemon, directory, script):
    return harness.run_in(daemon.person, ["/bin/sh", "-ec", script], cwd=directory).ok().text


def has_new_address(daemon, agent, repository):
    daemon.sh(agent, f"git -C {repository} config remote.origin.url https://other.example/x")
    return "other.example" in daemon.sh(agent, f"cat {repository}/.git/config").ok().text


def looks_again(daemon, agent):
    """By a policy that is saved and holds at once."""
    key = ("filesystem.denyWrite", f"/nowhere-{next(NUMBERS)}", "--scope", "default")
    try:
        daemon("config", "add", *key).ok()
        daemon.sh(agent, "echo x > warm").ok()
    finally:
        daemon("config", "remove", *key).ok()


def test_one_of_the_persons_is_the_persons(daemon, project):
    agent, directory = project
    outside(daemon, directory, f"git init -q -b main u; printf '{OURS}' >> u/.git/config")
    looks_again(daemon, agent)
    assert not has_new_address(daemon, agent, "u")


def test_what_the_agent_takes_apart_and_puts_together_is_not_its_own(daemon, project):
    agent, directory = project
    outside(daemon, directory, f"git init -q -b main u; printf '{OURS}' >> u/.git/config")
    daemon.sh(agent, "cd u/.git; mv HEAD h; mv h HEAD; mv refs r; mv r refs; cp HEAD h; rm HEAD; cp h HEAD; rm h")
    looks_again(daemon, agent)
    assert not has_new_address(daemon, agent, "u")


@pytest.mark.parametrize("found", ["found before", "not found before"])
def test_one_that_takes_the_place_of_the_agents_is_the_persons(daemon, project, found):
    agent, directory = project
    daemon.sh(agent, "git init -q -b main u").ok()
    if found == "found before":
        looks_again(daemon, agent)
    outside(daemon, directory, f"rm -rf u; git init -q -b main u; printf '{OURS}' >> u/.git/config")
    looks_again(daemon, agent)
    assert not has_new_address(daemon, agent, "u")


def test_a_submodule_of_the_persons_with_a_name_like_a_configurations(daemon, project):
    agent, directory = project
    daemon("agent", "stop", agent).ok()
    config = directory / ".git/modules/a/config/config"
    outside(daemon, directory, f"git init -q --bare .git/modules/a/config; printf '{OURS}' >> {config}")
    before = config.read_bytes()
    for script in ("echo > {}", "rm {}", "mv {} x", "touch -d 2001-01-01 {}", "cp {} {}.x; mv {}.x {}"):
        daemon.sh(agent, script.replace("{}", ".git/modules/a/config/config"))
    daemon.sh(agent, "touch after").ok()
    assert config.read_bytes() == before and config.stat().st_mtime > 1_000_000_000


def test_what_the_person_makes_in_the_agents_directory_is_not_the_agents(daemon, project):
    agent, directory = project
    daemon.sh(agent, "mkdir -p u/.git").ok()
    outside(daemon, directory, f"git init -q -b main u; printf '{OURS}' >> u/.git/config")
    daemon.sh(agent, "mv u/.git/HEAD u/.git/h; mv u/.git/h u/.git/HEAD")
    looks_again(daemon, agent)
    assert not has_new_address(daemon, agent, "u")
    assert daemon.sh(agent, "rm u/.git/config").code != 0


def test_a_text_lands_by_the_names_of_that_moment(daemon, project):
    """The agent opens the configuration while it counts as its own, and closes it when it is known as the person's."""
    agent, directory = project
    daemon.sh(agent, "mkdir -p u/.git").ok()
    outside(daemon, directory, f"git init -q -b main u; printf '{OURS}' >> u/.git/config")
    daemon.sh(agent, "(exec 3> u/.git/config; touch opened; while [ ! -e go ]; do sleep 0.05; done; "
                     "printf '[remote \"origin\"]\n\turl = https://other.example/x\n' >&3; exec 3>&-; touch closed) "
                     "> /dev/null 2>&1 &").ok()
    harness.wait_until(lambda: (directory / "opened").exists(), "it is open")
    looks_again(daemon, agent)
    outside(daemon, directory, "touch go")
    harness.wait_until(lambda: (directory / "closed").exists(), "it is closed")
    daemon.sh(agent, "touch after").ok()
    assert "mine.example" in (directory / "u/.git/config").read_text()


def test_what_is_written_over_keeps_its_mode(daemon, project):
    agent, directory = project
    daemon.sh(agent, "git init -q -b main o; cp o/.git/config c; git init -q -b main p; cp c p/.git/config; sleep 0.1; "
                     "git -C p status").ok()
    assert (directory / "p/.git/config").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("how", ["git init -q -b main o", "git clone -q . o", "git init -q x; mv x o",
                                 "git init -q x; cp -a x o", "git init -q x; tar -cf x.tar x; rm -rf x; "
                                 "tar -xf x.tar; mv x o"])
def test_one_of_the_agents_stays_the_agents(daemon, project, how):
    agent, directory = project
    outside(daemon, directory, "git -c user.name=A -c user.email=a@b.example commit -q --allow-empty -m first")
    daemon.sh(agent, f"{how}; git -C o config remote.origin.url https://first.example/x").ok()
    looks_again(daemon, agent)
    assert has_new_address(daemon, agent, "o")


def test_its_own_home_keeps_its_files(daemon, project):
    """What other programs than git obey is the agent's own there, also after another look."""
    agent, directory = project
    looks_again(daemon, agent)
    daemon.sh(agent, 'echo x > "$HUTCH_HOME/.bashrc"; mkdir "$HUTCH_HOME/.vscode"; '
                     'echo {} > "$HUTCH_HOME/.vscode/tasks.json"').ok()
