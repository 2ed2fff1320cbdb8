# No program of the project gives its owner's rights away, by whatever descriptor it is tried; none is opened again.
"""Each way is a script that tries to leave a set-user-ID or set-group-ID program in the project, or to write through a
descriptor that is for reading. Each works where nothing protects."""

import os
import pathlib
import shutil
import stat

import harness
import pytest

HERE = pathlib.Path(__file__).parent
SECONDS = "20" if os.environ.get("HUTCH_TEST_ALL") == "1" else "2"

# What every script begins with. The program "s" is there, and writable.
HEAD = """
import array, ctypes, errno, mmap, os, shutil, signal, socket, stat, struct, subprocess, sys, tempfile, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
AT_FDCWD, AT_EMPTY_PATH, AT_SYMLINK_FOLLOW = -100, 0x1000, 0x400
O_TMPFILE = 0o20000000 | os.O_DIRECTORY
def raw(number, *given):
    made = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(one) if isinstance(one, int) else one for one in given])
    if made < 0:
        raise OSError(ctypes.get_errno(), number)
    return made
def attempt(call, *given):
    try:
        return call(*given)
    except OSError as error:
        print(call, error)
MODES = (0o6755, 0o4755, 0o2755, 0o4711)
def every(change):
    for mode in MODES:
        attempt(change, mode)
def proc(fd): return f"/proc/self/fd/{fd}"
shutil.copy("/usr/bin/true", "s")
"""

