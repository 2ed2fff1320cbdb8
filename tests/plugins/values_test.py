# The values of a plugin: set by a person, read and set by its tools, and gone with it.
from recipes import tool

TOOLS = [tool("get", "hutch-host config get \"$PARAM_KEY\"; echo $?", key="string"),
         tool("set", "hutch-host config set \"$PARAM_KEY\" \"$PARAM_VALUE\"", key="string", value="string")]


def config(daemon, agent, *words, **options):
    return daemon("plugin", "config", *words, "--agent", agent, **options)


def said(daemon, agent, name, **arguments):
    return daemon.tool(agent, name, **arguments)["result"]["stdout"]


def test_a_person_and_the_tools_have_the_same_values(daemon, agent, recipe):
    for name, members in (("Wide", {}), ("Narrow", {"permissions": {"network": "none"}})):
        daemon("plugin", "install", recipe(name, tools=TOOLS, **members), "--agent", agent).ok()
        id = name.lower()
        config(daemon, agent, "set", id, "unit=km \"x\"").ok()
        config(daemon, agent, "set", id, "text=-", stdin=b"a\nb\n").ok()
        assert said(daemon, agent, f"{id}_get", key="unit") == 'km "x"\n0\n'
        assert said(daemon, agent, f"{id}_get", key="text") == "a\nb\n0\n"
        daemon.tool(agent, f"{id}_set", key="own", value=f"of {id}")
        assert config(daemon, agent, "get", id, "own").ok().text == f"of {id}\n"
        listed = daemon.json("plugin", "config", "list", id, "--agent", agent)["values"]
        assert listed == {"unit": 'km "x"', "text": "a\nb", "own": f"of {id}"}
    # Each has its own, and the agent its.
    daemon.sh(agent, "hutch-host config set own agents").ok()
    assert said(daemon, agent, "narrow_get", key="own") == "of narrow\n0\n"
    assert said(daemon, agent, "wide_get", key="own") == "of wide\n0\n"
    assert daemon.sh(agent, "hutch-host config get own").ok().text == "agents\n"
    assert said(daemon, agent, "narrow_get", key="../wide/own") == "3\n"
    daemon("plugin", "remove", "wide").ok()
    daemon("plugin", "install", recipe("Wide", tools=TOOLS), "--agent", agent).ok()
    assert said(daemon, agent, "wide_get", key="own") == "3\n"
    assert daemon.sh(agent, "hutch-host config get own").ok().text == "agents\n"
    for id in ("wide", "narrow"):
        daemon("plugin", "remove", id).ok()


def test_an_update_keeps_them_and_what_fails_leaves_none(daemon, agent, recipe):
    daemon("plugin", "install", recipe("Kept", tools=TOOLS), "--agent", agent).ok()
    config(daemon, agent, "set", "kept", "k=v").ok()
    daemon("plugin", "update", "kept", recipe("Kept", version="2", tools=TOOLS)).ok()
    assert config(daemon, agent, "get", "kept", "k").ok().text == "v\n"
    daemon("plugin", "remove", "kept").ok()
    broken = recipe("Kept", setup="hutch-host config set k of-setup && exit 1", tools=TOOLS)
    assert daemon("plugin", "install", broken, "--agent", agent).code == 125
    daemon("plugin", "install", recipe("Kept", tools=TOOLS), "--agent", agent).ok()
    assert config(daemon, agent, "get", "kept", "k").code == 125
    daemon("plugin", "remove", "kept").ok()


def test_what_is_not_there_is_said(daemon, agent, recipe):
    assert "has no plugin" in config(daemon, agent, "get", "nothing", "k").errors
    daemon("plugin", "install", recipe("Some", tools=TOOLS), "--agent", agent).ok()
    assert "has no value k" in config(daemon, agent, "get", "some", "k").errors
    assert config(daemon, agent, "set", "some", "k" * 300 + "=v").code == 125
    assert config(daemon, agent, "set", "some", "k=-", stdin=b"v" * 70_000).code == 125
    daemon("plugin", "remove", "some").ok()
