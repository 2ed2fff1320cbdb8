# A project that is reached through symbolic links is there under both names.
import pathlib

import harness
import pytest

PLACES = {
    "a link in the home": ("{home}/link", "{home}/real", ""),
    "a relative link": ("{home}/link", "real", ""),
    "a directory of the linked one": ("{home}/link", "{home}/real", "sub"),
    "a link in a directory of its own": ("{home}/own/link", "../real", ""),
    "a link beside the project": ("{home}/all/link", "real", ""),
    "a link to a link": ("{home}/link", "{home}/second", ""),
}
NO_SUCH_NAME = ["{home}/link", "relative", "{home}/real/../real", "{home}//real", "", "/" + "a" * 5000, "{home}/loop",
                "/proc/self/cwd", "{home}/real\n", "{home}/absent"]


@pytest.fixture
def home(as_user, project):
    """A home that the default policy hides."""
    made = as_user.mkdir(project.parent / f"{project.name}-home")
    for name in ("real/sub", "all/real/sub", "own", "closed"):
        as_user.mkdir(made / name)
    link(as_user, made / "second", "real")
    return made


@pytest.fixture(params=["namespace", "bwrap"])
def run(request, hutch, home):
    """run(directory, command, *options): as from a shell that says by PWD where it is."""
    def call(directory, command, *options, said=None):
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        return hutch("run", "--backend", request.param, *options, "--", *words, cwd=directory,
                     env={"HOME": str(home), "PWD": str(directory) if said is None else said})
    return call


def link(person, path, text):
    harness.run_in(person, ["ln", "-s", text, path]).ok()


@pytest.mark.parametrize("place", PLACES)
def test_both_names_work(run, home, as_user, place):
    path, text, below = (part.format(home=home) for part in PLACES[place])
    link(as_user, path, text)
    typed = f"{path}/{below}".rstrip("/")
    real = pathlib.Path(typed).resolve()
    ran = run(typed, f"pwd; pwd -P; cd / && cd '{typed}' && touch made").ok()
    assert ran.text.splitlines() == [typed, str(real)], ran
    assert (real / "made").exists()


def test_where_nothing_was_typed_nothing_is_added(run, home):
    assert run(home / "real", ["printenv", "PWD"]).code == 1


@pytest.mark.parametrize("said", NO_SUCH_NAME)
def test_what_does_not_lead_there_is_not_believed(run, home, as_user, said):
    link(as_user, home / "link", "own")
    link(as_user, home / "loop", "loop")
    ran = run(home / "real", "pwd; ls -a ~", said=said.format(home=home)).ok()
    assert ran.text.splitlines()[0] == str(home / "real")
    assert "loop" not in ran.text and "link" not in ran.text


def test_by_an_option(run, home, as_user):
    link(as_user, home / "link", "real")
    options = ("--allow-write", str(home / "real"), "--cwd")
    assert run(home / "own", "pwd", *options, f"{home}/link/sub").ok().text == f"{home}/link/sub\n"
    assert run(home / "own", "pwd", *options, "~/link").ok().text == f"{home}/link\n"
    # Where the dots lead, only somebody who follows the links can say.
    assert run(home / "own", "pwd", *options, "../link").ok().text == f"{home}/real\n"


def test_a_hidden_place_stays_hidden(run, home, as_user):
    link(as_user, home / "closed/link", home / "real")
    ran = run(home / "closed/link", "pwd; ls ~/closed", "--deny-read", str(home / "closed"))
    assert ran.text.splitlines()[0] == str(home / "real"), ran


def test_an_option_sets_it(run, home, as_user):
    link(as_user, home / "link", "real")
    assert run(home / "link", ["printenv", "PWD"], "--env", "PWD=/usr").ok().text == "/usr\n"
    assert run(home / "link", ["printenv", "PWD"]).ok().text == f"{home}/link\n"