# What leaves a program with such a bit, or one that has another content and its bit still ("keeps").
WAYS = {
    "fchmod, for writing": "fd = os.open('s', os.O_RDWR); every(lambda mode: os.fchmod(fd, mode))",
    "fchmod, for writing alone": "fd = os.open('s', os.O_WRONLY); every(lambda mode: os.fchmod(fd, mode))",
    "fchmod, for appending": "fd = os.open('s', os.O_WRONLY | os.O_APPEND); every(lambda mode: os.fchmod(fd, mode))",
    "fchmod, for reading": "fd = os.open('s', os.O_RDONLY); every(lambda mode: os.fchmod(fd, mode))",
    "fchmod, access mode 3": "fd = os.open('s', 3); every(lambda mode: os.fchmod(fd, mode))",
    "fchmod, just made": "fd = os.open('n', os.O_CREAT | os.O_RDWR); every(lambda mode: os.fchmod(fd, mode))",
    "fchmod, just made, for reading": "fd = os.open('n', os.O_CREAT); every(lambda mode: os.fchmod(fd, mode))",
    "fchmod, cut off for reading": "fd = os.open('s', os.O_TRUNC); every(lambda mode: os.fchmod(fd, mode))",
    "chmod of proc's link": "fd = os.open('s', os.O_RDWR); every(lambda mode: os.chmod(proc(fd), mode))",
    "chmod of proc's link of another": (
        "fd = os.open('s', os.O_RDWR)\nchild = subprocess.Popen(['/bin/sleep', '30'], pass_fds=[fd])\n"
        "every(lambda mode: os.chmod(f'/proc/{child.pid}/fd/{fd}', mode)); child.kill()"
    ),
    "chmod of a link to proc's": (
        "fd = os.open('s', os.O_RDWR); os.symlink(proc(fd), 'way'); every(lambda mode: os.chmod('way', mode))"
    ),
    "chmod of proc's link in a directory that is open": (
        "fd = os.open('s', os.O_RDWR); at = os.open('/proc/self/fd', os.O_PATH)\n"
        "every(lambda mode: os.chmod(str(fd), mode, dir_fd=at))"
    ),
    "fchmodat2 with an empty path": (
        "fd = os.open('s', os.O_RDWR); every(lambda mode: raw(452, fd, b'', mode, AT_EMPTY_PATH))"
    ),
    "fchmodat2 of an O_PATH descriptor": (
        "fd = os.open('s', os.O_PATH); every(lambda mode: raw(452, fd, b'', mode, AT_EMPTY_PATH))"
    ),
    "fchmodat2 of O_PATH from a writable one": (
        "fd = os.open(proc(os.open('s', os.O_RDWR)), os.O_PATH)\n"
        "every(lambda mode: raw(452, fd, b'', mode, AT_EMPTY_PATH))"
    ),
    "fchmod of a reading one from a writable one": (
        "fd = os.open(proc(os.open('s', os.O_RDWR)), os.O_RDONLY); every(lambda mode: os.fchmod(fd, mode))"
    ),
    "a duplicate": "fd = os.dup(os.open('s', os.O_RDWR)); every(lambda mode: os.fchmod(fd, mode))",
    "another process": (
        "fd = os.open('s', os.O_RDWR)\nif os.fork() == 0:\n  every(lambda mode: os.fchmod(fd, mode)); os._exit(0)\n"
        "os.wait()"
    ),
    "a program that inherits it": (
        "fd = os.open('s', os.O_RDWR); subprocess.run([sys.executable, '-c', f'import os; os.fchmod({fd}, 0o4755)'], "
        "pass_fds=[fd])"
    ),
    "as standard output": (
        "subprocess.run([sys.executable, '-c', 'import os; os.fchmod(1, 0o4755)'], stdout=open('s', 'ab'))"
    ),
    "over a socket": (
        "one, other = socket.socketpair(); fd = os.open('s', os.O_RDWR)\n"
        "if os.fork() == 0:\n"
        "  _, held, _, _ = other.recvmsg(1, socket.CMSG_SPACE(4)); got = struct.unpack('i', held[0][2])[0]\n"
        "  every(lambda mode: os.fchmod(got, mode)); os._exit(0)\n"
        "one.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))]); os.wait()"
    ),
    "pidfd_getfd": (
        "fd = os.open('s', os.O_RDWR); pidfd = os.pidfd_open(os.getpid()); got = raw(438, pidfd, fd, 0)\n"
        "every(lambda mode: os.fchmod(got, mode))"
    ),
    "after a rename": "fd = os.open('s', os.O_RDWR); os.rename('s', 't'); every(lambda mode: os.fchmod(fd, mode))",
    "after a rename of its directory": (
        "os.mkdir('d'); os.rename('s', 'd/s'); fd = os.open('d/s', os.O_RDWR); os.rename('d', 'e')\n"
        "every(lambda mode: os.fchmod(fd, mode))"
    ),
    "with a second name, the first removed": (
        "fd = os.open('s', os.O_RDWR); os.link('s', 't'); os.unlink('s'); every(lambda mode: os.fchmod(fd, mode))"
    ),
    "removed, and linked again": (
        "fd = os.open('s', os.O_RDWR); os.unlink('s'); every(lambda mode: os.fchmod(fd, mode))\n"
        "attempt(raw, 265, AT_FDCWD, proc(fd).encode(), AT_FDCWD, b't', AT_SYMLINK_FOLLOW)\n"
        "attempt(raw, 265, fd, b'', AT_FDCWD, b'u', AT_EMPTY_PATH); shutil.copy('/usr/bin/true', 'v')\n"
        "os.chmod('v', 0o4755)"
    ),
    "O_TMPFILE and a name": (
        "fd = attempt(os.open, '.', O_TMPFILE | os.O_RDWR, 0o4755)\n"
        "fd = os.open('n', os.O_CREAT | os.O_RDWR) if fd is None else fd\nevery(lambda mode: os.fchmod(fd, mode))\n"
        "attempt(raw, 265, AT_FDCWD, proc(fd).encode(), AT_FDCWD, b't', AT_SYMLINK_FOLLOW)"
    ),
    "moved out of /tmp": (
        "at = tempfile.mkdtemp(); name = f'{at}/s'; shutil.copy('s', name); every(lambda mode: os.chmod(name, mode))\n"
        "attempt(os.rename, name, 't'); attempt(os.link, name, 'u'); os.chmod('s', 0o4755)"
    ),
    "openat with the mode": (
        "for mode in MODES: attempt(lambda: os.open(f'n{mode}', os.O_CREAT | os.O_WRONLY, mode))"
    ),
    "openat2 with the mode": (
        "for mode in MODES: attempt(raw, 437, AT_FDCWD, f'n{mode}'.encode(), struct.pack('QQQ', os.O_CREAT | "
        "os.O_RDWR, mode, 0), 24)"
    ),
    "creat with the mode": "for mode in MODES: attempt(raw, 85, f'n{mode}'.encode(), mode)",
    "mknod with the mode": "for mode in MODES: attempt(os.mknod, f'n{mode}', stat.S_IFREG | mode)",
    "mknod without a type": "for mode in MODES: attempt(os.mknod, f'n{mode}', mode)",
    "an ACL and a mode": (
        "fd = os.open('s', os.O_RDWR)\n"
        "acl = struct.pack('I', 2) + b''.join(struct.pack('HHi', *one) for one in "
        "((1, 7, -1), (4, 7, -1), (16, 7, -1), (32, 5, -1)))\n"
        "attempt(os.setxattr, fd, 'system.posix_acl_access', acl); every(lambda mode: os.fchmod(fd, mode))"
    ),
    "a file handle": (
        "handle = ctypes.create_string_buffer(struct.pack('Ii', 128, 0), 136); mount = ctypes.c_int()\n"
        "attempt(raw, 303, AT_FDCWD, b's', handle, ctypes.byref(mount), 0)\n"
        "at = os.open('.', os.O_RDONLY); fd = attempt(raw, 304, at, handle, os.O_RDWR)\n"
        "fd = os.open('s', os.O_RDWR) if fd is None else fd\nevery(lambda mode: os.fchmod(fd, mode))"
    ),
    "a bit in the high half": (
        "fd = os.open('s', os.O_RDWR); attempt(raw, 91, fd, 0o4755 | 1 << 40); attempt(raw, 91, fd, 0o104755)"
    ),
}
NOT_EVERYWHERE = {"creat with the mode", "a bit in the high half"}


