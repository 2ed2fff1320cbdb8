# Started in a home, above it, or among other projects: a question, a refusal, or a choice; and what stays closed there.
import json

import caller
import harness
import pytest
from terminal import Terminal

SHELLS = [".bashrc", ".zshenv", ".profile", ".bash_aliases"]
ABSENT = [".ssh/authorized_keys", ".config/autostart/x.desktop", ".config/systemd/user/x.service", ".local/bin/git",
          ".pam_environment", ".config/git/config", ".xprofile", ".local/lib/python3.11/site-packages/usercustomize.py",
          ".config/environment.d/x.conf", "bin/ls", ".config/fish/config.fish", ".forward", "tools/on-path/git"]


@pytest.fixture(params=["namespace", "bwrap"])
def supervised(request):
    return request.param


@pytest.fixture
def home(as_user, project):
    """A home of its own, with a directory of PATH in it."""
    made = as_user.mkdir(project.parent / f"{project.name}-home")
    as_user.mkdir(made / "tools/on-path")
    return made


@pytest.fixture
def run(hutch, home, supervised):
    def call(script, *options, cwd=home, env=None):
        return hutch.run("sh", "-c", script, options=options, cwd=cwd, backend=supervised,
                         env={"HOME": str(home), "PATH": f"{home}/tools/on-path:{harness.PATH}", **(env or {})})

    return call


def attempts(names):
    return "; ".join(f"mkdir -p $(dirname {name}); echo evil > {name}" for name in names)


def test_a_start_there_is_refused_where_nobody_is(run, home, as_user, project):
    many = as_user.mkdir(project / "src")
    for number in range(4):
        as_user.mkdir(many / str(number) / ".git")
    for place, why in ((home, "is your home"), (home.parent, "holds your home"), ("/", "holds your home"),
                       (many, "holds 4 or more repositories")):
        result = run("echo ran > ran", cwd=place)
        assert result.code == 125 and why in result.errors and "--wide" in result.errors, str(result)
    assert not (home / "ran").exists() and not (many / "ran").exists()


def test_what_is_a_project_starts(run, home, as_user, project):
    for number in range(5):
        as_user.mkdir(project / "modules" / str(number) / ".git")
    as_user.mkdir(project / "modules/.git")
    as_user.mkdir(project / "three")
    for number in range(3):
        as_user.mkdir(project / "three" / str(number) / ".git")
    for place in (project, project / "modules", project / "three", as_user.mkdir(home / "p")):
        run("true", cwd=place).ok()


def test_one_who_means_it_starts(run, home):
    run("echo one > one; echo two > .myrc; mkdir .config; echo x > .config/app.conf", "--wide").ok()
    assert (home / "one").exists() and (home / ".myrc").exists() and (home / ".config/app.conf").exists()


def test_what_is_named_was_meant(run, home, as_user, project):
    as_user.write(project / "p.json", json.dumps({"filesystem": {"allowWrite": [str(home)], "denyRead": ["/home"]}}))
    run("echo one > one", "--policy", str(project / "p.json")).ok()
    assert (home / "one").exists()


def test_names_of_a_home_stay_closed_where_nobody_is(run, home):
    result = run(attempts(ABSENT + SHELLS), "--wide")
    for name in ABSENT + SHELLS:
        assert not (home / name).exists(), name
    assert result.code != 0
    result = run(attempts([".ssh/authorized_keys", ".bashrc"]), "--wide")
    assert f"{home}/.ssh was refused" in result.errors and f"{home}/.bashrc was refused" in result.errors


def test_those_that_are_there_stay_as_they_are(run, home, as_user):
    for name in ABSENT + SHELLS:
        as_user.write(home / name, "mine")
    ways = "; ".join(f"echo evil > {name}; rm -f {name}; mv plain {name}; mv $(dirname {name}) moved"
                     for name in ABSENT + [name for name in SHELLS])
    run(f"echo evil > plain; {ways}", "--wide")
    for name in ABSENT + SHELLS:
        assert (home / name).read_text() == "mine", name


def test_they_are_written_where_nothing_protects(hutch, home):
    hutch.run("sh", "-c", attempts(ABSENT + SHELLS), cwd=home, backend="none", env={"HOME": str(home)})
    assert [name for name in ABSENT + SHELLS if (home / name).exists()] == ABSENT + SHELLS


def test_an_entry_that_names_the_file_lifts_it(run, home):
    run(attempts([".ssh/authorized_keys", ".ssh/config", ".bashrc", ".zshenv"]), "--wide", "--allow-write",
        ".ssh/authorized_keys", "--allow-write", ".bashrc")
    assert (home / ".bashrc").exists() and not (home / ".zshenv").exists() and not (home / ".ssh/config").exists()


@pytest.mark.parametrize("answer", ["y", "n"])
def test_a_person_at_the_terminal_is_asked(hutch, home, answer, supervised):
    argv = [hutch.program, "run", "--backend", supervised, "--", "sh", "-c", "echo ran > ran"]
    with Terminal(hutch.person, argv, cwd=home, env={"HOME": str(home)}) as terminal:
        assert b"is your home" in terminal.read_until(b"Start there?")
        terminal.send(answer + "\n")
        code = terminal.wait()
    assert (home / "ran").exists() == (answer == "y") and code == (0 if answer == "y" else 125), terminal.seen


# What a script does, and the paths that it asks about; those that lie in one that was answered are asked about no more.
QUESTIONS = {
    "an absent directory": ("mkdir .ssh && echo new > .ssh/authorized_keys", [".ssh"], ".ssh/authorized_keys"),
    "an absent file": ("echo new > .bashrc && echo new >> .bashrc", [".bashrc"], ".bashrc"),
    "an absent file in a directory": ("echo new > .local/bin/git", [".local/bin/git"], ".local/bin/git"),
    "a file": ("echo new >> .profile", [".profile"], ".profile"),
    "a file that is renamed to": ("echo new > plain; mv plain .zshenv", [".zshenv"], ".zshenv"),
    "a directory of PATH": ("echo new > tools/on-path/git", ["tools/on-path/git"], "tools/on-path/git"),
}


@pytest.mark.parametrize("case", QUESTIONS)
@pytest.mark.parametrize("choice", ["session", "no"])
def test_each_name_is_a_question(hutch, as_user, home, choice, case, supervised):
    script, asked, file = QUESTIONS[case]
    as_user.mkdir(home / ".local/bin")
    as_user.write(home / ".profile", "mine\n")
    hutch.backend = supervised
    env = {"HOME": str(home), "PATH": f"{home}/tools/on-path:{harness.PATH}"}
    with caller.running(hutch, f"{script}; echo done", "--wide", cwd=home, env=env) as (outside, process):
        for name in asked:
            question = outside.line("question")
            assert (question["kind"], question["path"]) == ("write", str(home / name)), question
            outside.say(type="answer", id=question["id"], choice=choice)
        out, err = process.communicate(timeout=harness.PATIENCE)
    there = home / file
    wrote = there.exists() and "new\n" in there.read_text()
    assert wrote == (choice == "session"), (out, err)
    assert (home / ".profile").read_text().startswith("mine\n")
