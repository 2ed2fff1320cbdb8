# Questions about files: what nobody allowed is asked about, and goes on by the answer.
"""The call waits in the kernel; a yes changes what the running sandbox sees, and nothing runs twice."""

import concurrent.futures
import contextlib
import pathlib
import tempfile
import time

import pytest

import caller
import harness
from terminal import Terminal


pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


def answer(outside, kind, path, choice, **more):
    question = outside.line("question")
    assert (question["kind"], question["path"]) == (kind, str(path)), question
    outside.say(type="answer", id=question["id"], choice=choice, **more)
    return question


def reads(process, line):
    harness.wait_until(lambda: process.stdout.readline() == f"{line}\n".encode(), f"it says {line}")


def go_on(process):
    """Past a `read line` of its script."""
    process.stdin.write(b"\n")
    process.stdin.flush()


def finish(process):
    out, err = process.communicate(timeout=harness.PATIENCE)
    return out.decode(), err.decode(), process.returncode


def test_a_hidden_file_is_asked_about_and_read(hutch, home):
    with caller.running(hutch, f"cat {home}/one; echo; cat {home}/one; stat -c %F {home}/one") as (outside, process):
        question = answer(outside, "read", home / "one", "session")
        assert question["rule"].startswith('filesystem.denyRead') and question["exe"].endswith("cat")
        out, err, code = finish(process)
    assert out == "first words\nfirst wordsregular file\n" and code == 0, err


def test_no_is_no_and_is_not_asked_twice(hutch, home):
    script = f"cat {home}/one || cat {home}/one || echo refused"
    with caller.running(hutch, script) as (outside, process):
        answer(outside, "read", home / "one", "no")
        refusals = outside.line("done")["outcome"]["refusals"]
        out, err, _ = finish(process)
    assert out == "refused\n" and err.count("No such file") == 2, err
    assert [one["what"] for one in refusals] == [
        f"reading {home}/one was refused: the answer was no; --allow-read {home}/one allows it"
    ]


def test_programs_that_look_first_are_asked_about_as_well(hutch, home):
    script = (
        f"test -e {home}/one && echo there; cd {home} && pwd; python3 -c \"import os; print(os.listdir('{home}'))\""
    )
    with caller.running(hutch, script) as (outside, process):
        answer(outside, "read", home / "one", "session")
        answer(outside, "read", home, "session")
        out, err, code = finish(process)
    assert out == f"there\n{home}\n['one']\n" and code == 0, err


def test_a_program_there_can_be_run(hutch, home, as_user):
    as_user.write(home / "tool", "#!/bin/sh\necho ran $1\n").chmod(0o755)
    with caller.running(hutch, f"{home}/tool fast") as (outside, process):
        answer(outside, "read", home / "tool", "session")
        out, err, code = finish(process)
    assert out == "ran fast\n" and code == 0, err


def test_what_is_not_there_is_no_question(hutch, home):
    with caller.running(hutch, f"cat {home}/none {home.parent}/nobody/x; cat {home}/one") as (outside, process):
        answer(outside, "read", home / "one", "no")
        finish(process)


def test_a_directory_with_something_closed_in_it_is_asked_about_one_by_one(hutch, home, as_user):
    as_user.write(home / "closed" / "secret", "words")
    as_user.write(home / "open" / "f", "words")
    options = ["--deny-read", str(home / "closed")]
    script = f"ls {home}; ls {home}/open; cat {home}/one; echo; cat {home}/closed/secret || echo closed"
    with caller.running(hutch, script, *options) as (outside, process):
        answer(outside, "read", home / "open", "session")
        answer(outside, "read", home / "one", "session")
        question = answer(outside, "read", home / "closed" / "secret", "no")
        assert question["rule"].startswith("--deny-read")
        out, err, _ = finish(process)
    assert out == "f\nfirst words\nclosed\n", (out, err)


