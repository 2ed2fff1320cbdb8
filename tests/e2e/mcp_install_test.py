# hutch mcp install, remove and list, as a person types them.
import json
import os
import stat
import tomllib

import pytest

from terminal import Terminal

FILES = {"claude-code": ".claude.json", "codex": ".codex/config.toml", "cursor": ".cursor/mcp.json",
         "gemini": ".gemini/settings.json", "opencode": ".config/opencode/opencode.json",
         "vscode": ".config/Code/User/mcp.json", "zed": ".config/zed/settings.json"}


@pytest.fixture
def mcp(hutch, project, as_user):
    """Runs `hutch mcp ARGS` with a home of its own, which is mcp.home."""
    home = as_user.mkdir(project.parent / f"{project.name}-home")
    path = str(hutch.program.parent)

    def call(*words, env=None, **options):
        variables = {"HOME": str(home), "PATH": f"{path}:/usr/bin:/bin", "HUTCH_STATE": str(home / "state"),
                     **(env or {})}
        return hutch("mcp", *words, env=variables, cwd=project, **options)

    call.home, call.project, call.person = home, project, as_user
    return call


def read(path):
    text = path.read_text()
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def entry_in(content):
    for key in ("mcpServers", "servers", "context_servers", "mcp", "mcp_servers"):
        if key in content:
            return content[key].get("hutch")
    return None


@pytest.mark.parametrize("client", FILES)
def test_installed_shown_and_removed(mcp, client):
    file = mcp.home / FILES[client]
    shown = mcp("install", "--client", client, "--print").ok().text
    assert "hutch" in shown and not file.exists()
    assert "written" in mcp("install", "--client", client, "--yes").ok().text
    entry = entry_in(read(file))
    command = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert command == ["hutch", "mcp"]
    assert file.stat().st_uid == mcp.person.uid
    assert "there already" in mcp("install", "--client", client, "--yes").ok().text
    rows = {row["client"]: row["state"] for row in json.loads(mcp("list", "--json").ok().text)}
    assert rows[client] == "with hutch" and set(rows.values()) == {"with hutch", "no file"}
    assert "removed" in mcp("remove", "--client", client, "--yes").ok().text
    assert entry_in(read(file)) is None
    assert "was not there" in mcp("remove", "--client", client, "--yes").ok().text


def test_the_project_and_the_agent(mcp):
    mcp("install", "--client", "claude-code", "--project", "--agent", "alice", "--yes").ok()
    file = mcp.project / ".mcp.json"
    assert entry_in(read(file)) == {"type": "stdio", "command": "hutch", "args": ["mcp", "--agent", "alice"]}
    assert not (mcp.home / ".claude.json").exists()


def test_its_own_directory_by_a_variable(mcp):
    there = mcp.home / "elsewhere"
    mcp("install", "--client", "codex", "--yes", env={"CODEX_HOME": str(there)}).ok()
    assert entry_in(read(there / "config.toml"))["args"] == ["mcp"]


def test_a_program_that_is_not_on_the_path_is_named_whole(mcp, hutch):
    mcp("install", "--client", "cursor", "--yes", env={"PATH": "/usr/bin:/bin"}).ok()
    assert entry_in(read(mcp.home / ".cursor/mcp.json"))["command"] == str(hutch.program)


