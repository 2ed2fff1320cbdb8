# `hutch config` on a real terminal: what is on the screen, what is saved, and that the terminal is given back.
import json
import os
import signal
import subprocess

import pytest
from daemons import Daemon
from harness import wait_until
from tmux import Tmux

FOOT = "Enter takes what is marked"


@pytest.fixture
def wizard(base, hutch, project, as_user):
    """wizard(columns, rows) opens a terminal with a shell in `project`, and `hutch config` in that."""
    state = Daemon(base, as_user).state
    opened = []

    class Wizard(Tmux):
        def __init__(self, columns=80, rows=24, cwd=project, **env):
            own = {"HUTCH_STATE": str(state), "PATH": f"{base.bin}:{os.environ['PATH']}", **env}
            super().__init__(base, as_user, cwd, own, columns, rows)
            opened.append(self)

        def start(self):
            """Into the wizard; the modes of the terminal before it."""
            self.keys("clear; stty -g >modes; hutch config", "Enter")
            self.wait_for(FOOT)
            return self

        def ended(self, code=0):
            """The shell again, and the terminal as it was."""
            self.wait_for(gone=["Esc or q leaves", "Enter takes it", "goes back"])
            self.keys("echo code=$?", "Enter")
            self.wait_for(f"code={code}\n")
            assert self.state("alternate_on", "cursor_flag", "keypad_flag") == ["0", "1", "0"]
            self.keys("stty -g | cmp - modes && echo sa''me", "Enter")
            self.wait_for("same")

        projects = state / "config/projects.json"
        defaults = state / "config/default.json"
        config = staticmethod(lambda *words: hutch("config", *words, cwd=project, env={"HUTCH_STATE": str(state)}))

        def saved(self):
            return json.loads(self.projects.read_text())[str(project)]

    yield Wizard
    for one in opened:
        one.__exit__()
    hutch("daemon", "stop", env={"HUTCH_STATE": str(state)})


def test_a_domain_for_this_project(wizard, project):
    with wizard() as screen:
        screen.start()
        shown = screen.wait_for("built-in default", "> Disable sandbox", "New project entry", "Edit the default")
        assert "🔒 Sandbox: 0 domains, 1 write path" in shown
        screen.keys("Down", "Enter", "Down", "Down", "Enter")
        screen.wait_for("network.allowedDomains", "(empty)", "a adds; d deletes")
        screen.keys("a", "example.org", "Enter", "a", "b.example", "Enter")
        screen.wait_for("> b.example")
        screen.keys("Up", "d")
        screen.wait_for("> b.example", gone=["example.org"])
        screen.keys("Escape")
        screen.wait_for("1: b.example", "changed, not saved")
        assert not screen.projects.exists(), "nothing is saved before s"
        screen.keys("s")
        screen.wait_for("saved in")
        assert screen.saved()["network"]["allowedDomains"] == ["b.example"]
        assert screen.saved()["filesystem"]["allowWrite"] == ["."], "a copy of the default"
        screen.keys("q")
        screen.ended()
        screen.start()
        screen.wait_for("projects.json", "allowedDomains  b.example", f"Edit this project     {project}"[:70])
        screen.keys("Escape")
        screen.ended()


def test_one_enter_turns_the_sandbox_off_for_the_session(wizard):
    with wizard() as screen:
        screen.start()
        screen.keys("Enter")
        screen.wait_for("sandboxes are off for this session")
        screen.ended()
        screen.keys("clear; hutch status --line", "Enter")
        screen.wait_for("Sandbox: disabled")
        screen.start()
        screen.wait_for("Sandbox: disabled", "> Enable sandbox")
        screen.keys("Enter")
        screen.wait_for("sandboxes are on for this session")
        screen.ended()
        assert not screen.projects.exists() and not screen.defaults.exists(), "nothing is saved"


def test_what_is_wrong_is_said_and_not_saved(wizard):
    with wizard() as screen:
        screen.start()
        screen.keys("End", "Enter", "Down", "Down", "Enter", "a", "*.com", "Enter")
        screen.wait_for("is too broad", "= *.com")
        screen.keys("C-u", "a.example", "Enter", "b", "s")
        screen.wait_for("saved in")
        assert json.loads(screen.defaults.read_text())["network"]["allowedDomains"] == ["a.example"]
        screen.keys("q")
        screen.ended()


