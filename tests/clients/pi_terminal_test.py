# pi on a terminal with the extension of this repository: the letters of a question, and /sandbox as one dialog.
import json
import shutil

import pytest

import harness
import pi as rig
from tmux import Tmux

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pi")]


@pytest.fixture
def screen(desk, base):
    """pi on a terminal, once its sandbox runs."""
    if shutil.which("tmux") is None:
        pytest.skip("no tmux")
    with Tmux(base, desk.person, desk.project, desk.environment(), columns=110, rows=40) as made:
        cli = desk.package / "node_modules" / rig.PACKAGE / "dist/cli.js"
        made.text(f"{rig.node(desk.package)} {cli} --no-session --offline --provider fake --model fake-1")
        made.keys("Enter")
        made.wait_for("Sandbox: 0 domains")
        yield made


def say(screen, desk, *calls):
    """Returns what waits for the end of that turn: an earlier one's "done" is on the screen still."""
    before = desk.model.finished
    desk.model.script = [[call] for call in calls]
    screen.text("go")
    screen.keys("Enter")
    return lambda: harness.wait_until(lambda: desk.model.finished > before, "the model has heard what came of it")


def test_a_question_has_the_letters_of_the_seed(desk, screen):
    made, never = desk.home / "made", desk.home / "never"
    ended = say(screen, desk, ("bash", {"command": f"echo bash > {made}"}))
    shown = screen.wait_for("[esc]  Abort", f"write {made}")
    for line in ("> [esc]  Abort", "[s]    Allow for this session only", "[P]    Allow for this project",
                 "[A]    Allow for all projects"):
        assert line in shown, shown
    assert "press Enter to confirm" not in shown
    screen.text("p")
    screen.wait_for("> [P]", "press Enter to confirm: Allow for this project")
    assert not made.exists()
    screen.keys("Up")
    screen.wait_for("> [s]", gone=("press Enter",))
    screen.text("s")
    ended()
    screen.wait_for("done", gone=("[esc]",))
    assert made.read_text() == "bash\n" and not (desk.state / "config/projects.json").exists()
    ended = say(screen, desk, ("bash", {"command": f"echo x > {never}"}))
    screen.wait_for("[esc]  Abort", f"write {never}")
    screen.keys("Escape")
    ended()
    screen.wait_for("done", gone=("[esc]",))
    assert not never.exists()
    ended = say(screen, desk, ("bash", {"command": f"echo all > {never}"}))
    screen.wait_for("[esc]  Abort", f"write {never}")
    screen.text("A")
    ended()
    screen.wait_for("done", gone=("[esc]",))
    assert never.read_text() == "all\n" and str(never) in (desk.state / "config/default.json").read_text()


def test_sandbox_is_one_dialog(desk, screen):
    screen.text("/sandbox")
    screen.keys("Enter")
    shown = screen.wait_for("> Disable sandbox", "New project entry", "Edit the default")
    assert "filesystem.allowRead:" in shown and "enter choose" in shown, shown
    screen.keys("Down", "Enter")
    screen.wait_for("> enabled: true", "network.allowedDomains (0)", "s save")
    screen.keys("Down", "Enter")
    screen.wait_for("network.allowedDomains", "a add")
    screen.text("a")
    screen.wait_for("Add to network.allowedDomains: █")
    screen.text("example.org")
    screen.keys("Enter")
    screen.wait_for("> example.org")
    screen.text("a")
    screen.text("not a host!")
    screen.keys("Enter")
    screen.wait_for("not a host!", "> example.org")
    screen.keys("Escape")
    screen.wait_for("> network.allowedDomains (2)")
    screen.text("s")
    screen.wait_for("not a host!", "enter change")
    assert not (desk.state / "config/projects.json").exists(), "what is wrong is said, and not saved"
    screen.keys("Enter", "Down")
    screen.wait_for("> not a host!")
    screen.text("d")
    screen.wait_for("> example.org", gone=("not a host!",))
    screen.text("b")
    screen.wait_for("> network.allowedDomains (1)")
    screen.text("?")
    screen.wait_for("? fewer")
    screen.text("s")
    screen.wait_for("projects.json")
    held = json.loads(desk("config", "show", "--json").ok().text)
    assert held["policy"]["network"]["allowedDomains"] == ["example.org"] and held["project"] == str(desk.project)
    screen.keys("Escape")
    screen.wait_for("> Disable sandbox")
    screen.keys("Escape")
    screen.wait_for("Sandbox: 1 domain", gone=("Disable sandbox",))
    screen.text("/sandbox")
    screen.keys("Enter")
    screen.wait_for("> Disable sandbox")
    screen.keys("Enter")
    screen.wait_for("Sandbox: disabled")
