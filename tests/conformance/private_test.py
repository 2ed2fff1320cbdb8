# filesystem.private: directories of the sandbox's own among a person's files.
import json

import pytest

BACKENDS = ["bwrap", "namespace"]


@pytest.fixture(params=BACKENDS)
def place(request, hutch, project, as_user):
    """run(SCRIPT, LISTS...) in a project whose directory `kept` holds a file `old`; the policy's lists of files."""
    as_user.write(project / "kept" / "old", "theirs")

    def run(script, lists=None, **options):
        files = {"denyRead": [], "allowRead": ["."], "allowWrite": ["."], "private": ["kept"], **(lists or {})}
        policy = as_user.write(project.parent / f"{project.name}-policy.json", json.dumps({"filesystem": files}))
        return hutch.run("sh", "-c", script, options=["--policy", policy], backend=request.param, cwd=project,
                         **options)

    run.project, run.person = project, as_user
    return run


def test_it_is_empty_and_what_is_written_is_gone(place):
    script = "ls -A kept; echo new > kept/new && mkdir kept/deep && cat kept/new; echo mine > beside"
    assert place(script).ok().text == "new\n"
    assert sorted(entry.name for entry in (place.project / "kept").iterdir()) == ["old"]
    assert (place.project / "kept" / "old").read_text() == "theirs"
    assert (place.project / "beside").read_text() == "mine\n"


def test_it_cannot_be_taken_away(place):
    script = "mv kept away; rmdir kept; rm -rf kept; ls -A kept; umount kept; cat kept/old; echo end"
    assert place(script).ok().text == "end\n"
    assert (place.project / "kept" / "old").read_text() == "theirs"


def test_what_is_allowed_in_it_by_name_is_shown(place):
    place.person.write(place.project / "kept" / "shown" / "file", "shown")
    result = place("ls -A kept; cat kept/shown/file; echo x > kept/shown/file", {"allowRead": [".", "kept/shown"]})
    assert result.text == "shown\nshown" and place("cat kept/shown/file").code == 1


def test_an_absent_one_is_told_and_made_by_nobody(place):
    script = ("echo there; mkdir nowhere; mkdir -p nowhere/deep; echo x > nowhere; ln -s kept nowhere;"
              " mkdir other && mv other nowhere; ls -A")
    result = place(script, {"private": ["nowhere"]})
    assert result.ok().text == "there\nkept\nother\n" and "nowhere" in result.errors
    assert sorted(entry.name for entry in place.project.iterdir()) == ["kept", "other"]


@pytest.mark.parametrize("entry, why", [("file", "no directory"), ("/", "/"), ("/proc", "cannot hold")])
def test_what_can_be_none_is_an_error(place, entry, why):
    place.person.write(place.project / "file", "x")
    refused = place("echo ran", {"private": [entry]})
    assert refused.code == 125 and why in refused.errors and refused.text == "", str(refused)
