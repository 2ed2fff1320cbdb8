# pi-sandbox: rows 1 to 78, and the defects of hutch run that its people met. pi itself: tests/clients.
import json
import re
import tarfile

import pytest

import harness
import sources
import terminal
from seed_pages import rows, says

DIFFERS = {
    1: "hutch clients install pi; the package is not on npm",
    11: "Dot-files stay read-only when pi starts in the home.",
    40: "A dot in an entry means the directory of the entry in projects.json, not the directory where pi started.",
    44: "allowMachLookup, ripgrep and mitmProxy have no meaning here, and hutch explain says so.",
    45: "enableWeakerNestedSandbox is refused",
    55: "the same letters, in pi and in hutch run",
    57: "A no holds for the command that asked; the next one asks again.",
    78: "There is no macOS version.",
}


@pytest.mark.parametrize("row, sentence", rows(DIFFERS))
def test_what_differs_is_told(row, sentence):
    says("pi", sentence)


@pytest.fixture
def home(person, request):
    """A home of its own, so that what it holds is nobody else's."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:40]
    return person.mkdir(person.home / f"pi-{name}")


def hutch(base, person, home, cwd, *words):
    environment = {"HOME": str(home), "XDG_CONFIG_HOME": None, "XDG_DATA_HOME": None}
    return harness.run_in(person, [base.bin / "hutch", *words], cwd=cwd, env=environment)


def test_row_11_dot_files_that_run_commands_are_not_written(base, person, home):
    person.write(home / ".bashrc", "mine\n")
    done = hutch(base, person, home, home, "run", "--wide", "--", "/bin/sh", "-c",
                 "echo evil > .bashrc; echo evil > .profile; echo fine > .mydot")
    assert (home / ".bashrc").read_text() == "mine\n" and not (home / ".profile").exists(), str(done)
    assert (home / ".mydot").read_text() == "fine\n", str(done)


def test_row_2_the_package_is_whole(packed):
    """What it does without its parts: tests/clients/pi_closed_test.py."""
    with tarfile.open(packed["hutch-pi"]) as archive:
        names = archive.getnames()
    assert {"package/index.js", "package/dist/index.js", "package/node_modules/hutch-sdk/dist/index.js"} <= set(names)


def test_row_25_an_answer_for_all_projects_is_told_apart(base, person, home, project):
    """So that hutch-pi's own first policy goes on to hold, with that answer in it: tests/http/sessions_test.py."""
    added = ["network.allowedDomains", "example.org", "--scope", "default"]
    hutch(base, person, home, project, "config", "add", *added).ok()
    held = json.loads(hutch(base, person, home, project, "config", "show", "--json").ok().text)
    assert held["added"]["network"]["allowedDomains"] == ["example.org"], held


def test_row_40_a_dot_is_the_entrys_directory(base, person, home):
    deeper = person.mkdir(home / "foo/sub/deeper")
    policy = {"filesystem": {"denyRead": ["/home", "~"], "allowRead": ["."], "allowWrite": ["."]}, "network": []}
    person.write(home / ".config/hutch/projects.json", json.dumps({str(home / "foo"): policy}), mode=0o600)
    hutch(base, person, home, deeper, "run", "--", "touch", "../up").ok()
    assert (home / "foo/sub/up").exists()


def test_row_44_and_45_settings_of_srt(base, person, home, project):
    settings = {"network": {"allowMachLookup": ["x"]}, "ripgrep": {"command": "rg"}}
    file = person.write(home / "srt.json", json.dumps(settings))
    told = hutch(base, person, home, project, "explain", "--policy", file).ok()
    assert "allowMachLookup has no effect" in told.text and "ripgrep has no effect" in told.text, str(told)
    weak = person.write(home / "weak.json", json.dumps({"enableWeakerNestedSandbox": True}))
    refused = hutch(base, person, home, project, "run", "--policy", weak, "--", "true")
    assert refused.code == 125 and "enableWeakerNestedSandbox" in refused.errors, str(refused)


def test_row_d11_clients_without_a_project_name_their_agent(base, person, home):
    for client in ("windsurf", "cline"):
        refused = hutch(base, person, home, home, "mcp", "install", "--client", client, "--print")
        assert refused.code == 125 and "--agent NAME" in refused.errors, str(refused)
        shown = hutch(base, person, home, home, "mcp", "install", "--client", client, "--agent", "ada", "--print").ok()
        assert "ada" in shown.text, str(shown)


def test_row_d11_the_page_names_an_agent_where_the_command_wants_one():
    """The entry that follows the first mention of each."""
    page = (sources.ROOT / "docs/mcp.md").read_text()
    for client in ("Claude Desktop", "Windsurf", "Cline"):
        entry = re.search(r'\{"mcpServers".*', page[page.index(client):]).group()
        assert '"--agent"' in entry, f"{client}: {entry}"


@pytest.mark.parametrize("down", [b"\x1b[B", b"\x1bOB"], ids=["csi", "ss3"])
def test_row_d12_arrow_keys_of_both_modes(base, person, home, project, down):
    """Where Down did nothing, the Enter after it switched the sandbox off."""
    state = {"HUTCH_STATE": str(person.mkdir(home / "state"))}
    with terminal.Terminal(person, [base.bin / "hutch", "config"], cwd=project, env=state) as window:
        window.read_until(b"Enter takes what is marked")
        window.send(down + b"\r")
        window.read_until(b"New project entry")
        window.read_until(b"network.allowedDomains")
        window.send(b"q")
        window.wait()
        assert b"sandboxes are off" not in window.seen, window.seen[-4000:]
    told = harness.run_in(person, [base.bin / "hutch", "status", "--line"], cwd=project, env=state).ok()
    assert "disabled" not in told.text, str(told)


def test_row_d15_a_question_that_nobody_reads_ends_with_hutch(base, person, home, project):
    """Its time limit and a signal, on a terminal that is full: tests/network/prompt_unread_test.py."""
    state = {"HUTCH_STATE": str(person.mkdir(home / "state"))}
    hutch_there = harness.Hutch(base, person, project)
    policy = person.write(project / "policy.json", '{"ask": {"timeout": "10m"}}')
    ask = [base.bin / "hutch", "run", "--policy", policy, "-c", "curl -sS http://good.example/; exec sleep 1000"]
    with terminal.Terminal(person, ask, cwd=project, env=state, room="none") as window:
        harness.wait_until(lambda: hutch_there("questions", env=state).ok().text, "it is asked")
        window.end_unread("hutch")


def test_row_real_clients_an_unknown_preset_lists_them(base, person, home, project):
    refused = hutch(base, person, home, project, "run", "--policy", "gemeni", "--", "true")
    assert refused.code == 125 and "gemini" in refused.errors and "opencode" in refused.errors, str(refused)
