# Two agents that share a directory show and hide something in turns, so that each look finds it as it was before.
import pathlib
import sys

import harness
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from git_left_test import INDEX_THAT_LEADS_OUT, REBASE, STEPS, is_there, outside, quarantined  # noqa: E402

# What the first prepares where hutch does not look; what the second moves there, and back; what stays then.
DEEP = "1/2/3/4/5/6"
MADE = f"mkdir -p {DEEP}; git init -q {DEEP}/made; cd {DEEP}/made; echo a > a; git add a; "
BARE = "mkdir -p x/rebase-merge x/refs hid/objects; cp .git/HEAD x/; "
HIDDEN = {
    "an operation": ("mkdir -p hid/made/rebase-merge; echo 'exec ./evil' > hid/made/rebase-merge/git-rebase-todo",
                     "hid/made/rebase-merge", ".git/rebase-merge", STEPS),
    "what completes a repository": (f"{BARE}echo 'exec ./evil' > x/rebase-merge/git-rebase-todo", "hid/objects",
                                    "x/objects", "x/rebase-merge/git-rebase-todo"),
    "what completes one with a link": (f"{BARE}ln -s ../victim x/COMMIT_EDITMSG", "hid/objects", "x/objects",
                                       "x/COMMIT_EDITMSG"),
    "a work tree from below the depth of the search": (MADE + REBASE, f"{DEEP}/made", "made", f"made/{STEPS}"),
    "what holds such a work tree": (f"{MADE}{REBASE}; cd ..; mkdir up; mv made up/", f"{DEEP}/up", "up",
                                    f"up/made/{STEPS}"),
    "one with an index": (MADE + INDEX_THAT_LEADS_OUT, f"{DEEP}/made", "made", "made/.git/index"),
}
WAIT = "i=0; while [ ! -e {0} ]; do sleep 0.05; i=$((i+1)); [ $i -lt 600 ]; done"


@pytest.fixture(params=["none", "bwrap", "namespace"])
def pair(daemon, request):
    """Two agents that work in one directory, a repository in which the user has committed."""
    directory = daemon.person.mkdir(daemon.data.parent / f"shared-by-{next(daemon.names)}", 0o755)
    outside(daemon, directory, "git init -q -b main; git config user.name A; git config user.email a@b.example; "
                               "git commit -q --allow-empty -m first")
    names = [daemon.create(f"backend={request.param}", "autonomousExec.enabled=true", f"dir={directory}")
             for _ in range(2)]
    yield *names, directory, request.param
    for name in names:
        daemon("agent", "remove", name).ok()


@pytest.mark.parametrize("what", HIDDEN)
def test_one_shows_it_and_hides_it_while_the_other_starts(daemon, pair, what):
    first, second, directory, backend = pair
    prepare, hidden, shown, path = HIDDEN[what]
    daemon.sh(first, prepare).ok()
    daemon.detach(second, f"mv {hidden} {shown}; touch shown; {WAIT.format('hide')}; mv {shown} {hidden}; touch hidden")
    harness.wait_until((directory / "shown").exists, "it is shown")
    wait = WAIT.format("hidden")
    daemon.sh(first, f"touch hide; {wait}; sleep 0.5; mv {hidden} {shown}").ok()
    assert is_there(directory / path) == (backend == "none"), quarantined(daemon)


def test_what_the_user_began_before_both_stays(daemon, pair):
    first, second, directory, _ = pair
    before = quarantined(daemon)
    outside(daemon, directory, REBASE)
    daemon.detach(second, f"touch started; {WAIT.format('stop')}; touch stopped")
    harness.wait_until((directory / "started").exists, "the second runs")
    daemon.sh(first, "git -c user.name=a -c user.email=a@b.example commit -q --allow-empty -m more; touch stop").ok()
    harness.wait_until((directory / "stopped").exists, "the second has ended")
    daemon.sh(second, "true").ok()
    assert is_there(directory / STEPS) and quarantined(daemon) == before


SAME_MOMENT = """
import os
names = ['new/.git/index', '1/2/3/4/5/6/made/.git/index']
for _ in range(100000):
    if len({os.stat(name).st_ctime_ns for name in names}) == 1: break
    for name in names: os.chmod(name, 0o644)
"""


def test_an_index_of_the_same_moment_is_another_one(daemon, pair):
    """The kernel's clock ticks some hundred times a second. Where its times are finer, there is no such moment."""
    name, _, directory, backend = pair
    daemon.sh(name, "git init -q new; (cd new; echo a > a; git add a); "
                    f"(\n{MADE}{INDEX_THAT_LEADS_OUT}\n); exec python3 -c \"{SAME_MOMENT}\"").ok()
    daemon.sh(name, f"mv new old; mv {DEEP}/made new").ok()
    index = directory / "new/.git/index"
    assert (index.exists() and b"../" in index.read_bytes()) == (backend == "none")
