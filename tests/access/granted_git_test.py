# Repositories in a directory that an answer opens while the command runs: what it leaves there for the user's git.
import caller
import harness
import pytest

STEPS = ".git/rebase-merge/git-rebase-todo"
REBASE = f"mkdir -p .git/rebase-merge; echo 'exec ./evil' > {STEPS}; cat {STEPS}"


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def repository(home, as_user):
    """The user's, in a home that is hidden."""
    path = as_user.mkdir(home / "repository")
    harness.run_in(as_user, ["git", "init", "-q"], cwd=path).ok()
    return path


def run(hutch, repository, script, opened):
    """What the command printed and hutch told. The only question is about `opened`, and the answer is yes."""
    with caller.running(hutch, script, "--allow-read", str(repository)) as (outside, process):
        question = outside.line("question")
        assert (question["kind"], question["path"]) == ("write", str(opened)), question
        outside.say(type="answer", id=question["id"], choice="session")
        outside.refuse_all()
        out, err = process.communicate(timeout=harness.PATIENCE)
    assert process.returncode == 0, err
    return out.decode(), err.decode()


def test_an_operation_is_found(hutch, repository, backend):
    out, err = run(hutch, repository, f"cd {repository}; touch -d 2001-01-01 .; {REBASE}", repository)
    assert out == "exec ./evil\n"
    assert not (repository / STEPS).exists() and f"{STEPS}, which the command wrote, names a program" in err, err


def test_one_in_a_repository_that_it_makes(hutch, repository, backend):
    script = f"cd {repository}; touch -d 2001-01-01 .; git init -q new; cd new; {REBASE}"
    out, err = run(hutch, repository, script, repository)
    assert out == "exec ./evil\n"
    assert (repository / "new/.git/HEAD").exists() and not (repository / "new" / STEPS).exists(), err


def test_one_of_which_only_the_directory_was_opened(hutch, repository, backend):
    out, err = run(hutch, repository, f"cd {repository}; {REBASE.replace('-p ', '')}", repository / ".git/rebase-merge")
    assert out == "exec ./evil\n"
    assert not (repository / STEPS).exists() and f"{STEPS}, which the command wrote, names a program" in err, err


def test_the_users_own_stays(hutch, repository, backend, as_user):
    as_user.write(repository / STEPS, "exec ./mine\n")
    _, err = run(hutch, repository, f"cd {repository}; touch -d 2001-01-01 .; touch .git/rebase-merge/a a", repository)
    assert (repository / "a").exists() and (repository / STEPS).read_text() == "exec ./mine\n", err
    assert "quarantine" not in err
