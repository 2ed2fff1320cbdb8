# Every way in which the sandbox can be missing: pi's tools and its user's commands are refused, with the remedy.
import contextlib
import http.server
import json
import os
import shutil
import socketserver
import threading

import pytest

import clients
import desks
import harness
import pi as rig
from api import wait_until

slow = pytest.mark.slow
pytestmark = pytest.mark.xdist_group("pi")


def without(*names):
    """The package with something of it missing."""
    def change(desk):
        package = desk.extensions / "hutch-pi"
        for name in names:
            shutil.rmtree(package / name)
        return {}
    return change


def sources(desk):
    """What is in the repository, as who takes that for the package has it."""
    shutil.rmtree(desk.extensions / "hutch-pi")
    shutil.copytree(clients.FOLDER / "pi", desk.extensions / "hutch-pi")
    return {}


def no_program(_):
    return {"HUTCH_PROGRAM": "/nowhere/hutch"}


def old_program(desk):
    desk.person.write(desk.home / "old", "#!/bin/sh\necho \"hutch: no verb '$1'\" >&2\nexit 125\n", mode=0o755)
    return {"HUTCH_PROGRAM": str(desk.home / "old")}


def no_state(desk):
    """A daemon cannot start: its state is no directory."""
    return {"HUTCH_STATE": str(desk.person.write(desk.home / "file", ""))}


def broken(file):
    def change(desk):
        desk.person.write(desk.person.mkdir(desk.state / "config") / file, "{ broken")
        return {}
    return change


WHOLE_PACKAGE = "hutch clients install pi"
WAYS = {
    "dist": (without("dist"), WHOLE_PACKAGE),
    "sdk": (without("node_modules"), WHOLE_PACKAGE),
    "sources": (sources, WHOLE_PACKAGE),
    "program": (no_program, "name another by HUTCH_PROGRAM"),
    "old-program": (old_program, "no verb 'agent'"),
    "no-daemon": (no_state, "could not be started"),
    "policy": (broken("default.json"), "default.json"),
    "settings": (broken("config.json"), "config.json"),
}
QUICK = ("dist", "program")


def expect_refused(desk, pi, remedy):
    assert "refused" in pi.status.get("hutch", "") and any(remedy in note for note in pi.notes), (pi.status, pi.notes)
    victim = desk.project / "victim"
    outcomes = pi.tools(
        ("bash", {"command": f"touch {victim}"}), ("write", {"path": str(victim), "content": "x"}),
        ("read", {"path": str(desk.home / "secret")}), ("ls", {"path": str(desk.home)}),
        ("find", {"pattern": "secret", "path": str(desk.home)}),
        ("grep", {"pattern": "theirs", "path": str(desk.home)}),
        ("edit", {"path": str(desk.home / "secret"), "edits": [{"oldText": "theirs", "newText": "mine"}]}))
    # ls, find and grep are there when an extension brings them.
    told = [one.error() for one in outcomes if "not found" not in one.error()]
    assert len(outcomes) == 7 and len(told) >= 4, [one.text for one in outcomes]
    assert all("hutch: no sandbox" in text and remedy in text for text in told), told
    answer = pi.bash(f"touch {victim}")
    assert not answer["success"] or answer["data"].get("exitCode") not in (0,), answer
    assert not victim.exists() and (desk.home / "secret").read_text() == "theirs"


@pytest.mark.parametrize("how", [name if name in QUICK else pytest.param(name, marks=slow) for name in WAYS])
def test_without_it_nothing_runs(desk, how):
    change, remedy = WAYS[how]
    pi = desk.pi(**change(desk))
    expect_refused(desk, pi, remedy)


@slow
def test_the_sources_installed_by_pi_itself(base, person, package):
    """`pi install clients/pi`, which says that it is installed."""
    desk = desks.Desk(base, person, package)
    place = desk.home / "sources"
    shutil.copytree(clients.FOLDER / "pi", place)
    with desk.model:
        try:
            cli = package / "node_modules" / rig.PACKAGE / "dist/cli.js"
            harness.run_in(person, [rig.node(package), cli, "install", place], env=desk.environment(),
                           cwd=desk.project).ok()
            expect_refused(desk, desk.pi(), WHOLE_PACKAGE)
        finally:
            desk.end()


@slow
def test_a_broken_package_obeys_the_word_that_lifts_it(desk):
    without("dist")(desk)
    pi = desk.pi("--no-sandbox")
    assert pi.status["hutch"] == "Sandbox: disabled"
    assert pi.tool("bash", command="echo \"[$HUTCH_AGENT]\"").ok() == "[]\n"


class OldDaemon(http.server.BaseHTTPRequestHandler):
    """One of before, which has sessions, and would run what it is told."""

    def do_GET(self):
        self.answer({"status": "ok", "version": "0.0.9"})

    def do_POST(self):
        self.server.asked.append(self.path)
        self.answer({})

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "a socket"

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def old_daemon(desk):
    place = desk.person.mkdir(desk.state / "run", mode=0o700)
    with socketserver.ThreadingUnixStreamServer(str(place / "hutch.sock"), OldDaemon) as server:
        server.asked = []
        desk.person.own(place / "hutch.sock")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.asked
        server.shutdown()


@slow
def test_an_old_daemon_is_told_nothing(desk):
    with old_daemon(desk) as asked:
        pi = desk.pi()
        expect_refused(desk, pi, "hutch daemon stop")
        assert any("hutch is 0.0.9, older than this package" in note for note in pi.notes), pi.notes
        assert asked == []


@slow
def test_its_socket_is_deleted_in_the_middle(desk):
    """The daemon puts it back; what could not be reached meanwhile is refused."""
    pi = desk.pi()
    os.unlink(next(desk.state.rglob("hutch.sock")))
    victim = desk.home / "victim"
    outcomes = pi.tools(*[("bash", {"command": f"echo $HUTCH_AGENT; sleep 0.5; touch {victim} || true"})] * 3)
    for outcome in outcomes:
        assert "hutch: " in outcome.text if outcome.failed else outcome.text.startswith("session-"), outcome.text
    assert not victim.exists() and not outcomes[-1].failed and pi.status["hutch"].startswith("🔒")


@slow
def test_the_daemon_and_then_the_program_go(desk):
    """Nothing can be started again: each tool says so, and how it is mended."""
    copied = desk.person.mkdir(desk.home / "bin")
    for program in desk.hutch.parent.iterdir():
        if program.is_file():
            shutil.copy2(program, copied)
    pi = desk.pi(HUTCH_PROGRAM=str(copied / "hutch"))
    assert pi.tool("bash", command="echo $HUTCH_AGENT").ok().startswith("session-")
    desk("daemon", "stop").ok()
    wait_until(lambda: "refused" in pi.status["hutch"])
    shutil.rmtree(copied)
    outcomes = pi.tools(("bash", {"command": "echo x"}), ("read", {"path": str(desk.home / "secret")}))
    assert all("name another by HUTCH_PROGRAM" in one.error() for one in outcomes), [one.text for one in outcomes]
