# The policies for coding agents, by name.
import json
import os
import re

import pytest

import harness

PRESETS = ["claude-code", "codex", "pi"]
STATE = {"claude-code": ".claude", "codex": ".codex", "pi": ".pi/agent"}
# What the same program obeys outside, below its state directory.
OBEYED = {"claude-code": ["settings.json", "skills/x/SKILL.md", "commands/c.md", "plugins/p",
                          "projects/-p/memory/MEMORY.md", "projects/-q/memory/MEMORY.md"],
          "codex": [".env", "agents/a.toml", "automations/a/automation.toml", "memories/MEMORY.md",
                    "config.toml", "hooks.json", "skills/x/SKILL.md", "prompts/p.md"],
          "pi": ["settings.json", "extensions/x.ts", "skills/x/SKILL.md", "bin/fd"]}
# Whichever of them runs inside: what any agent obeys in the project.
IN_PROJECT = [".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/h",
              ".claude/commands/c.md", ".claude/skills/x/S.md", ".codex/config.toml", ".agents/skills/x/SKILL.md",
              ".pi/extensions/x.ts", ".pi/settings.json", ".cursor/mcp.json", ".gemini/settings.json",
              ".zed/settings.json", "opencode.json"]
# What a running one takes from there again and again.
SOURCED = {"claude-code": "shell-snapshots/s.sh", "codex": "tmp/arg0/codex-arg0x/apply_patch"}
CREDENTIALS = {"claude-code": ".claude/.credentials.json", "codex": ".codex/auth.json", "pi": ".pi/agent/auth.json"}


@pytest.fixture(params=PRESETS)
def preset(request):
    return request.param


@pytest.fixture
def run(hutch, project, as_user, preset):
    """run(SCRIPT) under the preset, with a home of its own that has the state directory."""
    home = as_user.mkdir(project.parent / f"{project.name}-home")
    as_user.mkdir(home / STATE[preset])
    as_user.write(home / CREDENTIALS[preset], "{\"key\": 1}", 0o600)

    def call(script, cwd=project, options=()):
        return hutch.run("sh", "-c", script, options=["--policy", preset, *options], cwd=cwd, env={"HOME": str(home)})

    call.home, call.person, call.project = home, as_user, project
    return call


def test_it_works_in_its_state_and_its_project(run, preset):
    state = f"$HOME/{STATE[preset]}"
    run(f"echo x > {state}/history.jsonl && mkdir -p {state}/sessions/1 && echo y > {state}/sessions/1/log &&"
        " echo z > here")
    assert (run.home / STATE[preset] / "sessions/1/log").read_text() == "y\n"
    assert (run.project / "here").read_text() == "z\n"


def test_it_has_its_own_credentials_and_no_others(run, preset):
    run.person.write(run.home / ".ssh" / "id_ed25519", "private", 0o600)
    others = [file for name, file in CREDENTIALS.items() if name != preset]
    for file in others:
        run.person.write(run.home / file, "another's")
    assert run(f"cat $HOME/{CREDENTIALS[preset]}").ok().text == "{\"key\": 1}"
    assert run(f"echo new > $HOME/{CREDENTIALS[preset]}").code == 0
    for file in [".ssh/id_ed25519", *others]:
        assert run(f"cat $HOME/{file}").code != 0, file


def test_what_the_program_obeys_outside_stays(run, preset):
    places = [run.home / STATE[preset] / name for name in OBEYED[preset]]
    places += [run.project / name for name in IN_PROJECT]
    mine = places[::2]
    for place in mine:
        run.person.write(place, "mine")
    run("\n".join(f"mkdir -p {place.parent}; echo evil > {place}; mv {place.parent} {place.parent}-moved"
                  for place in places if place.parent != run.project))
    run(f"echo evil > {run.project}/opencode.json; echo evil > {run.project}/.mcp.json")
    for place in places:
        assert place.read_text() == "mine" if place in mine else not place.exists(), place


@pytest.mark.parametrize("preset", SOURCED, indirect=True)
def test_sources_of_a_running_session_are_out_of_reach(run, preset):
    name = SOURCED[preset]
    sourced = run.home / STATE[preset] / name
    run.person.write(sourced, "alias ls=ls")
    place = run.home / STATE[preset] / name.split("/", maxsplit=1)[0]
    assert run(f"ls -A {place}; mkdir -p {sourced.parent}; echo evil > {sourced}").ok().text == ""
    assert sourced.read_text() == "alias ls=ls"


@pytest.mark.parametrize("preset", SOURCED, indirect=True)
def test_what_a_session_sources_is_made_by_nobody_where_it_is_absent(run, preset):
    sourced = run.home / STATE[preset] / SOURCED[preset]
    place = run.home / STATE[preset] / SOURCED[preset].split("/", maxsplit=1)[0]
    run(f"mkdir -p {sourced.parent}; echo evil > {sourced}; mkdir ~/made && mv ~/made {place}; ln -s /tmp {place}")
    assert not place.exists() and not place.is_symlink()


def test_a_file_of_that_name_is_not_meant(run, preset):
    run.person.write(run.project / preset, json.dumps({"filesystem": {"denyRead": [], "allowWrite": ["/"]}}))
    run.person.write(run.home / "other", "private")
    assert run("cat $HOME/other").code != 0
    assert run("cat $HOME/other", options=["--policy", f"./{preset}"]).ok().text == "private"


def test_listed_printed_and_saved(hutch, project, as_user, preset):
    state = as_user.mkdir(project.parent / f"{project.name}-state")
    env = {"HUTCH_STATE": str(state)}
    assert preset in hutch("config", "preset", env=env).ok().text
    assert [one["name"] for one in json.loads(hutch("config", "preset", "--json", env=env).ok().text)] == PRESETS
    text = json.loads(hutch("config", "preset", preset, env=env).ok().text)
    hutch("config", "import", preset, "--scope", "project", env=env, cwd=project).ok()
    saved = json.loads(hutch("config", "show", "--json", env=env, cwd=project).ok().text)
    assert saved["policy"]["filesystem"] == text["filesystem"] and saved["scope"] == "project"
    refused = hutch("config", "preset", "emacs", env=env)
    assert refused.code == 125 and "hutch config preset" in refused.errors
    assert os.listdir(project) == []


def test_pi_in_its_own_extension_holds_the_same_of_a_project(hutch):
    """The extension makes its policy itself; what programs outside obey is written in each preset and there."""
    source = (harness.ROOT / "clients/pi/src/policy.ts").read_text(encoding="utf-8")
    listed = re.search(r"const OBEYED = \[(.*?)\]", source, re.DOTALL).group(1)
    extension = re.findall(r"'([^']+)'", listed)
    for name in PRESETS:
        denied = json.loads(hutch("config", "preset", name).ok().out)["filesystem"]["denyWrite"]
        assert [path for path in denied if not path.startswith("~")] == extension, name
