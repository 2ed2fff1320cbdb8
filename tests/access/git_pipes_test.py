# Files that git reads to their end: no pipe or socket takes their names, because git outside would wait or fail.
import os

import pytest

NAMES = [".gitignore", ".gitattributes", ".gitmodules", ".mailmap", "sub/.gitignore", "new/.git/refs/heads/x",
         "new/.git/packed-refs"]
WAYS = {
    "made": "mkfifo {0}",
    "moved": "mkfifo pipe; mv pipe {0}",
    "linked": "mkfifo pipe; ln pipe {0}",
    "exchanged": "mkfifo pipe; touch {0}; python3 -c \"import ctypes; ctypes.CDLL(None).renameat2(-100, b'pipe', -100, "
                 "b'{0}', 2)\"",
    "a socket": "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('{0}')\"",
}


@pytest.fixture(params=["none", "namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.mark.parametrize("way", WAYS)
def test_git_reads_no_pipe(hutch, backend, project, way):
    scripts = "; ".join(f"({WAYS[way].format(name)}); rm -f pipe" for name in NAMES)
    hutch.sh(f"git init -q new; mkdir sub; {scripts}")
    odd = [name for name in NAMES if os.path.lexists(project / name) and not os.path.isfile(project / name)]
    assert odd == (NAMES if backend == "none" else [])