def test_credentials_are_never_asked_about_and_stay_hidden(hutch, as_user, project):
    as_user.write(as_user.home / ".ssh" / "id_test", "key")
    script = f"cat ~/.ssh/id_test; ls -A {as_user.home}; cat ~/.ssh/id_test; echo here > {project}/file && cat file"
    with caller.running(hutch, script) as (outside, process):
        out, err, code = finish(process)
    assert out.endswith("here\n") and ".ssh" not in out and code == 0, (out, err)
    assert err.count("id_test") == 2, err


def test_once_is_for_a_moment(hutch, home):
    with caller.running(hutch, f"cat {home}/one; sleep 3; cat {home}/one || echo gone") as (outside, process):
        answer(outside, "read", home / "one", "once")
        answer(outside, "read", home / "one", "no")
        out, err, _ = finish(process)
    assert out == "first wordsgone\n", err


def test_a_file_is_written_in_a_place_that_is_read_only(hutch, shown):
    script = (
        f"echo one > {shown}/new && echo two >> {shown}/new; cat {shown}/new; mv {shown}/new {shown}/moved; "
        f"rm {shown}/new && echo removed; chmod 600 {shown} || echo mode"
    )
    with caller.running(hutch, script, "--allow-read", str(shown)) as (outside, process):
        answer(outside, "write", shown / "new", "session")
        answer(outside, "write", shown / "moved", "no")
        answer(outside, "write", shown, "no")
        out, err, _ = finish(process)
    assert out == "one\ntwo\nremoved\nmode\n", (out, err)
    assert list(shown.iterdir()) == []
    assert "Read-only file system" in err


def test_a_directory_that_is_granted_is_written_below(hutch, shown):
    script = (
        f"mkdir {shown}/d && cd {shown}/d && echo x > a && mkdir b && mv a b/c && ln -s c b/l && cat b/l && "
        f"rm -r b && ls -A"
    )
    with caller.running(hutch, script, "--allow-read", str(shown)) as (outside, process):
        answer(outside, "write", shown / "d", "session")
        out, err, code = finish(process)
    assert (out, code) == ("x\n", 0), err
    assert (shown / "d").is_dir() and list((shown / "d").iterdir()) == []


def test_names_hold_below_what_is_granted(hutch, shown, as_user):
    as_user.mkdir(shown / "d")
    script = (
        f"touch -d 2001-01-01 {shown}/d && chmod 700 {shown}/d && stat -c '%a %y' {shown}/d | cut -c 1-14; "
        f"cd {shown}/d && echo x > a; echo x > .bashrc || echo named; "
        f"mkdir -p r/.git/hooks; echo x > r/.git/hooks/f || echo hooks"
    )
    with caller.running(hutch, script, "--allow-read", str(shown)) as (outside, process):
        answer(outside, "write", shown / "d", "session")
        out, err, _ = finish(process)
    assert out == "700 2001-01-01\nnamed\nhooks\n", (out, err)
    assert (shown / "d" / "a").read_text() == "x\n" and not (shown / "d" / ".bashrc").exists()


def test_a_directory_in_which_a_rule_closes_something_is_not_granted_for_changes(hutch, shown, as_user):
    """It could be moved away from under the rule."""
    as_user.write(shown / "d" / "keep" / "f", "as it was")
    as_user.mkdir(shown / "d" / "locked")
    script = (
        f"mv {shown}/d {shown}/e; chmod 700 {shown}/d; cd {shown}/d && mv keep moved; rm -r keep; "
        f"mkdir -p locked/x; echo x > a; cat keep/f; ls"
    )
    closed = ["--deny-write", str(shown / "d" / "keep" / "f"), "--deny-write", str(shown / "d" / "locked" / "none")]
    with caller.running(hutch, script, "--allow-read", str(shown), *closed) as (outside, process):
        answer(outside, "write", shown / "d" / "locked" / "x", "no")
        answer(outside, "write", shown / "d" / "a", "session")
        out, err, _ = finish(process)
    assert out == "as it wasa\nkeep\nlocked\n", (out, err)
    assert (shown / "d" / "keep" / "f").read_text() == "as it was" and not (shown / "e").exists()