def programs_with_rights(place):
    found = {str(path.relative_to(place)): path.lstat().st_mode for path in place.rglob("*")}
    return {name: oct(mode) for name, mode in found.items() if stat.S_ISREG(mode) and mode & 0o6000}


@pytest.mark.parametrize("way", WAYS)
def test_no_program_gets_rights(hutch, project, backend, as_user, way):
    if way in NOT_EVERYWHERE and os.uname().machine != "x86_64":
        pytest.skip("other numbers of calls")
    result = hutch.run("/usr/bin/python3", "-c", HEAD + WAYS[way])
    assert bool(programs_with_rights(project)) == (backend == "none"), f"{programs_with_rights(project)}\n{result}"


# Two threads: one calls with such a mode for a file of /tmp, the other puts what is the project's in its place.
RACES = {
    "descriptors": (
        "own = os.open(tempfile.mkdtemp() + '/x', os.O_CREAT | os.O_RDWR)\n"
        "fd = os.open('s', os.O_RDWR); at = os.dup(own)\n"
        "def other():\n"
        "  while time.monotonic() < end: os.dup2(fd, at); os.dup2(own, at)\n"
        "def one():\n"
        "  for mode in MODES: attempt_quietly(os.fchmod, at, mode)\n"
    ),
    "directories": (
        "own = os.open(tempfile.mkdtemp(), os.O_RDONLY)\n"
        "fd = os.open('s', os.O_RDWR); at = os.dup(own)\n"
        "def other():\n"
        "  while time.monotonic() < end: os.dup2(fd, at); os.dup2(own, at)\n"
        "def one(): attempt_quietly(os.fchmod, at, 0o2755)\n"
    ),
    "memory": (
        "top = tempfile.mkdtemp(); open(top + '/x', 'w').close(); fd = os.open('s', os.O_RDWR)\n"
        "ways = [(top + '/x').encode(), proc(fd).encode()]; held = ctypes.create_string_buffer(ways[0], 64)\n"
        "def other():\n"
        "  while time.monotonic() < end: held.value = ways[1]; held.value = ways[0]\n"
        "def one():\n"
        "  for mode in MODES: attempt_quietly(raw, 268, AT_FDCWD, held, mode)\n"
    ),
    "links": (
        "top = tempfile.mkdtemp(); open(top + '/x', 'w').close(); fd = os.open('s', os.O_RDWR)\n"
        "os.symlink(proc(fd), top + '/way')\n"
        "def other():\n"
        "  while time.monotonic() < end: raw(316, AT_FDCWD, f'{top}/x'.encode(), AT_FDCWD, f'{top}/way'.encode(), 2)\n"
        "def one():\n"
        "  for mode in MODES: attempt_quietly(os.chmod, top + '/x', mode)\n"
    ),
}
RACE = """
def attempt_quietly(call, *given):
    try:
        call(*given)
    except OSError:
        pass
end = time.monotonic() + float(sys.argv[1])
{way}
thread = threading.Thread(target=other)
thread.start()
tries = 0
while time.monotonic() < end and not os.stat('s').st_mode & 0o6000:
    one(); tries += 1
end = 0
thread.join()
print('tried' if tries else 'tried nothing')
"""


@pytest.mark.parametrize("way", RACES)
def test_race_for_rights(hutch, project, backend, as_user, way):
    result = hutch.run("/usr/bin/python3", "-c", HEAD + RACE.format(way=RACES[way]), SECONDS, timeout=120)
    assert b"tried\n" in result.out, str(result)
    assert bool(programs_with_rights(project)) == (backend == "none"), str(result)


