# The caller's umask(2) holds for the command of `hutch run`, as for a command outside.
import os
import stat

import harness
import pytest

MAKE = """set -e
mkdir -p "$1"; cd "$1"
touch touched; echo x > written; mkdir directory; mkdir -p deep/er; mkfifo pipe; cp ../program copied; ln -s x link
tar xf ../archive.tar --no-same-permissions --no-same-owner
! command -v git > /dev/null || git clone -q "file://$(cd ../source && pwd)" cloned
umask > mask
"""
PREPARE = """set -e
printf '#!/bin/sh\\n' > program; chmod 777 program
mkdir packed; echo x > packed/file; cp program packed/program; chmod -R a+rwX packed; tar cf archive.tar packed
! command -v git > /dev/null || {
  git init -q source; cd source; mkdir -p a; echo x > a/file; cp ../program a/; chmod 755 a/program; git add .
  git -c user.name=A -c user.email=a@b.example commit -q -m first; }
"""


def with_mask(mask):
    return ["/bin/sh", "-c", f'umask {mask:03o}; exec "$@"', "sh"]


def modes(directory):
    """Each name below it with its mode, and what the shell calls its mask."""
    found = {}
    for above, directories, files in os.walk(directory):
        for name in directories + files:
            path = os.path.join(above, name)
            found[os.path.relpath(path, directory)] = oct(stat.S_IMODE(os.lstat(path).st_mode))
    with open(directory / "mask", encoding="ascii") as file:
        return {**found, "umask": int(file.read(), 8)}


MASKS = [0o000, 0o002, 0o022, 0o027, 0o077]


@pytest.mark.parametrize("mask", MASKS)
def test_what_a_command_makes_has_the_modes_that_it_has_outside(hutch, backend, project, as_user, mask):
    if backend == "user":
        pytest.skip("another user: below")
    harness.run_in(as_user, ["/bin/sh", "-c", PREPARE], cwd=project).ok()
    harness.run_in(as_user, ["/bin/sh", "-c", MAKE, "sh", "outside"], cwd=project, wrap=with_mask(mask)).ok()
    hutch.run("/bin/sh", "-c", MAKE, "sh", "inside", wrap=with_mask(mask)).ok()
    assert modes(project / "inside") == modes(project / "outside")


@pytest.mark.parametrize("mask", MASKS)
def test_an_os_user_keeps_the_rights_of_its_group(hutch, backend, mask):
    if backend != "user":
        pytest.skip("it has no group that its caller is in")
    made = hutch.run("/bin/sh", "-c", "umask; touch x; mkdir d; stat -c %a x d", wrap=with_mask(mask)).ok().text.split()
    kept = mask & ~0o070
    assert made == [f"{kept:04o}", f"{0o666 & ~kept:o}", f"{0o777 & ~kept:o}"]


@pytest.mark.parametrize("form", ["--json", "a terminal"])
def test_the_mask_is_the_same_in_each_form(hutch, backend, form):
    if backend == "user":
        pytest.skip("its group's rights stay: above")
    if form == "--json":
        ran = hutch.run("/bin/sh", "-c", "umask", options=["--json"], wrap=with_mask(0o027)).ok()
        assert '"0027\\n"' in ran.text, ran
    else:
        line = " ".join([str(hutch.program), "run", *hutch.backend_option(None), "--", "/bin/sh", "-c", "umask"])
        ran = harness.run_in(hutch.person, ["script", "-qec", line, "/dev/null"], cwd=hutch.cwd,
                             wrap=with_mask(0o027)).ok()
        assert "0027" in ran.text, ran
