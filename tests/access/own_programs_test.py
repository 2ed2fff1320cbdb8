# hutch's own programs in a directory that a sandbox may write.
"""A checkout of hutch is such a directory: the next start of a sandbox would run what the sandbox has put there."""

import shutil

import pytest

pytestmark = pytest.mark.usefixtures("backend")

WAYS = {
    "write": "echo x > tools/bin/hutch-guest",
    "remove": "rm -f tools/bin/hutch",
    "replace": "echo x > y; mv -f y tools/bin/hutch-guest",
    "directory": "mv tools/bin tools/other",
    "directory above": "mv tools other",
}


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def programs(hutch, as_user, project, base):
    """A copy of them in the project, started from there: their sizes."""
    place = as_user.mkdir(project / "tools/bin")
    for path in base.bin.iterdir():
        if path.is_file() and path.name.startswith("hutch"):
            as_user.own(shutil.copy(path, place))
    hutch.program = place / "hutch"
    return {path: path.stat().st_size for path in place.iterdir()}


@pytest.mark.parametrize("way", WAYS)
def test_stay_as_they_are(hutch, programs, way):
    result = hutch.sh(WAYS[way])
    assert result.code != 0
    assert {path: path.stat().st_size for path in programs} == programs, result.err


def test_may_be_written_where_the_user_says_so(hutch, programs, project):
    guest = project / "tools/bin/hutch-inspect"
    hutch.sh(f"echo x > {guest}", options=["--allow-write", guest]).ok()
    assert guest.stat().st_size == 2


def test_other_files_beside_them_are_ordinary(hutch, programs, project):
    hutch.sh("echo x > tools/bin/other; mkdir tools/new; mv tools/new tools/newer").ok()
    assert (project / "tools/bin/other").exists() and (project / "tools/newer").exists()
