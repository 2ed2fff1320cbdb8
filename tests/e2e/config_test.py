# hutch config and hutch status as a script uses them.
"""Which entry is changed from where, what is refused, and that a run holds to what was saved."""

import json
import threading

import pytest

import harness


@pytest.fixture
def config(hutch, project, as_user):
    """Runs hutch with a configuration of its own: config("add", KEY, VALUE)."""
    state = as_user.mkdir(project.parent / f"{project.name}-state")
    as_user.mkdir(project / "sub")

    class Config:
        directory = state / "config"
        here = project
        person = as_user

        def write(self, path, content, mode=0o644):
            return as_user.write(path, content, mode)

        def run(self, *words, cwd=project, env=None):
            return hutch(*words, cwd=cwd, env={"HUTCH_STATE": str(state), **(env or {})})

        def __call__(self, *words, **options):
            return self.run("config", *words, **options)

    return Config()


def test_the_project_is_a_copy_of_the_default(config):
    config("add", "network.allowedDomains", "a.example", "--scope", "default").ok()
    config("add", "network.allowedDomains", "b.example").ok()
    assert config("get", "network.allowedDomains").text == "a.example\nb.example\n"
    assert config("get", "network.allowedDomains", "--scope", "default").text == "a.example\n"
    shown = json.loads(config("show", "--json").ok().text)
    assert shown["scope"] == "project" and shown["project"] == str(config.here)
    assert shown["policy"]["network"]["allowedDomains"] == ["a.example", "b.example"]


def test_parent_and_new_entry(config):
    config("add", "network.allowedDomains", "a.example").ok()
    below = config.here / "sub"
    config("add", "network.allowedDomains", "b.example", cwd=below).ok()
    config("add", "network.allowedDomains", "c.example", "--scope", "new", cwd=below).ok()
    assert config("get", "network.allowedDomains").text == "a.example\nb.example\n"
    assert config("get", "network.allowedDomains", cwd=below).text == "a.example\nb.example\nc.example\n"


def test_a_run_holds_to_what_was_saved(config):
    config.write(config.here / "secret", "s")
    assert config.run("run", "--", "cat", "secret").ok().text == "s"
    config("add", "filesystem.denyRead", "secret").ok()
    assert config.run("run", "--", "cat", "secret").code == 1
    config("remove", "filesystem.denyRead", "secret").ok()
    assert config.run("run", "--", "cat", "secret").ok().text == "s"
    assert config.run("run", "--", "ls", str(config.directory)).code != 0, "the store is not visible"


def test_what_is_wrong_is_not_saved(config):
    config("set", "limits.pids", "64").ok()
    before = (config.directory / "projects.json").read_bytes()
    for words in [
        ("set", "limits.pids", "0"),
        ("set", "limits.pids", "x"),
        ("set", "limit.pids", "1"),
        ("add", "network.allowedDomains", "*.com"),
        ("remove", "network.allowedDomains", "x.example"),
        ("add", "limits.memory", "1"),
    ]:
        result = config(*words)
        assert result.code == 125 and result.err.count(b"\n") == 1, words
    assert (config.directory / "projects.json").read_bytes() == before


def test_a_broken_file_is_shown_and_left(config):
    file = config.write(config.directory / "default.json", '{\n  "network": {\n    "allowedDomain": []\n  }\n}\n')
    broken = file.read_bytes()
    checked = config("check")
    assert checked.code == 1
    assert f"{file}: line 3: network.allowedDomain: unknown key; did you mean allowedDomains?" in checked.text
    assert json.loads(config("check", "--json").text)["ok"] is False
    told = config("reload", "--json")
    assert told.code == 1 and json.loads(told.text) == json.loads(config("check", "--json").text)
    assert b"line 3" in config("add", "network.allowedDomains", "a.example").err
    assert file.read_bytes() == broken
    assert config.run("run", "--", "true").code == 125


