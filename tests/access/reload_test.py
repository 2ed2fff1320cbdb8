# Policies that change while a command is asked about files: it goes on, and what does not hold is told.
import contextlib
import json
import threading

import caller
import harness
import pytest


pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


def finish(process):
    out, err = process.communicate(timeout=harness.PATIENCE)
    return out.decode(), err.decode(), process.returncode


def test_many_questions_while_rules_come_and_go(hutch, home, project, as_user):
    """Each is answered, and nothing that the rules are not about is lost."""
    for number in range(40):
        as_user.write(home / f"f{number}", f"{number}\n")
    as_user.write(project / "d/secret", "words")
    stop = threading.Event()
    errors = []

    def change():
        while not stop.is_set():
            for word in ("add", "remove"):
                said = hutch("config", word, "filesystem.denyRead", str(project / "d"))
                if said.code != 0:
                    errors.append(str(said))

    script = f"for i in $(seq 0 39); do cat {home}/f$i || exit 3; done; cat {project}/d/* >/dev/null 2>&1; exit 7"
    with caller.running(hutch, script, "--deny-read", str(project / "d/secret")) as (outside, process):
        changer = threading.Thread(target=change)
        changer.start()
        try:
            while (line := outside.next())["type"] != "done":
                if line["type"] == "question":
                    with contextlib.suppress(OSError):  # the command's last one may be over by now
                        outside.say(type="answer", id=line["id"], choice="session")
            outcome = line["outcome"]
        finally:
            stop.set()
            changer.join()
        out, err, code = finish(process)
    assert errors == []
    assert (out, code) == ("".join(f"{number}\n" for number in range(40)), 7), (out, err, outcome)


def test_a_rule_that_cannot_hold_once_an_answer_was_saved_is_told(hutch, home, project, as_user):
    """The answer is written down, the policies cannot be applied: the command goes on as it was, and says so."""
    as_user.mkdir(project / "inside")
    (project / "link").symlink_to("inside")
    hutch("config", "add", "filesystem.allowWrite", "./link").ok()
    try:
        with caller.running(hutch, f"cat {home}/one || echo no; true") as (outside, process):
            question = outside.line("question")
            (project / "link").unlink()
            (project / "link").symlink_to("/root")
            outside.say(type="answer", id=question["id"], choice="everywhere")
            told = [outside.line("violation")["what"] for _ in range(2)]
            outcome = outside.line("done")["outcome"]
            out, err, code = finish(process)
    finally:
        hutch("config", "remove", "filesystem.allowWrite", "./link").ok()
        hutch("config", "remove", "filesystem.allowRead", str(home / "one"), "--scope", "default")
    assert (out, code) == ("no\n", 0), (out, err)
    assert any("was saved, and the policy does not hold" in one and "./link" in one for one in told), told
    assert any("no more of the host's files is opened" in one for one in told), told
    assert all(one in err for one in told), (told, err)
    assert [one["what"] for one in outcome["refusals"]] and set(told) <= {one["what"] for one in outcome["refusals"]}
    assert all(one in hutch("log", "--json").ok().text for one in map(json.dumps, told))