def test_a_broken_file_is_shown_and_left(wizard, as_user):
    with wizard() as screen:
        as_user.write(screen.defaults, '{\n "limits": {"pids": "x"}}')
        screen.start()
        screen.wait_for("default.json: line 2: limits.pids")
        screen.keys("End", "Enter")
        screen.wait_for("mend it by hand first", "> Edit the default")
        assert screen.defaults.read_text() == '{\n "limits": {"pids": "x"}}'
        screen.keys("q")
        screen.ended()


def test_what_another_saved_meanwhile_stays(wizard):
    with wizard() as screen:
        screen.start()
        screen.keys("Down", "Enter", "Down", "Down", "Enter", "a", "a.example", "Enter", "b")
        screen.wait_for("changed, not saved")
        screen.config("add", "network.allowedDomains", "b.example").ok()
        screen.keys("s")
        screen.wait_for("2: b.example, a.example", "saved in")
        assert screen.saved()["network"]["allowedDomains"] == ["b.example", "a.example"]


def test_unsaved_changes_are_not_lost_by_one_key(wizard):
    with wizard() as screen:
        screen.start()
        screen.keys("End", "Enter", "Enter")
        screen.wait_for("> enabled                 false")
        screen.keys("Escape")
        screen.wait_for("not saved: s saves")
        screen.keys("q")
        screen.ended()
        assert not screen.defaults.exists()


@pytest.mark.parametrize(
    "keys", [["C-c"], ["End", "Enter", "Enter", "C-c"], ["End", "Enter", "Down", "Down", "Enter", "a", "x", "C-c"]]
)
def test_control_c_leaves(wizard, keys):
    with wizard() as screen:
        screen.start()
        screen.keys(*keys)
        screen.ended(130)
        assert not screen.defaults.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_gives_the_terminal_back_first(wizard, number, run_outside):
    with wizard() as screen:
        screen.start()
        shell = screen.state("pane_pid")[0]
        pgrep = ["pgrep", "-P", shell, "hutch"]
        child = wait_until(
            lambda: subprocess.run(pgrep, capture_output=True, text=True).stdout, "hutch below the shell"
        )
        run_outside("kill", f"-{number.value}", child.strip()).ok()
        screen.ended(128 + number.value)


def test_sizes(wizard):
    with wizard(40, 10) as screen:
        screen.start()
        screen.wait_for("Sandbox: 0 domains", "> Disable sandbox", "lines more")
        screen.keys("End", "Enter")
        screen.wait_for("> enabled", "Enter changes; s saves; ? more;")
        screen.resize(100, 30)
        screen.wait_for("filesystem.denyWrite", "Enter changes; s saves; ? more; Esc or q leaves")
        screen.resize(20, 5)
        screen.wait_for("at least 40x10")
        screen.keys("Down")
        screen.resize(60, 15)
        shown = screen.wait_for("> network", "Esc or q leaves")
        assert len([line for line in shown.split("\n") if line.startswith("> ")]) == 1, "nothing of before is left"
        screen.keys("q")
        screen.ended()


def test_names_in_every_script_and_none_that_draws(wizard, as_user):
    with wizard() as screen:
        evil = "/srv/a\x1b[2Jb\u202ec"
        as_user.write(screen.defaults, json.dumps({"filesystem": {"denyRead": [evil, "/srv/größe/日本語"]}}))
        screen.start()
        screen.wait_for("\\x1b[2J", "日本語")
        screen.keys("End", "Enter", *["Down"] * 4, "Enter")
        screen.wait_for("> /srv/a\\x1b[2Jb\\xe2\\x80\\xaec", "  /srv/größe/日本語")
        screen.keys("a")
        screen.text("/srv/ñandú/漢字")
        screen.wait_for("= /srv/ñandú/漢字")
        screen.keys("BSpace", "Enter", "b", "s")
        screen.wait_for("saved in")
        saved = json.loads(screen.defaults.read_text())["filesystem"]["denyRead"]
        assert saved == [evil, "/srv/größe/日本語", "/srv/ñandú/漢"]


def test_an_ascii_terminal(wizard, as_user):
    with wizard(LC_ALL="C", LANG="C") as screen:
        as_user.write(screen.defaults, json.dumps({"filesystem": {"denyRead": ["/srv/größe"]}}))
        screen.start()
        assert "\\xc3\\xb6\\xc3\\x9f" in screen.wait_for("denyRead")


def test_a_paste_is_text_and_never_a_command(wizard):
    with wizard() as screen:
        screen.start()
        screen.paste("\n\nq")
        screen.keys("End", "Enter", "Down", "Down", "Enter", "a")
        screen.wait_for("Enter takes it")
        screen.paste("a.example\nd\nq\n")
        screen.wait_for("= a.exampledq")
        screen.keys("Escape")
        screen.wait_for("a adds; d deletes", "(empty)")