def test_a_rule_that_came_since_holds_for_what_is_granted(hutch, home, as_user):
    as_user.write(home / "closed" / "secret", "words")
    script = f"echo up; read line; ls {home}; cat {home}/closed/secret || echo closed; cat {home}/one"
    with caller.running(hutch, script) as (outside, process):
        reads(process, "up")
        hutch("config", "add", "filesystem.denyRead", str(home / "closed")).ok()
        go_on(process)
        answer(outside, "read", home / "closed" / "secret", "no")
        answer(outside, "read", home / "one", "session")
        out, err, _ = finish(process)
    assert out == "closed\nfirst words", (out, err)


def test_a_rule_that_came_since_opens_its_place_at_once(hutch, home, as_user):
    for number in range(20):
        as_user.write(home / "many" / str(number), f"{number}")
    script = (
        f"echo up; read line; for i in $(seq 0 19); do cat {home}/many/$i; done; echo; "
        f"grep -c ' {home}/' /proc/self/mountinfo"
    )
    with caller.running(hutch, script) as (outside, process):
        reads(process, "up")
        hutch("config", "add", "filesystem.allowRead", str(home / "many")).ok()
        go_on(process)
        out, err, _ = finish(process)
    assert out == "".join(str(number) for number in range(20)) + "\n1\n", (out, err)


def test_a_rule_that_closes_something_ends_what_was_granted_above(hutch, home, as_user):
    as_user.write(home / "closed" / "secret", "words")
    script = f"ls {home}; cat {home}/closed/secret; echo; read line; cat {home}/closed/secret || echo closed; ls {home}"
    with caller.running(hutch, script) as (outside, process):
        answer(outside, "read", home, "session")
        reads(process, "closed")
        reads(process, "one")
        reads(process, "words")
        hutch("config", "add", "filesystem.denyRead", str(home / "closed")).ok()
        go_on(process)
        answer(outside, "read", home / "closed" / "secret", "no")
        out, err, _ = finish(process)
    assert out == "closed\n", (out, err)
    assert "cannot access" in err or "cannot open" in err, err


@pytest.mark.parametrize("key", ["denyWrite", "ask"])
def test_a_rule_that_comes_while_it_is_asked_about_is_the_answer(hutch, shown, key):
    """Nobody could say yes to it any more."""
    script = f"echo x > {shown}/new || echo refused"
    with caller.running(hutch, script, "--allow-read", str(shown)) as (outside, process):
        asked = outside.line("question")
        words = ["add", "filesystem.denyWrite", str(shown / "new")] if key == "denyWrite" else ["set", "ask", "false"]
        hutch("config", *words).ok()
        answered = outside.line("answered")
        assert (answered["id"], answered["choice"], answered["by"]) == (asked["id"], "no", "your policy")
        out, err, _ = finish(process)
    assert out == "refused\n" and not (shown / "new").exists(), (out, err)


def test_a_rule_that_goes_closes_its_place_again(hutch, home):
    script = f"echo up; read line; cat {home}/one; echo; read line; cat {home}/one || echo closed"
    with caller.running(hutch, script) as (outside, process):
        reads(process, "up")
        hutch("config", "add", "filesystem.allowRead", str(home)).ok()
        go_on(process)
        reads(process, "first words")
        hutch("config", "remove", "filesystem.allowRead", str(home)).ok()
        go_on(process)
        answer(outside, "read", home / "one", "no")
        out, err, _ = finish(process)
    assert out == "closed\n", (out, err)


