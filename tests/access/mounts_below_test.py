# File systems of the host's that lie below what a sandbox may write, beside mounts of the sandbox's own.
"""They come along with the directory. What the supervisor does not let be made above them it does not let be made in
them either."""
import os

import pytest

pytestmark = [
    pytest.mark.usefixtures("backend"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts something for everybody"),
]

# As hutch's own programs read: no filter holds that call (base/plain_open.h), and the mount alone does.
UNSEEN = """
import ctypes, os, sys
how = (ctypes.c_uint64 * 8)(os.O_WRONLY | os.O_CREAT, 0o644)
libc = ctypes.CDLL(None, use_errno=True)
opened = libc.syscall(437, -100, sys.argv[1].encode(), how, ctypes.c_size_t(64))
print("made" if opened >= 0 else os.strerror(ctypes.get_errno()))
"""


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def mounted(hutch, as_user, project):
    """Runs a script where the project has two file systems of the host's in it, one in the other."""
    there = as_user.mkdir(project.parent / f"{project.name}-mounted")
    deeper = as_user.mkdir(project.parent / f"{project.name}-deeper")
    as_user.mkdir(there / "in it")
    below = as_user.mkdir(project / "a mount")
    secret = as_user.mkdir(project / "secret")
    as_user.write(secret / "key", "of the person's")
    make = 'mount --bind "$0" "$2" && mount --bind "$1" "$2/in it" && shift 2 && exec "$@"'
    outer = ["unshare", "--mount", "sh", "-c", make, str(there), str(deeper), str(below)]

    def run(script, *options):
        return hutch("run", *options, "--", "sh", "-c", script, cwd=project, outer=outer)

    run.roots = (there, deeper)
    run.secret = secret
    return run


# A rule within the directory is a mount of the sandbox's own.
RULES = {
    "none": lambda secret: (),
    "something hidden": lambda secret: ("--deny-read", str(secret)),
    "a hidden file": lambda secret: ("--deny-read", str(secret / "key")),
    "the whole machine": lambda secret: ("--allow-write", "/"),
}


@pytest.mark.parametrize("rule", RULES)
def test_names_are_held_there_too(mounted, rule):
    options = RULES[rule](mounted.secret)
    mounted('for d in "a mount" "a mount/in it"; do echo text > "$d/plain" || exit 1; done', *options).ok()
    for root in mounted.roots:
        assert (root / "plain").read_text() == "text\n", "they are there to be written"
    mounted('for d in "a mount" "a mount/in it"; do echo evil > "$d/.envrc"; mkdir -p "$d/.git/hooks"; '
            'echo evil > "$d/.git/hooks/pre-commit"; done; exit 0', *options)
    for root in mounted.roots:
        assert not (root / ".envrc").exists() and not (root / ".git/hooks/pre-commit").exists()


@pytest.mark.parametrize("rule", RULES)
def test_no_call_passes_by_the_supervisor(mounted, as_user, project, rule):
    as_user.write(project / "unseen.py", UNSEEN)
    tried = mounted('for d in . "a mount" "a mount/in it"; do /usr/bin/python3 unseen.py "$d/.envrc"; done; '
                    'echo own > /tmp/own && cat /tmp/own && echo gone > /dev/null', *RULES[rule](mounted.secret)).ok()
    assert tried.text == "Read-only file system\n" * 3 + "own\n", str(tried)
    assert not any((root / ".envrc").exists() for root in (project, *mounted.roots))