def test_keys_that_mean_nothing_do_nothing(wizard):
    with wizard() as screen:
        screen.start()
        for sequence in ["\x1b[1;9Z", "\x1b[42~", "\x1bOz", "\x1bx", "\x01", "\x1a", "é"]:
            screen.text(sequence)
        screen.keys("Down")
        screen.wait_for("> New project entry")


@pytest.mark.parametrize("prefix", ["\x1b[", "\x1bO"])
def test_arrows_of_both_modes(wizard, prefix):
    """Which of them a terminal sends is up to its mode, and terminfo has one."""
    with wizard() as screen:
        screen.start()
        screen.text(prefix + "B")
        screen.wait_for("> New project entry")
        screen.text(prefix + "A")
        screen.wait_for("> Disable sandbox")


@pytest.mark.parametrize("kind", ["nosuchterminal", "dumb", ""])
def test_a_terminal_that_cannot_be_drawn_on(wizard, kind):
    with wizard() as screen:
        screen.keys(f"clear; TERM={kind} hutch config; echo code=$?", "Enter")
        shown = screen.wait_for("code=125")
        assert f'"{kind}" (TERM) is not known here' in shown.replace("\n", "")


def test_without_a_terminal(hutch):
    result = hutch("config")
    assert result.code == 125 and b"there are show, check, edit" in result.err and result.err.count(b"\n") == 1
    for words in [("--json",), ("--scope", "default"), ("--session",)]:
        result = hutch("config", *words)
        assert result.code == 125 and b"an action is missing; there are show, check" in result.err


def test_output_that_is_no_terminal(wizard, project):
    with wizard() as screen:
        screen.keys("clear; hutch config | cat; hutch config </dev/null; echo co''de", "Enter")
        assert screen.wait_for("code").replace("\n", "").count("an action is missing") == 2


def below(screen, project, as_user):
    """The shell in a directory of the project, which has an entry by now."""
    screen.config("add", "network.allowedDomains", "of-parent.example").ok()
    as_user.mkdir(project / "sub")
    screen.keys("cd sub", "Enter")


def test_the_parents_entry_is_edited(wizard, project, as_user):
    with wizard(200, 30) as screen:
        below(screen, project, as_user)
        screen.start()
        screen.wait_for("allowedDomains  of-parent.example", f"Edit this project     parent: {project}",
                        "New project entry", "a copy of its parent's")
        screen.keys("Down", "Enter", "Down", "Down", "Enter", "a", "more.example", "Enter", "b", "s")
        screen.wait_for("saved in")
        saved = json.loads(screen.projects.read_text())
        assert list(saved) == [str(project)]
        assert saved[str(project)]["network"]["allowedDomains"] == ["of-parent.example", "more.example"]
        screen.keys("q")
        screen.ended()


def test_a_new_entry_is_a_copy_of_the_parents(wizard, project, as_user):
    with wizard(200, 30) as screen:
        below(screen, project, as_user)
        screen.start()
        screen.keys("Down", "Down", "Enter")
        screen.wait_for("new: s saves it")
        screen.keys("s")
        screen.wait_for("saved in")
        saved = json.loads(screen.projects.read_text())
        assert saved[str(project / "sub")] == saved[str(project)]
        screen.keys("s")
        screen.wait_for("nothing to save")
        screen.keys("Escape")
        screen.ended()
        screen.start()
        screen.wait_for(f"Edit this project     {project}/sub", gone=["parent:", "New project entry"])


def test_the_switch_of_a_policy_is_saved(wizard):
    with wizard() as screen:
        screen.start()
        screen.keys("End", "Enter", "Enter")
        screen.wait_for("> enabled                 false", "changed, not saved")
        screen.keys("s")
        screen.wait_for("saved in")
        assert json.loads(screen.defaults.read_text())["enabled"] is False
        screen.keys("q")
        screen.ended()
        screen.start()
        screen.wait_for("Sandbox: disabled", "> Enable sandbox")
        screen.keys("End", "Enter", "Enter", "s")
        screen.wait_for("saved in", "> enabled")
        assert json.loads(screen.defaults.read_text())["enabled"] is True
        screen.keys("q")
        screen.ended()


