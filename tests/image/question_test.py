# Questions about files with an image: what of the host is in it, or would be in the home, is asked about.
import contextlib
import os
import socket

import caller
import harness
import pytest


@contextlib.contextmanager
def running(box, *command, options=()):
    """caller.running with the small system's program, which takes several commands with "," between them."""
    ours, its = socket.socketpair()
    with ours, its:
        words = ["--image", "small", "--control-fd", str(its.fileno()), *options]
        process = box.popen("/bin/sys", *map(str, command), options=words, pass_fds=[its.fileno()])
        its.close()
        with process:
            outside = caller.Caller(ours)
            yield outside, process
            outside.file.close()


def answer(outside, kind, path, choice):
    question = outside.line("question")
    assert (question["kind"], question["path"]) == (kind, str(path)), question
    outside.say(type="answer", id=question["id"], choice=choice)


def finish(process):
    out, err = process.communicate(timeout=harness.PATIENCE)
    return out.decode(), err.decode()


@pytest.fixture
def beside(as_user, project):
    """A directory of the home that no rule names."""
    made = as_user.mkdir(as_user.home / f"beside-{project.name}")
    as_user.write(made / "one", "first words")
    return made


pytestmark = pytest.mark.usefixtures("image")


def test_a_hidden_file_of_the_project_is_asked_about(box, project, as_user):
    as_user.write(project / "secret", "words")
    as_user.write(project / "d/inner", "inner")
    commands = ["cat", project / "secret", ",", "cat", project / "d/inner"]
    options = ["--deny-read", str(project / "secret"), "--deny-read", str(project / "d")]
    with running(box, *commands, options=options) as (outside, process):
        answer(outside, "read", project / "secret", "session")
        answer(outside, "read", project / "d/inner", "no")
        out, err = finish(process)
    assert out == "wordsNo such file or directory\n", err


def test_a_file_of_the_home_is_asked_about(box, beside):
    commands = ["cat", beside / "one", ",", "cat", beside / "none", ",", "write", beside / "mine", "x",
                ",", "cat", beside / "mine"]
    with running(box, *commands) as (outside, process):
        answer(outside, "read", beside / "one", "session")
        out, err = finish(process)
    assert out == "first wordsNo such file or directory\nx", err
    assert not (beside / "mine").exists(), "the home is private"


def test_a_place_that_is_read_only_is_asked_about_and_changed(box, beside, as_user):
    commands = ["write", beside / "one", "new", ",", "write", beside / "two", "second", ",", "write", beside / "x", "x"]
    with running(box, *commands, options=["--allow-read", str(beside)]) as (outside, process):
        answer(outside, "write", beside / "one", "session")
        answer(outside, "write", beside / "two", "once")
        answer(outside, "write", beside / "x", "no")
        out, err = finish(process)
    assert out == "Read-only file system\n", err
    assert (beside / "one").read_text() == "new" and (beside / "two").read_text() == "second"
    assert {(beside / name).stat().st_uid for name in ("one", "two")} == {as_user.uid}


def test_what_is_the_images_own_is_not_asked_about(box, beside):
    """Of the host's system nothing is in it, whatever lies there outside."""
    commands = ["cat", "/etc/passwd", ",", "cat", "/etc/hostname", ",", "cat", "/root/.profile", ",",
                "cat", "/usr/bin/env", ",", "write", "/etc/new", "x", ",", "cat", beside / "one"]
    with running(box, *commands) as (outside, process):
        answer(outside, "read", beside / "one", "no")
        finish(process)


def test_a_link_of_the_host_shows_nothing_of_its_system(box, beside):
    os.symlink("/etc/passwd", beside / "link")
    commands = ["cat", beside / "link", ",", "cat", beside / "one"]
    with running(box, *commands) as (outside, process):
        answer(outside, "read", beside / "one", "session")
        out, err = finish(process)
    assert out == "No such file or directory\nfirst words", err


def test_credentials_are_not_asked_about(box, beside, as_user):
    as_user.write(as_user.home / ".aws/credentials", "key")
    commands = ["cat", as_user.home / ".aws/credentials", ",", "cat", beside / "one"]
    with running(box, *commands) as (outside, process):
        answer(outside, "read", beside / "one", "session")
        out, err = finish(process)
    assert out == "No such file or directory\nfirst words", err


def test_a_permission_ends_wherever_the_sandbox_has_moved_it(box, beside):
    moved = f"{beside}-moved"
    commands = ["cat", beside / "one", ",", "move", beside, moved, ",", "cat", f"{moved}/one", ",", "wait", "3", ",",
                "cat", f"{moved}/one"]
    with running(box, *commands) as (outside, process):
        answer(outside, "read", beside / "one", "once")
        out, err = finish(process)
    assert out == "first wordsfirst wordsNo such file or directory\n", err


def test_what_covers_stays_where_a_permission_is_moved_to(box, beside, as_user):
    """The home is the sandbox's own: it moves what lies above a mount of the host's, and back while one is shown. Where
    hutch looks in between, and finds no cover at its place, that is the sandbox's end."""
    secret = as_user.write(beside / "deep/given/secret", "words")
    deep, apart = beside / "deep", f"{beside}/apart"
    commands = ["move", deep, apart, ",", "mkdir", deep, ",", "mkdir", deep / "given", ",", "cat", secret, ",",
                "move", deep, f"{beside}/shown", ",", "move", apart, deep, ",", "wait", "3", ",", "cat", secret, ",",
                "cat", f"{beside}/shown/given/secret"]
    options = ["--allow-read", str(deep / "given"), "--deny-read", str(secret)]
    with running(box, *commands, options=options) as (outside, process):
        # The end may come before the question.
        with contextlib.suppress(AssertionError):
            answer(outside, "read", secret, "once")
        outside.refuse_all()
        out, err = finish(process)
    ended = out in ("", "words") and "its protection went with it" in err
    assert ended or out == "wordsPermission denied\nNo such file or directory\n", (out, err)