def test_rules_about_writing_hold_at_once(hutch, project, as_user):
    """Where nobody is asked as well."""
    inner = as_user.mkdir(project / "inner")
    script = (
        "echo x > k.pem && echo x > plain && echo up; read line; echo y >> k.pem || echo pem; echo y >> plain || "
        "echo plain; echo y > new && echo new; read line; echo z >> k.pem && echo again; "
        f"read line; echo w > {inner}/f && echo in; echo w > new || echo closed"
    )
    process = hutch.popen("sh", "-c", script)
    with process:
        reads(process, "up")
        hutch("config", "add", "filesystem.denyWrite", "**/*.pem").ok()
        hutch("config", "add", "filesystem.denyWrite", str(project / "plain")).ok()
        go_on(process)
        for line in ("pem", "plain", "new"):
            reads(process, line)
        hutch("config", "remove", "filesystem.denyWrite", "**/*.pem").ok()
        go_on(process)
        reads(process, "again")
        hutch("config", "add", "filesystem.allowWrite", str(inner)).ok()
        hutch("config", "remove", "filesystem.allowWrite", ".").ok()
        go_on(process)
        out, err, _ = finish(process)
    assert out == "in\nclosed\n", (out, err)
    assert (project / "k.pem").read_text() == "x\nz\n" and (project / "plain").read_text() == "x\n"
    assert (project / "new").read_text() == "y\n"


def test_a_link_of_the_host_does_not_show_what_is_closed_below(hutch, home, shown, as_user):
    as_user.write(shown / "d" / "closed", "words")
    as_user.write(shown / "d" / "open", "words")
    (home / "link").symlink_to(shown)
    (home / "inner").symlink_to(shown / "d" / "open")
    script = f"ls {home}/link/d; cat {home}/link/d/closed || echo closed; cat {home}/inner"
    options = ["--allow-read", str(shown), "--deny-read", str(shown / "d" / "closed")]
    with caller.running(hutch, script, *options) as (outside, process):
        answer(outside, "read", shown / "d" / "closed", "no")
        out, err, _ = finish(process)
    assert out == "closed\nwords", (out, err)


def test_what_is_shown_for_a_moment_ends_with_the_directory_above(hutch, home):
    script = f"cat {home}/one; ls {home}; cat {home}/one; sleep 3; cat {home}/one || echo gone"
    with caller.running(hutch, script) as (outside, process):
        answer(outside, "read", home / "one", "once")
        answer(outside, "read", home, "once")
        answer(outside, "read", home / "one", "no")
        out, err, _ = finish(process)
    assert out == "first wordsone\nfirst wordsgone\n", (out, err)


def test_what_is_taken_back_is_granted_again(hutch, home):
    script = f"for i in 1 2 3; do ls {home}/; read line; done; ls {home} || echo gone"
    with caller.running(hutch, script) as (outside, process):
        for _ in range(3):
            answer(outside, "read", home, "session")
            reads(process, "one")
            outside.say(type="revoke", host=str(home))
            assert outside.line("revoked")["grants"] == 1
            go_on(process)
        answer(outside, "read", home, "no")
        out, err, _ = finish(process)
    assert out.endswith("gone\n"), (out, err)


def test_a_directory_made_like_a_hidden_one_is_no_mount(hutch, shown):
    """What is mounted where the sandbox says would be unmounted there: it could name a mount that holds it."""
    script = (
        f"mkdir {shown}/d && cd {shown}/d && mkdir -p x/sys && touch x/file && chmod 111 x/sys && chmod 0 x/file; "
        f"ls x/sys; cat x/file; grep -c ' {shown}/d/x' /proc/self/mountinfo; true"
    )
    with caller.running(hutch, script, "--allow-read", str(shown)) as (outside, process):
        answer(outside, "write", shown / "d", "session")
        out, err, code = finish(process)
    assert (out, code) == ("0\n", 0), (out, err)


def test_what_a_rule_closes_is_closed_as_it_is_by_now(hutch, home, as_user):
    """Replaced outside, and made only then."""
    closed, later = home / "closed", home / "later"
    as_user.write(closed, "words")
    script = f"echo up; read line; ls {home}; cat {closed} || echo closed; cat {later} || echo closed"
    options = ["--deny-read", str(closed), "--deny-read", str(later)]
    with caller.running(hutch, script, *options) as (outside, process):
        reads(process, "up")
        as_user.write(home / "other", "words").rename(closed)
        as_user.write(later, "words")
        go_on(process)
        answer(outside, "read", closed, "no")
        answer(outside, "read", later, "no")
        out, err, code = finish(process)
    assert (out, code) == ("closed\nclosed\n", 0), (out, err)