def marked(screen, field):
    """Goes down to it from the first."""
    screen.keys("Home")
    screen.wait_for("> enabled")
    for _ in range(90):
        # While it is drawn anew the mark may be nowhere.
        line = next(line for line in screen.wait_for("\n> ").split("\n") if line.startswith("> "))
        if line.startswith(f"> {field} "):
            return
        screen.keys("Down")
        screen.wait_for(gone=[line])
    raise AssertionError(f"no {field} on the screen:\n{screen.screen()}")


def test_what_is_behind_the_question_mark(wizard):
    with wizard(80, 60) as screen:
        screen.start()
        screen.keys("End", "Enter")
        screen.wait_for("> enabled", "? more", gone=["limits.memory"])
        screen.keys("?")
        screen.wait_for("? less")
        marked(screen, "limits.memory")
        screen.keys("Enter", "2x", "Enter")
        screen.wait_for("= 2x", "limits.memory: ")
        screen.keys("BSpace", "G", "Enter")
        screen.wait_for("limits.memory", "2G", "changed, not saved", gone=["= 2"])
        screen.keys("Enter", "C-u", "9G")
        screen.wait_for("= 9G")
        screen.keys("Escape")
        screen.wait_for("2G", gone=["9G"])
        screen.keys("?")
        screen.wait_for("? more", "> enabled", gone=["limits.memory"])
        screen.keys("s")
        screen.wait_for("saved in")
        assert json.loads(screen.defaults.read_text())["limits"]["memory"] == "2G"
        screen.keys("?")
        marked(screen, "limits.memory")
        screen.keys("Enter", "C-u", "Enter", "s")
        screen.wait_for("saved in", gone=["changed, not saved"])
        assert "memory" not in json.loads(screen.defaults.read_text()).get("limits", {})
        screen.keys("q")
        screen.ended()


def test_names_with_values(wizard):
    with wizard(80, 60) as screen:
        screen.start()
        screen.keys("End", "Enter", "?")
        screen.wait_for("? less")
        marked(screen, "environment")
        screen.keys("Enter", "a", "=x", "Enter")
        screen.wait_for("a name is missing")
        screen.keys("C-u", "CI=1", "Enter", "a", "MORE=2", "Enter", "Up", "d")
        screen.wait_for("> MORE=2", gone=["CI=1"])
        screen.keys("b", "s")
        screen.wait_for("saved in")
        assert json.loads(screen.defaults.read_text())["environment"] == {"MORE": "2"}


def test_every_way_up_and_down(wizard):
    with wizard(80, 60) as screen:
        screen.start()
        screen.keys("End", "Enter", "?")
        screen.wait_for("> enabled")
        for key, field in (("End", "? less"), ("Home", "> enabled"), ("Down", "> network "), ("Up", "> enabled"),
                           ("Up", "> enabled"), ("NPage", "> "), ("PPage", "> enabled")):
            screen.keys(key)
            screen.wait_for(field)
        screen.keys("x", "Left", "q")
        screen.ended()


def test_a_list_is_left_as_it_was_by_other_keys(wizard):
    with wizard() as screen:
        screen.start()
        screen.keys("End", "Enter", *["Down"] * 6, "Enter")
        screen.wait_for("filesystem.allowWrite", "> .")
        screen.keys("q", "s", "?", "x", "a", "/tmp/out")
        screen.wait_for("= /tmp/out")
        # A letter at once after Esc would be Alt with that letter.
        screen.keys("Escape")
        screen.wait_for("> .", "a adds; d deletes", gone=["/tmp/out"])
        screen.keys("a", "Enter")
        screen.wait_for("> .", "a adds; d deletes")
        screen.keys("d", "d")
        screen.wait_for("(empty)")
        screen.keys("b")
        screen.wait_for("> filesystem.allowWrite", "changed, not saved")
        screen.keys("Escape")
        screen.wait_for("not saved: s saves")
        screen.keys("Escape")
        screen.ended()
        assert not screen.defaults.exists()


def test_what_the_session_was_allowed_is_shown(wizard, as_user, project):
    """On top, and nowhere saved."""
    hidden = as_user.write(as_user.home / f"hidden-{project.name}", "words")
    with wizard(160, 30, HUTCH_SESSION="of-this-test") as screen:
        screen.keys("hutch agent list", "Enter", f"clear; hutch run cat {hidden}; echo ov''er", "Enter")
        screen.wait_for("no answer in")
        screen.keys("s")
        # What is typed before its end is the command's.
        screen.wait_for("words", "over")
        screen.start()
        screen.wait_for("this session", str(hidden))
        screen.keys("q")
        screen.ended()
        assert not screen.projects.exists() and not screen.defaults.exists()