def test_writers_at_once_lose_nothing(config):
    count = 6
    threads = [
        threading.Thread(target=lambda n=n: config("add", "network.allowedDomains", f"h{n}.example").ok())
        for n in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(config("get", "network.allowedDomains").text.split()) == {f"h{n}.example" for n in range(count)}


def test_disabled_is_told_in_red_and_recorded(config):
    assert config.run("status", "--line").text == "🔒 Sandbox: 0 domains, 1 write path\n"
    config("disable").ok()
    assert config.run("status", "--line").text == "\x1b[31mSandbox: disabled\x1b[0m\n"
    assert config.run("status", "--line", env={"NO_COLOR": "1"}).text == "Sandbox: disabled\n"
    result = config.run("run", "--json", "--", "sh", "-c", "echo free")
    assert b"Sandbox: disabled" in result.err
    assert json.loads(result.text)["backend"] == "none"
    records = [
        json.loads(line) for line in config.run("audit", "--kind", "decision", "--json").ok().text.splitlines()
    ]
    assert [record["what"] for record in records] == ["run without isolation"]
    assert records[0]["by"].startswith("enabled: false in ")
    assert (
        json.loads(config.run("run", "--backend", "namespace", "--json", "--", "true").text)["backend"] == "namespace"
    )
    config("enable").ok()
    assert json.loads(config.run("run", "--json", "--", "true").text)["backend"] == "namespace"


def test_import_of_what_others_wrote(config):
    srt = config.write(
        config.here / "srt.json",
        json.dumps(
            {
                "network": {"allowedDomains": ["a.example"], "deniedDomains": []},
                "filesystem": {"denyRead": ["~/x"], "allowWrite": ["."], "denyWrite": []},
            }
        ),
    )
    config("import", "srt.json").ok()
    assert config("get", "network.allowedDomains", "--scope", "default").text == "a.example\n"
    entry = {
        "enabled": True,
        "network": {"allowedDomains": ["b.example"], "deniedDomains": []},
        "filesystem": {"denyRead": ["/home"], "allowRead": [".", "~/.pi"], "allowWrite": ["."], "denyWrite": []},
    }
    config.write(config.here / "projects.json", json.dumps({str(config.here / "sub"): entry}))
    said = config("import", "projects.json").ok().text
    assert '"." in an entry of it is the entry\'s directory' in said, "elsewhere it was where somebody started"
    entry["filesystem"] = {"denyRead": ["/home"], "allowRead": ["src"], "allowWrite": ["./src"], "denyWrite": []}
    config.write(config.here / "named.json", json.dumps({str(config.here / "other"): entry}))
    assert config("import", "named.json").ok().text.endswith("1 projects added\n")
    assert config("get", "network.allowedDomains", cwd=config.here / "sub").text == "b.example\n"
    assert b"is there already" in config("import", "projects.json").err
    srt.write_text('{"filesystem": {"disabled": true}}')
    assert config("import", "srt.json").code == 125


def test_edit_runs_the_editor(config):
    editor = config.write(
        config.here / "editor",
        '#!/bin/sh\nsed -i "s/\\"allowedDomains\\": \\[\\]/\\"allowedDomains\\": [\\"$HOST\\"]/" "$1"\n',
        0o755,
    )
    env = {"VISUAL": str(editor), "HOST": "e.example"}
    config("edit", env=env).ok()
    assert config("get", "network.allowedDomains").text == "e.example\n"
    assert config("edit", env={"VISUAL": "true"}).ok().text == "nothing changed\n"
    assert b"failed" in config("edit", env={"VISUAL": "false"}).err
    config("remove", "network.allowedDomains", "e.example").ok()
    wrong = config("edit", env={**env, "HOST": "no host"})
    assert wrong.code == 125 and b"your text is kept there" in wrong.err
    assert config("get", "network.allowedDomains").text == ""


def test_schema_and_path(config):
    assert config("schema").ok().text == (harness.ROOT / "docs/policy.schema.json").read_text()
    assert config("path").text == "built in\n"
    config("enable", "--scope", "default").ok()
    assert config("path").ok().text == f"{config.directory}/default.json\n"


def test_bad_words(config):
    assert b"did you mean show?" in config("shwo").err
    assert b"a key is missing" in config("set").err
    assert b"a value is missing" in config("set", "backend").err
    assert b"unknown scope" in config("show", "--scope", "all").err


def test_what_was_not_there_before_the_first_run_is_hidden_from_it(hutch, project, as_user):
    """A state directory that no run has made yet, where the sandbox may look: its own record would be in it."""
    place = as_user.mkdir(project.parent / f"{project.name}-first")
    script = f"while [ ! -e {place}/state/data ]; do sleep 0.05; done; sleep 0.2; cat {place}/state/data/*"
    options = ("--allow-read", str(place), "--timeout", "20s")
    result = hutch("run", *options, "--", "sh", "-c", script, cwd=project, env={"HUTCH_STATE": str(place / "state")})
    assert result.code == 1 and "built-in" not in result.text, str(result)
    written = [path for path in (place / "state" / "data").iterdir() if path.is_file()]
    assert "start" in "".join(path.read_text() for path in written)
