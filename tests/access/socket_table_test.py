# Connections to Unix sockets of the host: whatever leads there, `hutch check` says beforehand what comes of it.
"""Each row is tried in a run on both backends, where somebody answers what is asked."""

import pytest

import caller
import harness
from greeters import CONNECT


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def ways(as_user, project, service):
    """Servers of the host's, by the names that the rows have for what leads to them."""
    apart = as_user.mkdir(as_user.home / f"w{project.name.split('-')[0]}")
    made = {"hidden": apart / "a.sock", "seen": project / "b.sock", "nested": project / "nested/.git/c.sock",
            "engine": apart / "docker.sock", "moved": as_user.mkdir(apart / "before") / "d.sock"}
    as_user.mkdir(project / "nested/.git")
    servers = {name: service(path) for name, path in made.items()}
    (apart / "before").rename(apart / "after")
    (apart / "to-a").symlink_to("a.sock")
    (apart / "dir").symlink_to(apart)
    (project / "out").symlink_to(made["hidden"])
    made |= {"link": apart / "to-a", "below a link": apart / "dir/a.sock", "link of the project": project / "out",
             "renamed ancestor": apart / "after/d.sock", "absent": apart / "none.sock"}
    yield made, servers
    servers["moved"].path = made["renamed ancestor"]


# What leads there, which server it is, and what no rule makes of it.
ROWS = {
    "hidden": ("hidden", "ask"),
    "seen": ("seen", "ask"),
    "nested": ("nested", "ask"),
    "link": ("hidden", "ask"),
    "below a link": ("hidden", "ask"),
    "link of the project": ("hidden", "ask"),
    "renamed ancestor": ("moved", "ask"),
    "engine": ("engine", "denied"),
    "moved": (None, "absent"),
    "absent": (None, "absent"),
}
RULES = {"none": [], "allows": ["--allow-socket"], "never": None}


def attempt(hutch, path, options, choice):
    """What the program says, and what was asked."""
    script = f"python3 -c '{CONNECT}' '{path}'"
    asked = []
    with caller.running(hutch, script, *options) as (outside, process):
        while (line := outside.next())["type"] != "done":
            if line["type"] == "question":
                asked.append(line["path"])
                outside.say(type="answer", id=line["id"], choice=choice)
        out, err = process.communicate(timeout=harness.PATIENCE)
    return out.decode(), asked, err.decode()


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("rule,choice", [("none", "no"), ("none", "session"), ("allows", "no"), ("never", "session")])
def test_check_foretells_it(hutch, as_user, project, backend, ways, row, rule, choice):
    paths, servers = ways
    which, foretold = ROWS[row]
    # The project's by their short names: an address has 107 bytes (unix(7)).
    path = paths[row].relative_to(project) if paths[row].is_relative_to(project) else paths[row]
    options = ["--allow-socket", str(path)] if rule == "allows" else []
    if rule == "never":
        as_user.write(project / "policy.json", '{"ask": {"socket": "deny"}}')
        options = ["--policy", "policy.json"]
    if which and rule == "allows" and "link" not in row.split():
        foretold = "allowed"  # an entry is about the socket itself, and a link is none
    elif which and rule == "allows" and row == "below a link":
        foretold = "allowed"
    elif which and rule == "never":
        foretold = "denied"
    checked = hutch("check", "--backend", backend, *options, "socket", str(path))
    out, asked, err = attempt(hutch, path, options, choice)
    if foretold == "absent":
        assert (out, asked) == ("ENOENT\n", []), (out, asked, err)
        return
    assert checked.text.startswith(f"{foretold}: socket "), str(checked)
    reached = foretold == "allowed" or (foretold == "ask" and choice == "session")
    assert (out == "hello from the host\n") == reached == (servers[which].count > 0), (out, err)
    real = paths[row] if row == "renamed ancestor" else servers[which].path
    assert asked == ([str(real)] if foretold == "ask" else []), err
