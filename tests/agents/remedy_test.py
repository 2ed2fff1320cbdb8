# Which remedy a refusal names to an agent's person: an agent's commands have no options, its policy has entries.
import itertools

import pytest

NUMBERS = itertools.count(1)


@pytest.fixture(params=["bwrap", "namespace"])
def given(daemon, request):
    """An agent, and a directory of the person's that it works in."""
    directory = daemon.person.mkdir(daemon.state / f"remedies-{next(NUMBERS)}")
    name = daemon.create(f"backend={request.param}", f"dir={directory}")
    yield name, directory
    daemon("agent", "remove", name).ok()


REFUSED = {
    "a file that programs obey": ("echo x > .envrc", "{directory}/.envrc"),
    "a repository's configuration": ("git init -q; git config core.pager x", "{directory}/.git/config"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_an_entry_of_its_policy(daemon, given, what):
    name, directory = given
    script, path = REFUSED[what]
    daemon.sh(name, script)
    path = path.format(directory=directory)
    told = [line for line in daemon("why").text.splitlines() if path in line]
    assert told and f'filesystem.allowWrite ["{path}"] allows it' in told[-1], told
    assert "--allow-write" not in told[-1]


def test_the_entry_helps(daemon, given):
    name, directory = given
    policy = daemon.person.write(daemon.state / f"policy-{name}", '{"filesystem": {"allowWrite": [".", "%s/.envrc"]}}'
                                 % directory)
    daemon("agent", "set", name, f"policy={policy}").ok()
    daemon("agent", "stop", name).ok()
    daemon.sh(name, "echo x > .envrc").ok()
    assert (directory / ".envrc").read_text() == "x\n"
