# The policies for coding agents, by name.
import json
import os
import re

import pytest

import harness

PRESETS = ["claude-code", "codex", "pi", "gemini", "opencode", "qwen", "copilot", "cursor-agent", "aider", "goose"]
# A directory that the program writes in.
STATE = {"claude-code": ".claude", "codex": ".codex", "pi": ".pi/agent", "gemini": ".gemini",
         "opencode": ".local/share/opencode", "qwen": ".qwen", "copilot": ".copilot",
         "cursor-agent": ".cursor/projects", "aider": ".aider", "goose": ".local/share/goose"}
# What the same program obeys outside, in the home.
OBEYED = {"claude-code": [".claude/settings.json", ".claude/skills/x/SKILL.md", ".claude/commands/c.md",
                          ".claude/plugins/p", ".claude/projects/-p/memory/MEMORY.md",
                          ".claude/projects/-q/memory/MEMORY.md"],
          "codex": [".codex/.env", ".codex/agents/a.toml", ".codex/automations/a/automation.toml",
                    ".codex/memories/MEMORY.md", ".codex/config.toml", ".codex/hooks.json", ".codex/skills/x/SKILL.md",
                    ".codex/prompts/p.md"],
          "pi": [".pi/agent/settings.json", ".pi/agent/extensions/x.ts", ".pi/agent/skills/x/SKILL.md",
                 ".pi/agent/bin/fd"],
          "gemini": [".gemini/settings.json", ".gemini/.env", ".gemini/GEMINI.md", ".gemini/trustedFolders.json",
                     ".gemini/trusted_hooks.json", ".gemini/extensions/x/gemini-extension.json",
                     ".gemini/commands/c.toml", ".gemini/policies/p.toml", ".gemini/skills/x/SKILL.md",
                     ".gemini/history/p/.git/config", ".gemini/tmp/p/memory/MEMORY.md"],
          "opencode": [".config/opencode/opencode.json", ".config/opencode/plugin/x.ts", ".config/opencode/AGENTS.md",
                       ".config/opencode/node_modules/x/index.js", ".opencode/bin/opencode",
                       ".local/share/opencode/bin/rg", ".local/share/opencode/snapshot/p/config"],
          "qwen": [".qwen/settings.json", ".qwen/.env", ".qwen/QWEN.md", ".qwen/trustedFolders.json",
                   ".qwen/extensions/x/qwen-extension.json", ".qwen/commands/c.md", ".qwen/skills/x/SKILL.md",
                   ".qwen/channels/service.pid", ".qwen/history/p/.git/config"],
          "copilot": [".copilot/config.json", ".copilot/mcp-config.json", ".copilot/settings.json",
                      ".copilot/permissions-config.json", ".copilot/copilot-instructions.md", ".copilot/hooks/h.json",
                      ".copilot/agents/a.md", ".copilot/installed-plugins/p", ".copilot/pkg/index.js"],
          "cursor-agent": [".cursor/mcp.json", ".cursor/cli-config.json", ".cursor/hooks.json", ".cursor/rules/r.mdc",
                           ".cursor/extensions/x/main.js", ".cursor/commands/c.md",
                           ".cursor/projects/p/mcp-approvals.json", ".local/share/cursor-agent/versions/1/index.js"],
          "aider": [".aider/oauth-keys.env", ".aider.conf.yml", ".aider.model.settings.yml"],
          "goose": [".config/goose/config.yaml", ".config/goose/permission.yaml", ".config/goose/prompts/system.md",
                    ".local/share/goose/schedule.json", ".local/share/goose/scheduled_recipes/r.yaml"]}
# Whichever of them runs inside: what any agent obeys in the project.
IN_PROJECT = [".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/h",
              ".claude/commands/c.md", ".claude/skills/x/S.md", ".codex/config.toml", ".agents/skills/x/SKILL.md",
              ".pi/extensions/x.ts", ".pi/settings.json", ".cursor/mcp.json", ".gemini/settings.json",
              ".zed/settings.json", "opencode.json"]
# What a running one takes from there again and again.
SOURCED = {"claude-code": "shell-snapshots/s.sh", "codex": "tmp/arg0/codex-arg0x/apply_patch"}
CREDENTIALS = {"claude-code": ".claude/.credentials.json", "codex": ".codex/auth.json", "pi": ".pi/agent/auth.json",
               "gemini": ".gemini/oauth_creds.json", "opencode": ".local/share/opencode/auth.json",
               "qwen": ".qwen/oauth_creds.json", "copilot": ".copilot/config.json",
               "cursor-agent": ".config/cursor/auth.json", "aider": ".aider/oauth-keys.env",
               "goose": ".config/goose/secrets.yaml"}
# Where the file also says what the program obeys.
READ_ONLY_CREDENTIALS = ["copilot", "aider", "goose"]


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
    kept = preset in READ_ONLY_CREDENTIALS
    assert (run(f"echo new > $HOME/{CREDENTIALS[preset]}").code != 0) == kept
    for file in [".ssh/id_ed25519", *others]:
        assert run(f"cat $HOME/{file}").code != 0, file


def test_what_the_program_obeys_outside_stays(run, preset):
    places = [run.home / name for name in OBEYED[preset] if name != CREDENTIALS[preset]]
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
def test_what_a_session_sources_is_empty_where_it_was_absent(run, preset):
    sourced = run.home / STATE[preset] / SOURCED[preset]
    place = run.home / STATE[preset] / SOURCED[preset].split("/", maxsplit=1)[0]
    run(f"mkdir -p {sourced.parent}; echo evil > {sourced}; mkdir ~/made && mv ~/made {place}; ln -s /tmp {place}")
    assert place.is_dir() and os.listdir(place) == []


def test_absent_state_is_made_and_said(hutch, project, as_user, preset):
    home = as_user.mkdir(project.parent / f"{project.name}-new-home")
    env = {"HOME": str(home)}
    line = ["--policy", preset]
    state = home / STATE[preset]
    hutch("explain", *line, "--", "true", cwd=project, env=env).ok()
    assert os.listdir(home) == [], "explain makes nothing"
    done = hutch.run("sh", "-c", f"echo kept > {state}/s.log", options=line, cwd=project, env=env).ok()
    assert "making " in done.errors and str(state) in done.errors and preset in done.errors, str(done)
    assert (state / "s.log").read_text() == "kept\n" and state.stat().st_uid == as_user.uid
    again = hutch.run("true", options=line, cwd=project, env=env).ok()
    assert "making" not in again.errors and "is absent" not in again.errors, str(again)


@pytest.mark.parametrize("word", ["gemni", "nosuch"])
def test_an_unknown_name_lists_the_presets(hutch, project, word):
    for refused in (hutch.run("true", options=["--policy", word], cwd=project),
                    hutch("explain", "--policy", word, "--", "true", cwd=project),
                    hutch("config", "preset", word), hutch("config", "import", word, cwd=project)):
        assert refused.code == 125 and ", ".join(PRESETS) in refused.errors, str(refused)
        assert ("did you mean gemini?" in refused.errors) == (word == "gemni"), str(refused)
    (project / word).write_text("{}")
    hutch.run("true", options=["--policy", word], cwd=project).ok()
    missing = hutch.run("true", options=["--policy", f"./other-{word}"], cwd=project)
    assert f"other-{word}: there is no such file" in missing.errors and PRESETS[0] not in missing.errors, str(missing)


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
