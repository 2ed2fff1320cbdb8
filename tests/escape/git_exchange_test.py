# One sandbox exchanges directories while hutch looks at what another one left in the repositories below them.
import pathlib
import sys

import harness
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
from git_ways import as_person, commit_first  # noqa: E402

ROUNDS = 4
PERSON = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.example GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.example; "
FLIP = r"""
import ctypes, os, time
libc = ctypes.CDLL(None)
def exchange(): return libc.renameat2(-100, b"d1", -100, b"d2", 2)
open("begun", "w")
while not os.path.exists("made"): time.sleep(0.01)
print("first", exchange(), flush=True)
open("flipping", "w")
while not os.path.exists("end"): exchange()
"""
PREPARE = PERSON + """
for d in d1 d2; do mkdir $d; git clone -q . $d/sub; done
cd d1/sub; git rebase -x false HEAD~1 >/dev/null 2>&1
echo 'exec touch "$TRIP"' > .git/rebase-merge/git-rebase-todo; cd ../..
touch made; while [ ! -e flipping ]; do sleep 0.01; done; sleep 0.1
"""


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_prepared_operation_is_found(hutch, as_user, project, backend, number):
    commit_first(as_user, project)
    as_person(as_user, ["sh", "-ec", PERSON + "git commit -q --allow-empty -m more"], project)
    as_user.write(project / "flip.py", FLIP)
    option = ["--backend", backend]
    trip = project / "TRIP"
    flip = [hutch.program, "run", *option, "--", "/usr/bin/python3", "flip.py"]
    with harness.start_in(as_user, flip, cwd=project) as other:
        harness.wait_until((project / "begun").exists, "the other run")
        hutch.run("sh", "-c", f"TRIP={trip}; export TRIP; " + PREPARE, cwd=project)
        as_person(as_user, ["touch", "end"], project)
        other.communicate(timeout=60)
    for directory in ("d1", "d2"):
        script = PERSON + f"export TRIP={trip}; git rebase --continue || true"
        as_person(as_user, ["sh", "-c", script], project / directory / "sub")
    assert trip.exists() == (backend == "none"), number