def test_a_new_file_in_a_hidden_home(hutch, as_user, project):
    """It is the private home's, which nobody has to be asked about."""
    name = f"new-{project.name}"
    with caller.running(hutch, f"echo words > ~/{name} && cat ~/{name}") as (_, process):
        out, err, code = finish(process)
    assert (out, code) == ("words\n", 0), err
    assert not (as_user.home / name).exists()


def test_a_new_file_in_a_hidden_directory_above_the_project(hutch, project):
    new = project.parent / f"new-{project.name}"
    try:
        with caller.running(hutch, f"echo words > {new} && cat {new}") as (outside, process):
            question = answer(outside, "write", new, "session")
            assert question["rule"].startswith("filesystem.denyRead")
            out, err, code = finish(process)
        assert (out, code) == ("words\n", 0), err
        assert new.read_text() == "words\n"
    finally:
        new.unlink(missing_ok=True)


def test_a_file_that_its_own_rule_hides_is_written(hutch, home):
    with caller.running(hutch, f"echo more >> {home}/one && cat {home}/one", "--deny-read", str(home / "one")) as (
            outside, process):
        answer(outside, "write", home / "one", "session")
        out, err, _ = finish(process)
    assert out == "first wordsmore\n", (out, err)


def test_a_name_that_cannot_be_shown_is_not_asked_about(hutch, shown, as_user):
    script = f"touch \"$(printf '{shown}/\\377')\" || echo refused; touch {shown}/ok"
    with caller.running(hutch, script, "--allow-read", str(shown)) as (outside, process):
        answer(outside, "write", shown / "ok", "no")
        out, err, _ = finish(process)
    assert out == "refused\n", (out, err)


def test_a_long_way_of_links_makes_nobody_wait(hutch, home):
    script = f"""cd /tmp && mkdir -p $(printf 'd/%.0s' $(seq 900)) && cd $(printf 'd/%.0s' $(seq 900)) &&
ln -s $(printf 'm/%.0s' $(seq 900)) l0 && for i in 1 2 3 4 5 6 7 8 9; do ln -s l$((i-1)) l$i; done
date +%s.%N; stat -L l9/x; date +%s.%N; cat {home}/one"""
    with caller.running(hutch, script) as (outside, process):
        answer(outside, "read", home / "one", "no")
        out, err, _ = finish(process)
    began, ended = (float(line) for line in out.split())
    assert ended - began < 2, (out, err)


def test_what_denies_writing_is_never_asked_about(hutch, shown, as_user):
    as_user.write(shown / "kept", "as it was")
    options = ["--allow-read", str(shown), "--deny-write", str(shown / "kept")]
    script = f"echo x > {shown}/kept; echo x > {shown}/.mcp.json; cat {shown}/kept"
    with caller.running(hutch, script, *options) as (outside, process):
        out, err, _ = finish(process)
    assert out == "as it was" and err.count("Read-only file system") >= 2, err
    assert not (shown / ".mcp.json").exists()


def test_a_saved_answer_holds_from_then_on(hutch, home, project):
    with caller.running(hutch, f"cat {home}/one; cat {home}/one") as (outside, process):
        answer(outside, "read", home / "one", "project")
        out, err, _ = finish(process)
    assert out == "first words" * 2, err
    assert hutch.sh(f"cat {home}/one").ok().text == "first words"


def test_the_directory_of_a_saved_answer_can_be_allowed(hutch, home):
    with caller.running(hutch, f"cat {home}/one; echo; ls {home}; cat {home}/one") as (outside, process):
        answer(outside, "read", home / "one", "project")
        answer(outside, "read", home, "session")
        out, err, code = finish(process)
    assert (out, code) == ("first words\none\nfirst words", 0), err


def test_a_permission_is_taken_back(hutch, home):
    script = f"cat {home}/one; echo; read line; cat {home}/one || echo gone"
    with caller.running(hutch, script) as (outside, process):
        answer(outside, "read", home / "one", "session")
        reads(process, "first words")
        outside.say(type="revoke", host=str(home / "one"))
        assert outside.line("revoked")["grants"] == 1
        go_on(process)
        answer(outside, "read", home / "one", "no")
        out, err, _ = finish(process)
    assert out == "gone\n", err


