# `hutch check` says beforehand what an access comes to where somebody is asked.
"""Each row is tried in a run as well, whose questions are answered with no, and once more with yes."""

import pytest

import caller
import harness


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


def make_hidden_links(home, shown, as_user, project):
    leads = {"to-hidden": "one", "to-shown": shown / "one", "twice": "to-shown", "etc": "/etc", "to-sub": "sub",
             "to-directory": shown, "to-project": project, "to-key": as_user.home / ".ssh", "to-mode": "mode",
             "dangling": "none", "loop": "loop", "to-proc": "/proc", "to-null": "/dev/null", "to-tmp": "/tmp"}
    for name, target in leads.items():
        (home / name).symlink_to(target)


FORETOLD = {
    "a hidden file": ("read", "home/one", "ask"),
    "a hidden directory": ("read", "home/sub", "ask"),
    "a hidden directory with a rule in it": ("read", "home", "denied"),
    "a link to a hidden file": ("read", "project/to-it", "ask"),
    "nothing": ("read", "home/none", "denied"),
    "a credential": ("read", "~/.ssh/id_test", "denied"),
    "one that the project shows": ("read", "project/seen", "allowed"),
    "one whose mode forbids it": ("read", "home/mode", "denied"),
    "changing a hidden file": ("write", "home/one", "ask"),
    "changing what is shown": ("write", "shown/one", "ask"),
    "a new name in what is shown": ("write", "shown/new", "ask"),
    "a new name deep in what is hidden": ("write", "home/new", "denied"),
    "a new name nowhere": ("write", "shown/none/new", "denied"),
    "a name that is never written": ("write", "shown/.mcp.json", "denied"),
    "one that a rule denies": ("write", "shown/kept/f", "denied"),
    "a hidden one that a rule denies": ("write", "home/kept", "denied"),
    "a directory with one that a rule denies": ("write", "shown/kept", "denied"),
    "in the project": ("write", "project/new", "allowed"),
    "a hidden link to a hidden file": ("read", "home/to-hidden", "ask"),
    "a hidden link to what is shown": ("read", "home/to-shown", "allowed"),
    "a hidden link to a link": ("read", "home/twice", "allowed"),
    "a hidden link to the system": ("read", "home/etc/passwd", "allowed"),
    "a hidden link to a hidden directory": ("read", "home/to-sub", "ask"),
    "below a hidden link to a hidden directory": ("read", "home/to-sub/f", "ask"),
    "below a hidden link to what is shown": ("read", "home/to-directory/one", "allowed"),
    "a hidden link to the project": ("read", "home/to-project/seen", "allowed"),
    "a hidden link to a credential": ("read", "home/to-key/id_test", "denied"),
    "a hidden link to one whose mode forbids it": ("read", "home/to-mode", "denied"),
    "a hidden link that leads nowhere": ("read", "home/dangling", "denied"),
    "a hidden link to itself": ("read", "home/loop", "denied"),
    "a hidden link to a process": ("read", "home/to-proc/self/status", "denied"),
    "a hidden link to a device": ("read", "home/to-null", "denied"),
    "a hidden link to the host's /tmp": ("read", "home/to-tmp", "denied"),
    "up from what is hidden": ("read", "home/sub/../one", "denied"),
    "up from a hidden link": ("read", "home/to-directory/../one", "denied"),
    "changing by a hidden link": ("write", "home/to-shown", "denied"),
    "changing below a hidden link": ("write", "home/to-directory/one", "denied"),
    "a new name below a hidden link": ("write", "home/to-directory/new", "denied"),
    "changing the project by a hidden link": ("write", "home/to-project/seen", "denied"),
    "changing a hidden file by a hidden link": ("write", "home/to-sub/f", "denied"),
    "up from what is hidden, to change": ("write", "home/sub/../one", "denied"),
}


@pytest.mark.parametrize("row,choice", [(row, choice) for row, (_, _, foretold) in FORETOLD.items()
                                        for choice in (("no", "session") if foretold == "ask" else ("no",))])
def test_check_foretells_who_is_asked(hutch, home, shown, as_user, project, backend, row, choice):
    """Each access is made where somebody may answer."""
    access, target, foretold = FORETOLD[row]
    as_user.write(as_user.home / ".ssh" / "id_test", "key")
    as_user.write(home / "mode", "words").chmod(0)
    as_user.write(home / "sub/f", "words")
    for made in (shown / "one", shown / "kept/f", project / "seen", home / "kept"):
        as_user.write(made, "words")
    (project / "to-it").symlink_to(home / "one")
    make_hidden_links(home, shown, as_user, project)
    first, _, rest = target.partition("/")
    path = {"home": home, "shown": shown, "project": project, "~": as_user.home}[first] / rest
    options = ["--allow-read", str(shown), "--deny-write", str(shown / "kept/f"), "--deny-write", str(home / "kept")]
    checked = hutch("check", "--backend", backend, *options, access, str(path))
    assert checked.text.startswith(f"{foretold}: {access} "), str(checked)
    assert checked.code == (0 if foretold == "allowed" else 1)
    script = f"chmod 700 {path}" if path.is_dir() else f"echo x 3>> {path}"
    if access == "read":
        script = f"ls {path}" if path.is_dir() else f"cat {path}"
    with caller.running(hutch, f"({script}) > /dev/null && echo did it", *options) as (outside, process):
        questions = []
        while (line := outside.next())["type"] != "done":
            if line["type"] == "question":
                questions.append(line["path"])
                outside.say(type="answer", id=line["id"], choice=choice)
        out, err = process.communicate(timeout=harness.PATIENCE)
    goes_on = foretold == "allowed" or choice == "session"
    assert (out == b"did it\n") == goes_on, (out, err)
    assert (questions != []) == (foretold == "ask"), (questions, err)
    assert all(f"({asked})" in checked.text or f" {asked}:" in checked.text for asked in questions), str(checked)
