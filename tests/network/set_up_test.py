# The set-up of a plugin: the package registries of the machine are open to it once its person has said so.
import json

import pytest

import recipes
import terminal

FETCH = "curl -fsS -o fetched --noproxy '*' http://good.example/"
OTHER = "curl -sS -o /dev/null --noproxy '*' -w '%{http_code}' http://other.example/ > other"


@pytest.fixture
def agent(hutch, backend, as_user, project):
    """agent("exec", ...) is hutch with a state of its own, in which the agent "a" reaches no host. Its home names the
    registry good.example."""
    if backend != "namespace":
        pytest.skip("one backend will do")
    state = as_user.mkdir(as_user.home / f"set-up-{project.name.split('-')[0]}")
    npmrc = as_user.write(as_user.home / ".npmrc", "registry=http://good.example/\n")

    def call(*words):
        return hutch(*words, env={"HUTCH_STATE": str(state)})

    call.state = state
    call("agent", "create", "a").ok()
    yield call
    call("agent", "remove", "a").ok()
    call("daemon", "stop").ok()
    npmrc.unlink()


@pytest.fixture
def recipe(as_user, project):
    text = json.dumps(recipes.recipe("Fetcher", setup=f"{OTHER}; {FETCH}", tools=[
        recipes.tool("show", "test -s fetched; echo $?; cat other"), recipes.tool("again", FETCH)]))
    return as_user.write(project / "fetcher.json", text)


def test_with_nobody_there_the_error_names_hosts_and_the_setting(agent, recipe):
    done = agent("plugin", "install", str(recipe), "--agent", "a")
    assert done.code == 125 and "good.example" in done.errors, str(done)
    assert "hutch agent set a network=registries" in done.errors, str(done)


@pytest.mark.parametrize("setup, setting", [(OTHER + "; exit 1", None), (FETCH, "deniedDomains=[\"good.example\"]")])
def test_nobody_is_asked_where_a_yes_opens_nothing(hutch, agent, as_user, project, setup, setting):
    if setting:
        agent("agent", "set", "a", setting).ok()
    text = json.dumps(recipes.recipe("Other", setup=setup, tools=[recipes.tool("show", "true")]))
    path = as_user.write(project / "other.json", text)
    words = [str(hutch.program), "plugin", "install", str(path), "--agent", "a"]
    with terminal.Terminal(as_user, words, cwd=project, env={"HUTCH_STATE": str(agent.state)},
                           outer=hutch.internet.enter(project)) as window:
        assert window.wait() == 125 and b"[y/N]" not in window.seen, window.seen
    host = b"good.example" if setting else b"other.example"
    assert host in window.seen and b"network=registries" not in window.seen, window.seen
    if not setting:
        assert b"hutch agent allow a other.example" in window.seen.replace(b"\r\n", b""), window.seen


def test_a_yes_opens_them_to_the_set_up_alone(hutch, agent, recipe, as_user, project):
    words = [str(hutch.program), "plugin", "install", str(recipe), "--agent", "a"]
    with terminal.Terminal(as_user, words, cwd=project, env={"HUTCH_STATE": str(agent.state)},
                           outer=hutch.internet.enter(project)) as window:
        window.read_until(b"Let it? [y/N] ")
        assert b"good.example:80" in window.seen
        window.send("y\n")
        assert window.wait() == 0, window.seen
        assert window.seen.count(b"[y/N]") == 1
    shown = json.loads(agent("tool", "call", "a", "fetcher_show", "{}").out)
    assert shown["result"]["stdout"].splitlines() == ["0", "000"], shown
    again = json.loads(agent("tool", "call", "a", "fetcher_again", "{}").out)
    assert again["result"]["exit_code"] != 0, again