# A program that has its bit already, made outside: what is written into it by a mapping would run with those rights.
OVERWRITES = {
    "by a mapping": (
        "fd = os.open('there', os.O_RDWR)\nwith mmap.mmap(fd, 4, mmap.MAP_SHARED) as held: held[:4] = b'evil'"
    ),
    "by a mapping of what was reopened": (
        "fd = os.open(proc(os.open('there', os.O_CREAT | os.O_WRONLY)), os.O_RDWR)\n"
        "with mmap.mmap(fd, 4, mmap.MAP_SHARED) as held: held[:4] = b'evil'"
    ),
}


def write_program(as_user, path):
    """With its bit, which a change of the owner would end."""
    as_user.write(path, "was\n")
    path.chmod(0o4755)


@pytest.mark.parametrize("way", OVERWRITES)
def test_no_program_with_rights_is_rewritten(hutch, project, backend, as_user, way):
    write_program(as_user, project / "there")
    hutch.run("/usr/bin/python3", "-c", HEAD + OVERWRITES[way]).ok()
    evil = (project / "there").read_text(encoding="utf-8").startswith("evil")
    assert evil, "what may be written is written"
    assert bool(programs_with_rights(project)) == (backend == "none")


# It is made, kept by a descriptor for reading, or what comes from one, and opened again for writing. The name is one
# that may not be written by then.
REOPENS = {
    "a descriptor that made it": "fd = os.open('n', os.O_CREAT | os.O_RDONLY); change()",
    "one of what was there": "fd = os.open('s', os.O_CREAT | os.O_RDONLY); change()",
    "one that cut it off": "fd = os.open('s', os.O_TRUNC | os.O_RDONLY); change()",
    "one that follows a link": "os.symlink('s', 'l'); fd = os.open('l', os.O_CREAT | os.O_RDONLY); change()",
    "one of a file that nobody may read": (
        "fd = os.open('n', os.O_CREAT | os.O_RDONLY, 0); os.chmod('n', 0o644); change()"
    ),
    "one from a writable one": "fd = os.open(proc(os.open('s', os.O_RDWR)), os.O_RDONLY); change()",
    "O_PATH from a writable one": "fd = os.open(proc(os.open('s', os.O_RDWR)), os.O_PATH); change()",
    "its second name": "os.link('s', 't'); fd = os.open('t', os.O_CREAT | os.O_RDONLY); os.unlink('t'); change('s')",
    "a plain one": "fd = os.open('s', os.O_RDONLY); change()",
}
THEN = """
def change(name=None):
    name = name or os.path.basename(os.readlink(proc(fd)))
    print(name, flush=True)
    sys.stdin.readline()
    for flags in (os.O_RDWR, os.O_WRONLY, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_CREAT, os.O_RDWR | os.O_APPEND):
        made = attempt(os.open, proc(fd), flags)
        if made is not None:
            os.write(made, b"evil evil")
    attempt(os.truncate, proc(fd), 3)
    attempt(os.chmod, proc(fd), 0o600)
    attempt(os.utime, proc(fd), (7, 7))
    attempt(os.setxattr, proc(fd), "user.evil", b"evil")
"""


@pytest.mark.parametrize("way", REOPENS)
def test_no_descriptor_is_opened_again_for_writing(hutch, project, backend, as_user, way):
    with hutch.popen("/usr/bin/python3", "-c", HEAD + THEN + REOPENS[way]) as process:
        name = process.stdout.readline().decode().strip()
        assert name, process.stderr.read()
        held = project / ".mcp.json"
        (project / name).rename(held)
        before = (held.read_bytes(), held.stat().st_mode, held.stat().st_mtime_ns)
        process.communicate(b"\n", timeout=harness.PATIENCE)
    changed = (held.read_bytes(), held.stat().st_mode, held.stat().st_mtime_ns) != before
    assert changed == (backend == "none"), held.read_bytes()


REMOVED = """
fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDONLY)
print("open", flush=True)
sys.stdin.readline()
os.unlink(sys.argv[1])
made = attempt(os.open, proc(fd), os.O_RDWR)
if made is not None:
    os.write(made, b"evil")
attempt(os.chmod, proc(fd), 0o4755); attempt(os.fchmod, fd, 0o640); attempt(os.utime, fd, (7, 7))
"""


@pytest.mark.parametrize("name", ["s", "n"])
def test_what_was_removed_is_not_written_by_a_descriptor_for_reading(hutch, project, backend, as_user, name):
    """The person has a second name for it, as what keeps files that are removed would have."""
    kept = as_user.mkdir(project.parent / f"{project.name}-kept") / "kept"
    with hutch.popen("/usr/bin/python3", "-c", HEAD + REMOVED, name) as process:
        assert process.stdout.readline() == b"open\n", process.stderr.read()
        os.link(project / name, kept)
        before = (kept.read_bytes(), kept.stat().st_mode & 0o7000)
        process.communicate(b"\n", timeout=harness.PATIENCE)
    assert ((kept.read_bytes(), kept.stat().st_mode & 0o7000) != before) == (backend == "none")