def test_without_anybody_to_ask_nothing_waits(hutch, home):
    began = time.monotonic()
    assert hutch.sh(f"cat {home}/one").code != 0
    assert time.monotonic() - began < harness.PATIENCE / 2


def test_killed_while_it_is_asked_about(hutch, home):
    with caller.running(hutch, f"timeout -s KILL 1 cat {home}/one; echo $?; cat {home}/one") as (outside, process):
        first = outside.line("question")
        reads(process, "137")
        outside.say(type="answer", id=first["id"], choice="session")
        out, err, _ = finish(process)
    assert out == "first words", err


def test_many_wait_for_one_answer(hutch, home):
    script = f"for i in 1 2 3 4 5 6; do cat {home}/one & done; wait"
    with caller.running(hutch, script) as (outside, process):
        answer(outside, "read", home / "one", "session")
        out, err, _ = finish(process)
    assert out == "first words" * 6, err


@pytest.fixture
def below_tmp(as_user):
    """A project in /tmp, which is the sandbox's own in there: it can move the directory above."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        pathlib.Path(made).chmod(0o755)
        as_user.own(pathlib.Path(made))
        directory = as_user.mkdir(pathlib.Path(made) / "project")
        as_user.write(directory / "secret", "words")
        yield directory


def test_what_is_moved_while_it_is_shown_ends_and_nothing_else_does(hutch, below_tmp):
    """Where it was shown there is the cover of the very file by then, which must stay; or hutch looks in between, finds
    no cover at its place, and ends it all."""
    above, secret = below_tmp.parent, below_tmp / "secret"
    script = (
        f"mv {above} {above}.a && mkdir -p {below_tmp} && cat {secret} && echo; "
        f"mv {above} {above}.b && mv {above}.a {above} && sleep 3; "
        f"cat {secret} || echo hidden; cat {above}.b/project/secret || echo gone"
    )
    options = ["--allow-read", str(below_tmp), "--deny-read", str(secret)]
    with caller.running(hutch, script, *options) as (outside, process):
        answer(outside, "read", secret, "once")
        with contextlib.suppress(AssertionError):  # the channel closes where it is ended
            outside.refuse_all()
        out, err, _ = finish(process)
    ended = out == "words\n" and "its protection went with it" in err
    assert ended or out == "words\nhidden\ngone\n", (out, err)


def test_a_person_at_the_terminal_answers_by_keys(hutch, home, backend):
    script = f"cat {home}/one && echo read; cat {home}/one"
    argv = [hutch.program, "run", "--backend", backend, "--", "sh", "-c", script]
    with Terminal(hutch.person, argv, cwd=hutch.cwd) as terminal:
        terminal.read_until(b"no answer in")
        assert b"asked by" in terminal.seen
        terminal.send("s")
        assert terminal.wait() == 0
        assert terminal.seen.count(b"first words") == 2


def test_escape_at_the_terminal_is_no(hutch, home, backend):
    argv = [hutch.program, "run", "--backend", backend, "--", "sh", "-c", f"cat {home}/one || echo refused"]
    with Terminal(hutch.person, argv, cwd=hutch.cwd) as terminal:
        terminal.read_until(b"no answer in")
        terminal.send("\x1b")
        terminal.read_until(b"\nrefused")
        assert terminal.wait() == 0


def test_a_terminal_is_left_as_it_was_found(hutch, home, backend):
    """Also where the command asks before hutch has heard of its terminal: then the prompt is there first."""
    def left(_):
        argv = [hutch.program, "run", "--backend", backend, "--", "cat", str(home / "one")]
        with Terminal(hutch.person, argv, cwd=hutch.cwd) as terminal:
            terminal.read_until(b"no answer in")
            terminal.send("s")
            terminal.read_until(b"first words")
            return terminal.wait() == 0 and terminal.attributes() == terminal.found
    # Which is first is a race, that the prompt wins on a busy machine.
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(left, range(32)))
