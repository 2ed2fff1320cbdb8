# Files that are judged by their content, opened again by another name: the judgement is about the file.
"""hutch lets a sandbox make a .git file that leads within the repository, and no other. Once such a file is there,
every way to it has to be judged like the first."""

import pytest

OPEN = "import os; g = 'sub/.git'; evil = b'gitdir: ../evil\\n'; "
WAYS = {
    "a link": "ln -s sub/.git s; echo 'gitdir: ../evil' > s",
    "a link to a link": "ln -s sub/.git s; ln -s s t; echo 'gitdir: ../evil' > t",
    "a link, to read and write": f"ln -s sub/.git s; python3 -c \"{OPEN}f = os.open('s', os.O_RDWR); "
                                 "os.ftruncate(f, 0); os.pwrite(f, evil, 0)\"",
    "a link, in place": f"ln -s sub/.git s; python3 -c \"{OPEN}os.pwrite(os.open('s', os.O_WRONLY), evil, 0)\"",
    "a link, appended": "ln -s sub/.git s; echo evil >> s",
    "a link, truncated": f"ln -s sub/.git s; python3 -c \"{OPEN}os.truncate('s', 12)\"",
    "a descriptor": "exec 3< sub/.git; echo 'gitdir: ../evil' > /proc/self/fd/3",
    "a descriptor, in place": f"python3 -c \"{OPEN}r = os.open(g, os.O_RDONLY); "
                              "os.pwrite(os.open('/proc/self/fd/%d' % r, os.O_RDWR), evil, 0)\"",
    "a descriptor of its name": f"python3 -c \"{OPEN}r = os.open(g, os.O_PATH); "
                                "os.write(os.open('/dev/fd/%d' % r, os.O_WRONLY | os.O_TRUNC), evil)\"",
    "a directory by a link": "ln -s sub d; echo 'gitdir: ../evil' > d/.git",
}
MAKE = ("git init -q; mkdir -p sub .git/modules/sub; echo 'gitdir: ../.git/modules/sub' > sub/.git; "
        "while [ ! -s sub/.git ]; do sleep 0.01; done; ")


@pytest.fixture(params=["none", "namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.mark.parametrize("way", WAYS)
def test_it_is_judged_as_by_its_name(hutch, backend, project, way):
    hutch.sh(f"{MAKE} ( {WAYS[way]} ); sleep 0.1; cat sub/.git")
    text = (project / "sub/.git").read_text(encoding="utf-8")
    assert (text.rstrip("\n") == "gitdir: ../.git/modules/sub") == (backend != "none"), text
