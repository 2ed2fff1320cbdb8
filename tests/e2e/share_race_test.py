# hutch share and unshare, by root and by a person, while an agent changes what they walk through.
"""Each row is what the agent does, over and over, until it is ended. What lies beside the tree stays as it was."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import share_test  # noqa: E402
from share_test import AGENT, entries, may, snapshot  # noqa: E402

hutch, sharer, tree = share_test.hutch, share_test.sharer, share_test.tree

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root alone can be several users")

BEGIN = """
import ctypes, os, sys
top, victim = sys.argv[1:]
os.chdir(top + "/below")
C = ctypes.CDLL(None, use_errno=True)
def exchange(one, other): return C.renameat2(-100, one.encode(), -100, other.encode(), 2)
def ignoring(work):
    def careful():
        try: work()
        except OSError: pass
    return careful
"""
END = """
print("ready", flush=True)
while True: ignoring(work)()
"""
WAYS = {
    "a directory and a link": "os.makedirs('d', exist_ok=True); os.path.lexists('l') or os.symlink(victim, 'l')\n"
                              "def work(): exchange('d', 'l')",
    "a file and a link": "open('f', 'w').close(); os.path.lexists('l') or os.symlink(victim + '/secret', 'l')\n"
                         "def work(): exchange('f', 'l')",
    "a file and a directory": "open('f', 'w').close(); os.makedirs('d/e', exist_ok=True)\n"
                              "def work(): exchange('f', 'd')",
    "a file and a pipe": "open('f', 'w').close(); os.path.lexists('p') or os.mkfifo('p')\n"
                         "def work(): exchange('f', 'p')",
    "a link that comes and goes": "def work():\n"
                                  "  os.symlink(victim, 'x'); os.unlink('x'); os.mkdir('x'); os.rmdir('x')",
    "a hard link of what it may not have": "def work():\n  os.link(victim + '/secret', 'h'); os.unlink('h')",
    "a deep directory above itself": "os.makedirs('a/b/c', exist_ok=True)\n"
                                     "def work():\n  os.rename('a/b/c', 'c'); os.rename('c', 'a/b/c')",
    "a directory out of the walk": "os.makedirs('a/b', exist_ok=True); os.makedirs('z', exist_ok=True)\n"
                                   "def work():\n  os.rename('a/b', 'z/b'); os.rename('z/b', 'a/b')",
    "a link in the middle": "os.makedirs('m/secret', exist_ok=True); os.path.lexists('l') or os.symlink(victim, 'l')\n"
                            "def work(): exchange('m', 'l')",
    "lists of its own": "open('f', 'w').close()\n"
                        "def work(): os.chmod('f', 0o4777); os.chmod('f', 0o600)",
    "a socket": "import socket\nopen('f', 'w').close()\n"
                "if not os.path.lexists('s'): socket.socket(socket.AF_UNIX).bind('s')\ndef work(): exchange('f', 's')",
    "a link to a process's root": "os.makedirs('d', exist_ok=True)\n"
                                  "os.path.lexists('l') or os.symlink(f'/proc/{os.getppid()}/root' + victim, 'l')\n"
                                  "def work(): exchange('d', 'l')",
}


@contextlib.contextmanager
def at_work(way, tree, victim):
    code = BEGIN + WAYS[way] + END
    drop = ["/usr/bin/setpriv", "--reuid", str(AGENT), "--regid", str(AGENT), "--clear-groups"]
    with subprocess.Popen([*drop, "/usr/bin/python3", "-c", code, tree, victim], stdout=subprocess.PIPE) as agent:
        try:
            assert agent.stdout.readline() == b"ready\n"
            yield
        finally:
            agent.kill()


@pytest.mark.parametrize("way", WAYS)
def test_nothing_beside_the_tree_is_opened(hutch, as_user, tree, way):
    victim = as_user.mkdir(tree.parent / "victim", 0o700)
    as_user.write(victim / "secret", "words\n", 0o600)
    before = snapshot(victim)
    hutch("share", tree).ok()
    with at_work(way, tree, victim):
        until = time.monotonic() + 4
        while time.monotonic() < until:
            hutch("share", tree)
            hutch("unshare", tree)
            hutch("share", tree)
    assert snapshot(victim) == before and not may(AGENT, "read", victim / "secret")
    ended = hutch("unshare", tree)
    assert ended.code == 0 or "again" in ended.errors or "not" in ended.errors, str(ended)
    if ended.code == 0:
        assert json.loads(hutch("shared", "--json").ok().text) == []
        for path in (tree / "text", tree / "program", tree / "below/inner"):
            assert not may(AGENT, "read", path) and not any(who == AGENT for _, who in entries(path)), path
    assert snapshot(victim) == before
