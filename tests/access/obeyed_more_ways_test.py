# More ways to make a file that programs outside obey: each is refused, or leaves nothing that says what was written.
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import obeyed_test  # noqa: E402
from obeyed_test import HELD, PROGRAM, tried, written  # noqa: E402

MORE = """
def unnamed(name):
    above(name)
    made = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(made, b'evil')
    if C.linkat(-100, f'/proc/self/fd/{made}'.encode(), -100, name.encode(), 0x400):
        raise OSError(ctypes.get_errno(), name)
def by_descriptor(name):
    above(name); put('plain')
    made = os.open('plain', os.O_RDWR)
    if C.linkat(made, b'', -100, name.encode(), 0x1000): raise OSError(ctypes.get_errno(), name)
def last(name): return name.rsplit('/', 1)[1]
def parent(name): return name.rsplit('/', 1)[0]
def make(path):
    os.makedirs(path, exist_ok=True)
    return path
def far(name):
    top = os.open('.', os.O_PATH)
    for _ in range(25):
        os.mkdir('a' * 200, dir_fd=top); top = os.open('a' * 200, os.O_PATH, dir_fd=top)
    if '/' in name:
        for part in parent(name).split('/'):
            os.mkdir(part, dir_fd=top); top = os.open(part, os.O_PATH, dir_fd=top)
    put_at(top, name.rsplit('/', 1)[-1])
def how(path, flags=os.O_WRONLY | os.O_CREAT, mode=0o644, resolve=0):
    given = (ctypes.c_uint64 * 3)(flags, mode, resolve)
    made = C.syscall(437, -100, path.encode(), given, 24)
    if made < 0: raise OSError(ctypes.get_errno(), path)
    os.write(made, b'evil')
def copied(name):
    import subprocess, tarfile, io
    with tarfile.open('t.tar', 'w') as made:
        info = tarfile.TarInfo(name); info.size = 4
        made.addfile(info, io.BytesIO(b'evil'))
    if subprocess.run(['tar', 'xf', 't.tar'], capture_output=True).returncode: raise OSError(1, name)
def bound(name):
    import socket
    above(name); socket.socket(socket.AF_UNIX).bind(name); put(name)
"""
WAYS = {
    "an unnamed file that gets it": "unnamed(name)",
    "a link of a descriptor": "by_descriptor(name)",
    "a middle directory renamed": "put('d/' + last(name)); above(parent(name)); os.rename('d', parent(name))",
    "a middle directory linked": "put('d/' + last(name)); above(parent(name)); "
                                 "os.symlink(os.path.abspath('d'), parent(name))",
    "a directory exchanged": "put('d/' + rest(name)); os.mkdir(first(name)); exchange('d', first(name))",
    "two directories exchanged twice": "put('d/' + rest(name)); os.mkdir('e'); exchange('d', 'e'); "
                                       "os.mkdir(first(name)); exchange('e', first(name))",
    "out of packages, the package moved": "put('node_modules/p/' + name); os.rename('node_modules/p', 'p')",
    "out of packages, all of them moved": "put('node_modules/p/' + name); os.rename('node_modules', 'p')",
    "out of packages, a file": "put('node_modules/p/' + name); above(name); os.rename('node_modules/p/' + name, name)",
    "out of packages, a hard link": "put('node_modules/p/' + name); above(name); "
                                    "os.link('node_modules/p/' + name, name)",
    "out of packages, exchanged": "put('node_modules/p/' + name); os.mkdir('p'); exchange('node_modules/p', 'p')",
    "out of packages, two levels": "put('a/node_modules/p/' + name); os.rename('a/node_modules', 'a/n'); "
                                   "os.rename('a', 'p')",
    "into a package that is moved back": "make('node_modules/p'); put('node_modules/p/' + name); "
                                         "os.rename('node_modules/p', 'q'); os.rename('q', 'p')",
    "beyond the longest path": "far(name)",
    "by openat2": "above(name); how(name)",
    "by openat2, beneath": "above(name); how(name, resolve=8)",
    "by openat2, in root": "above(name); how('/' + name, resolve=16)",
    "by openat2, without links": "above(name); how(name, resolve=4)",
    "out of an archive": "copied(name)",
    "a socket": "bound(name)",
    "by a link that leads nowhere": "above(name); os.symlink(os.path.abspath(name), 'l'); put('l')",
    "by a link in the middle": "above(name); os.symlink(os.path.dirname(name) or '.', 'l'); "
                               "put('l/' + os.path.basename(name))",
    "by dots": "above(name); make('x/y'); put('x/y/../../' + name)",
    "by the thread's directory": "above(name); put('/proc/thread-self/cwd/' + name)",
    "by its root": "above(name); put('/proc/self/root' + os.path.abspath(name))",
    "from another directory": "above(name); os.chdir('..'); put(os.path.basename(base) and "
                              "os.path.relpath(os.path.join(base, str(number), name)))",
    "a file that is appended": "above(name); "
                                "os.write(os.open(name, os.O_APPEND | os.O_CREAT | os.O_RDWR, 0o644), b'evil')",
    "a name that a descriptor keeps": "put('plain'); kept = os.open('plain', os.O_RDWR); above(name); "
                                      "os.rename('plain', name); os.write(kept, b'evil')",
}


@pytest.fixture(params=["namespace", "bwrap"])
def supervised(request):
    return request.param


def names_for(way):
    deep = way.startswith(("a middle", "a directory", "two directories"))
    return [name for name in HELD if name.count("/") >= (2 if way.startswith("a middle") else 1)] if deep else HELD


def moved(project, names):
    """Where a package went: it is one of the project's directories by now."""
    return [name for number, name in enumerate(names)
            for place in ("p", "p/p", "p/n/p") if (project / str(number) / place / name).exists()]


@pytest.fixture
def program(monkeypatch):
    """The other suite's program, which knows more."""
    text = PROGRAM.replace("base = os.getcwd()", MORE + "base = os.getcwd()")
    text = text.replace("eval('[' + sys.argv[1].replace(';', ',') + ']')", "exec(sys.argv[1])")
    monkeypatch.setattr(obeyed_test, "PROGRAM", text)


@pytest.mark.parametrize("way", WAYS)
def test_no_way_makes_a_held_name(hutch, project, supervised, way, program):
    names = names_for(way)
    tried(hutch, supervised, WAYS[way], names)
    assert written(project, names) == [] and moved(project, names) == []


# What is looked for at the end is not seen there: a path that is too long, a name that says nothing.
UNSEEN = ("beyond the longest path", "a socket")


@pytest.mark.parametrize("way", [way for way in WAYS if way not in UNSEEN])
def test_each_way_makes_it_where_nothing_protects(hutch, project, way, program):
    names = names_for(way)
    tried(hutch, "none", WAYS[way], names)
    made = {*written(project, names), *moved(project, names)}
    assert [name for name in names if name not in made] == []