DIRECTORIES = """
os.mkdir("d"); fd = os.open("d", os.O_RDONLY)
for change in (lambda mode: os.fchmod(fd, mode), lambda mode: os.chmod(proc(fd), mode),
               lambda mode: os.chmod("d", mode), lambda mode: raw(452, fd, b"", mode, AT_EMPTY_PATH)):
    os.chmod("d", 0o755)
    change(0o2770)
    assert os.stat("d").st_mode & 0o7777 == 0o2770, oct(os.stat("d").st_mode)
at = tempfile.mkdtemp(); os.chmod(at, 0o3775)
assert os.stat(at).st_mode & 0o7777 == 0o3775
os.mkdir("d/e"); assert os.stat("d/e").st_mode & 0o2000
os.close(os.open("d/f", os.O_CREAT | os.O_WRONLY)); assert not os.stat("d/f").st_mode & 0o6000
"""

# Not on `none`, where root would change the machine's own files.
SYSTEM_FILES = """
for given in ("/usr/bin", "/proc/self", "/nowhere", "d/f", "d/f/x", "/dev/null"):
    try:
        os.chmod(given, 0o2755)
        print(given, "changed")
    except OSError as error:
        print(given, errno.errorcode[error.errno])
"""


def test_a_directory_has_its_groups(hutch, project, backend, as_user):
    isolated = backend != "none"
    said = hutch.run("/usr/bin/python3", "-c", HEAD + DIRECTORIES + (SYSTEM_FILES if isolated else "")).ok().text
    if isolated:
        assert "changed" not in said and "/nowhere ENOENT\n" in said and "d/f/x ENOTDIR\n" in said, said


def test_a_program_with_rights_that_stays_is_told(hutch, project, backend, as_user):
    for name in ("there", "goes", "still"):
        write_program(as_user, project / name)
    result = hutch.sh("mv there moved && ln moved linked && mv goes gone && rm gone linked").ok()
    if backend == "none":
        return
    told = [line for line in result.errors.splitlines() if "set-user-ID" in line]
    assert len(told) == 1 and f"{project}/moved" in told[0], result.errors
    report = hutch("run", "--backend", backend, "--json", "--", "/bin/sh", "-c", "mv moved again").ok()
    assert f"{project}/again has a set-user-ID" in report.text, report.text


CHOWN = """
import errno, os, sys, tempfile
top = tempfile.mkdtemp(dir=sys.argv[1])
os.mkdir(f"{top}/d")
os.symlink("f", f"{top}/link")
file = os.open(f"{top}/f", os.O_CREAT | os.O_RDWR)
ways = {
    "by name": lambda *ids: os.chown(f"{top}/f", *ids),
    "of a directory": lambda *ids: os.chown(f"{top}/d", *ids),
    "of a link": lambda *ids: os.lchown(f"{top}/link", *ids),
    "by descriptor": lambda *ids: os.fchown(file, *ids),
}
for name, way in ways.items():
    for ids in ((4321, -1), (-1, 4321), (4321, 4321), (os.getuid(), -1), (-1, os.getgid()), (-1, -1)):
        try: way(*ids); said = "done"
        except OSError as error: said = errno.errorcode[error.errno]
        own = 4321 not in ids
        if said != ("done" if own else "EPERM"): print(name, ids, said)
try: os.chown(f"{top}/absent", 4321, 4321)
except OSError as error: print(errno.errorcode[error.errno])
"""


@pytest.mark.parametrize("place", ["a directory of the project", "/tmp"])
def test_another_owner_is_refused_as_for_anybody_without_rights(hutch, backend, project, as_user, place):
    """An id that the sandbox does not have is EINVAL to the kernel; fakeroot and tar go on after EPERM only."""
    if as_user.is_root:
        pytest.skip("root has every id")
    top = as_user.mkdir(project / "top") if place != "/tmp" else "/tmp"
    assert hutch.run("python3", "-c", CHOWN, top).ok().text == "ENOENT\n"


def test_fakeroot_gives_files_to_root(hutch, backend, as_user):
    if not shutil.which("fakeroot"):
        pytest.skip("fakeroot is not installed")
    said = hutch.sh("fakeroot sh -c 'touch f && chown 0:0 f && stat -c %u:%g f && tar cf - f | tar tvf -'").ok().text
    assert said.startswith("0:0\n-rw") and "root/root" in said