def test_what_a_file_holds_stays(mcp):
    file = mcp.home / ".claude.json"
    before = {"oauth": {"z": 1, "a": [1.5, "ü"]}, "mcpServers": {"x": {"command": "y"}}}
    mcp.person.write(file, json.dumps(before), 0o600)
    mcp("install", "--client", "claude-code", "--yes").ok()
    content = read(file)
    assert content["oauth"] == {"z": 1, "a": [1.5, "ü"]} and content["mcpServers"]["x"] == {"command": "y"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_stays_one(mcp):
    target = mcp.home / "dotfiles" / "cursor.json"
    mcp.person.write(target, "{}")
    mcp.person.mkdir(mcp.home / ".cursor")
    os.symlink(target, mcp.home / ".cursor" / "mcp.json")
    mcp("install", "--client", "cursor", "--yes").ok()
    assert (mcp.home / ".cursor" / "mcp.json").is_symlink()
    assert entry_in(read(target))["command"] == "hutch"


def test_a_link_out_of_the_project_is_not_followed(mcp):
    target = mcp.home / "settings.json"
    mcp.person.write(target, "{}")
    mcp.person.mkdir(mcp.project / ".cursor")
    for place in (target, mcp.home / "absent.json"):
        link = mcp.project / ".cursor" / "mcp.json"
        link.unlink(missing_ok=True)
        os.symlink(place, link)
        refused = mcp("install", "--client", "cursor", "--project", "--yes")
        assert refused.code == 125 and "leads out" in refused.errors, str(refused)
    assert target.read_text() == "{}" and not (mcp.home / "absent.json").exists()


@pytest.mark.parametrize("there", [True, False])
def test_a_link_that_is_made_during_the_question_is_not_followed(mcp, hutch, there):
    """A sandbox may work in the project meanwhile."""
    outside = mcp.person.mkdir(mcp.home / "outside")
    mcp.person.mkdir(mcp.project / ".cursor")
    if there:
        mcp.person.write(mcp.project / ".cursor/mcp.json", "{}")
        mcp.person.write(outside / "mcp.json", "{}")
    variables = mcp.person.environment({"HOME": str(mcp.home), "HUTCH_STATE": str(mcp.home / "state")})
    line = [str(hutch.program), "mcp", "install", "--client", "cursor", "--project"]
    with Terminal(mcp.person, line, cwd=mcp.project, env=variables) as terminal:
        terminal.read_until(b"Write it?")
        (mcp.project / ".cursor").rename(mcp.project / "moved")
        os.symlink(outside, mcp.project / ".cursor")
        terminal.send("y\n")
        assert terminal.wait() == 125 and b"changed meanwhile" in terminal.seen.replace(b"\r\n", b" "), terminal.seen
    assert [file.read_text() for file in outside.iterdir()] == (["{}"] if there else [])


def test_what_somebody_else_wrote_into_the_entry_is_shown(mcp):
    planted = {"mcpServers": {"hutch": {"command": "x", "env": {"LD_PRELOAD": "/evil.so"}}}}
    mcp.person.write(mcp.project / ".cursor" / "mcp.json", json.dumps(planted))
    assert "LD_PRELOAD" in mcp("install", "--client", "cursor", "--project", "--print").ok().text
    assert "LD_PRELOAD" in mcp("install", "--client", "cursor", "--project").errors


@pytest.mark.parametrize("client, text, why", [
    ("zed", "{\n  // mine\n  \"theme\": \"x\"\n}\n", "comments"),
    ("cursor", "{", "no JSON"),
    ("cursor", "[1]", "no JSON object"),
    ("gemini", "{\"mcpServers\": []}", "no object"),
    ("codex", "a = [\n", "no TOML"),
    ("codex", "mcp_servers = {x = {command = \"y\"}}\n", "no TOML"),
])
def test_what_cannot_be_kept_is_left_as_it_is(mcp, client, text, why):
    file = mcp.home / FILES[client]
    mcp.person.write(file, text)
    refused = mcp("install", "--client", client, "--yes")
    assert refused.code == 125 and why in refused.errors and str(file) in refused.errors, str(refused)
    assert file.read_text() == text


def test_without_a_terminal_it_is_shown_and_not_written(mcp):
    refused = mcp("install", "--client", "cursor")
    assert refused.code == 125 and "\"mcpServers\"" in refused.errors and "--yes" in refused.errors
    assert not (mcp.home / ".cursor").exists()


@pytest.mark.parametrize("words, why", [
    (["install"], "--client"),
    (["remove"], "--client"),
    (["install", "--client", "claude"], "claude-code"),
    (["install", "--client", "windsurf", "--yes"], "--agent"),
    (["install", "--client", "windsurf", "--agent", "a", "--project", "--yes"], "--project"),
    (["--client", "codex"], "install"),
    (["list", "--yes"], "install"),
    (["list", "--agent", "a"], "--agent"),
    (["forget"], "install"),
    (["install", "more", "--client", "codex"], "more"),
])
def test_bad_input_is_named(mcp, words, why):
    refused = mcp(*words)
    assert refused.code == 125 and why in refused.errors, str(refused)
