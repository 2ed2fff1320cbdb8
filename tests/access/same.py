# Ordinary and odd file calls, one line of what came of each: the same in a sandbox as outside of it.
"""Runs in an empty directory with Python alone. Prints neither times nor numbers of inodes."""

import ctypes
import errno
import os
import stat

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, AT_EMPTY_PATH, AT_SYMLINK_FOLLOW = -100, 0x1000, 0x400
NUMBERS = {"renameat2": 316, "openat2": 437, "faccessat2": 439, "fchmodat2": 452}


def raw(name, *args):
    """A call of libc's, or by its number on x86-64."""
    call = getattr(LIBC, name) if name not in NUMBERS else LIBC.syscall
    given = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    if name in NUMBERS:
        given.insert(0, ctypes.c_long(NUMBERS[name]))
    answer = call(*given)
    if answer < 0:
        raise OSError(ctypes.get_errno(), name)
    return "ok"


def shape(path):
    """What is there: type, mode, links, size, first bytes."""
    info = os.lstat(path)
    kind = stat.filemode(info.st_mode)
    text = f"{kind} uid={info.st_uid == os.getuid()} gid={info.st_gid == os.getgid()}"
    if stat.S_ISREG(info.st_mode):
        text += f" links={info.st_nlink} size={info.st_size}"
    if stat.S_ISLNK(info.st_mode):
        text += f" -> {os.readlink(path)}"
    return text


def attempt(label, call, *paths):
    try:
        answer = call()
        said = "ok" if answer is None else str(answer)
    except OSError as error:
        said = errno.errorcode.get(error.errno, str(error.errno))
    except ValueError as error:
        said = f"ValueError {error}"
    shapes = []
    for path in paths:
        try:
            shapes.append(f"{path}: {shape(path)}" if path != ".." else "")
        except OSError as error:
            shapes.append(f"{path}: {errno.errorcode[error.errno]}")
    print(f"{label} | {said} | {'; '.join(shapes)}".replace(os.environ["PWD"], "HERE"), flush=True)


def opened(path, flags, mode=0o666, text=b"", dir_fd=None):
    """Opens, writes, closes; what the descriptor says of itself."""

    def call():
        fd = os.open(path, flags, mode, dir_fd=dir_fd)
        try:
            import fcntl

            state = (
                fcntl.fcntl(fd, fcntl.F_GETFL) & ~0o500000
            )  # O_LARGEFILE, and O_NOFOLLOW, which the supervisor adds
            closes = fcntl.fcntl(fd, fcntl.F_GETFD)
            if text:
                os.write(fd, text)
            return f"flags={state:o} cloexec={closes}"
        finally:
            os.close(fd)

    return call


def write(path, text="x", mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def opens():
    write("file", "hello")
    os.mkdir("dir")
    os.symlink("file", "link")
    os.symlink("nowhere", "dangling")
    os.symlink("dir/made-through", "dangling-deep")
    os.symlink("loop-b", "loop-a")
    os.symlink("loop-a", "loop-b")
    os.symlink("dir", "dir-link")
    os.symlink(os.path.abspath("made-absolute"), "dangling-absolute")
    os.mkfifo("fifo")
    names = [
        "file",
        "new",
        "dir",
        "dir/",
        "file/",
        "link",
        "dangling",
        "dangling-deep",
        "loop-a",
        "dir-link",
        "dir-link/",
        "dir-link/inside",
        "dangling-absolute",
        "none/x",
        "file/x",
        "",
        ".",
        "..",
        "dir/.",
        "dir/..",
        "n" * 255,
        "n" * 256,
        "dir/" * 1100,
        "./././new2",
        "dir/../new3",
        "new4/",
        "dangling/",
    ]
    kinds = {
        "w": os.O_WRONLY,
        "rw": os.O_RDWR,
        "acc3": 3,
        "a": os.O_WRONLY | os.O_APPEND,
        "c": os.O_WRONLY | os.O_CREAT,
        "rc": os.O_RDONLY | os.O_CREAT,
        "cx": os.O_RDWR | os.O_CREAT | os.O_EXCL,
        "ct": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
        "rt": os.O_RDONLY | os.O_TRUNC,
        "cn": os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW,
        "wn": os.O_WRONLY | os.O_NOFOLLOW,
        "d": os.O_RDONLY | os.O_DIRECTORY,
        "dw": os.O_WRONLY | os.O_DIRECTORY,
        "dc": os.O_WRONLY | os.O_CREAT | os.O_DIRECTORY,
        "p": os.O_PATH | os.O_WRONLY,
        "wk": os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK,
        "sync": os.O_RDWR | os.O_SYNC,
    }
    for kind, flags in kinds.items():
        for name in names:
            attempt(f"open {kind} {name[:20]!r}", opened(name, flags), *([name] if 0 < len(name) < 20 else []))
            for made in (
                "new",
                "new2",
                "new3",
                "nowhere",
                "dir/made-through",
                "made-absolute",
                "dir/inside",
                "n" * 255,
            ):
                if os.path.lexists(made):
                    os.unlink(made)
            write("file", "hello")
    attempt("fifo nonblocking", opened("fifo", os.O_WRONLY | os.O_NONBLOCK))
    attempt("fifo both", opened("fifo", os.O_RDWR))
    attempt("fifo created", opened("fifo", os.O_RDWR | os.O_CREAT))
    attempt("device", opened("/dev/null", os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    fd = os.open("dir", os.O_RDONLY)
    attempt("below a descriptor", opened("below", os.O_WRONLY | os.O_CREAT, dir_fd=fd), "dir/below")
    attempt("up from a descriptor", opened("../up", os.O_WRONLY | os.O_CREAT, dir_fd=fd), "up")
    os.close(fd)
    attempt("below no descriptor", opened("below", os.O_WRONLY | os.O_CREAT, dir_fd=99))
    fd = os.open("file", os.O_RDONLY)
    attempt("below a file", opened("below", os.O_WRONLY | os.O_CREAT, dir_fd=fd))
    for path in (
        f"/proc/self/fd/{fd}",
        f"/dev/fd/{fd}",
        f"/proc/thread-self/fd/{fd}",
        f"/proc/{os.getpid()}/fd/{fd}",
        "/proc/self/cwd/file",
        "/proc/self/root" + os.path.abspath("file"),
    ):
        attempt(f"by way of {path.split('/')[1:4:2]}", opened(path, os.O_WRONLY | os.O_APPEND, text=b"+"), "file")
    os.close(fd)
    fd = os.open("file", os.O_WRONLY | os.O_APPEND)
    kept = os.dup(1)
    os.dup2(fd, 1)
    try:
        with open("/dev/stdout", "a", encoding="utf-8") as out:
            out.write("by stdout")
        said = "ok"
    except OSError as error:
        said = errno.errorcode[error.errno]
    os.dup2(kept, 1)
    attempt(f"/dev/stdout {said}", lambda: None, "file")


def masks():
    for mask in (0o000, 0o022, 0o027, 0o077, 0o777):
        os.umask(mask)
        attempt(f"umask {mask:o} open", opened("m", os.O_WRONLY | os.O_CREAT, 0o1777), "m")
        attempt(f"umask {mask:o} mkdir", lambda: os.mkdir("md", 0o7777), "md")
        attempt(f"umask {mask:o} fifo", lambda: os.mkfifo("mf", 0o777), "mf")
        for remove, name in ((os.unlink, "m"), (os.rmdir, "md"), (os.unlink, "mf")):
            remove(name)
    os.umask(0o022)
    os.mkdir("sgid")
    os.chmod("sgid", 0o2775)
    attempt("mkdir in setgid", lambda: os.mkdir("sgid/d"), "sgid/d")
    attempt("file in setgid", opened("sgid/f", os.O_WRONLY | os.O_CREAT), "sgid/f")
    os.mkdir("sticky")
    os.chmod("sticky", 0o1777)
    attempt("file in sticky", opened("sticky/f", os.O_WRONLY | os.O_CREAT), "sticky/f")
    attempt("out of sticky", lambda: os.rename("sticky/f", "sticky/g"), "sticky/g")


def nodes():
    attempt("node regular", lambda: os.mknod("node", 0o644 | stat.S_IFREG), "node")
    attempt("node without a type", lambda: os.mknod("node0", 0o644), "node0")
    attempt("node fifo", lambda: os.mknod("nodef", 0o644 | stat.S_IFIFO), "nodef")
    attempt("node null", lambda: os.mknod("noden", 0o666 | stat.S_IFCHR, os.makedev(1, 3)))
    attempt("node block", lambda: os.mknod("nodeb", 0o666 | stat.S_IFBLK, os.makedev(1, 3)))
    attempt("node twice", lambda: os.mknod("node", 0o644 | stat.S_IFREG))
    attempt("mkdir twice", lambda: os.mkdir("dir"))
    attempt("mkdir over a link", lambda: os.mkdir("dangling"))
    attempt("mkdir slash", lambda: os.mkdir("slashed///"), "slashed")
    attempt("mkdir .", lambda: os.mkdir("."))
    attempt("mkdir ..", lambda: os.mkdir("dir/.."))
    attempt("mkdir empty", lambda: os.mkdir(""))
    attempt("mkdir /", lambda: os.mkdir("/"))
    attempt("symlink empty", lambda: os.symlink("", "empty-link"))
    attempt("symlink twice", lambda: os.symlink("x", "link"))
    attempt("symlink slash", lambda: os.symlink("x", "link-slash/"))
    attempt("symlink long", lambda: os.symlink("l" * 4095, "link-long"))
    attempt("symlink longer", lambda: os.symlink("l" * 4096, "link-longer"))


def moves():
    for name in ("a", "b", "full"):
        os.mkdir(name)
    write("full/x")
    write("f1", "1")
    write("f2", "22")
    attempt("rename file over file", lambda: os.rename("f1", "f2"), "f1", "f2")
    attempt("rename dir over empty", lambda: os.rename("a", "b"), "a", "b")
    attempt("rename dir over full", lambda: os.rename("b", "full"), "b", "full")
    attempt("rename dir over file", lambda: os.rename("b", "f2"))
    attempt("rename file over dir", lambda: os.rename("f2", "b"))
    attempt("rename into itself", lambda: os.rename("full", "full/in"))
    attempt("rename onto itself", lambda: os.rename("f2", "f2"), "f2")
    attempt("rename over its parent", lambda: os.rename("full/x", "full"))
    attempt("rename none", lambda: os.rename("none", "f3"))
    attempt("rename to nowhere", lambda: os.rename("f2", "none/f3"))
    attempt("rename file slash", lambda: os.rename("f2", "f3/"))
    attempt("rename dir slash", lambda: os.rename("b/", "c/"), "c")
    attempt("rename .", lambda: os.rename(".", "d"))
    attempt("rename dir/.", lambda: os.rename("c/.", "d"))
    attempt("rename to ..", lambda: os.rename("c", "full/.."))
    attempt("rename link", lambda: os.rename("link", "link2"), "link", "link2", "file")
    attempt("rename long", lambda: os.rename("f2", "n" * 256))
    for flags in (1, 2, 3, 4, 8, 0x100):
        attempt(
            f"renameat2 {flags}", lambda: raw("renameat2", AT_FDCWD, b"f2", AT_FDCWD, b"full", flags), "f2", "full"
        )
        attempt(
            f"renameat2 {flags} new", lambda: raw("renameat2", AT_FDCWD, b"f2", AT_FDCWD, b"fn", flags), "f2", "fn"
        )
        if os.path.lexists("fn") and not os.path.lexists("f2"):
            os.rename("fn", "f2")
    attempt("rename away", lambda: os.rename("file", "/dev/shm/away-from-here"))
    attempt("rename from proc", lambda: os.rename("/proc/self/status", "status"))


def links():
    write("l1")
    attempt("link", lambda: os.link("l1", "l2"), "l1", "l2")
    attempt("link twice", lambda: os.link("l1", "l2"))
    attempt("link dir", lambda: os.link("dir", "dir2"))
    attempt("link none", lambda: os.link("none", "l3"))
    attempt("link a link", lambda: raw("linkat", AT_FDCWD, b"dir-link", AT_FDCWD, b"l-link", 0), "l-link")
    os.symlink("l1", "to-l1")
    attempt("link through", lambda: raw("linkat", AT_FDCWD, b"to-l1", AT_FDCWD, b"l4", AT_SYMLINK_FOLLOW), "l4")
    attempt("link flags", lambda: raw("linkat", AT_FDCWD, b"l1", AT_FDCWD, b"l5", 1), "l5")
    attempt("unlink", lambda: os.unlink("l2"), "l1", "l2")
    attempt("unlink none", lambda: os.unlink("l2"))
    attempt("unlink dir", lambda: os.unlink("dir"))
    attempt("unlink slash", lambda: os.unlink("l1/"))
    attempt("unlink link", lambda: os.unlink("to-l1"), "l1")
    attempt("rmdir file", lambda: os.rmdir("l1"))
    attempt("rmdir full", lambda: os.rmdir("full"))
    attempt("rmdir .", lambda: os.rmdir("."))
    attempt("rmdir ..", lambda: os.rmdir("dir/.."))
    attempt("rmdir link slash", lambda: os.rmdir("dir-link/"))
    attempt("unlinkat flags", lambda: raw("unlinkat", AT_FDCWD, b"l1", 1))
    os.mkdir("gone")
    home = os.getcwd()
    os.chdir("gone")
    os.rmdir(home + "/gone")
    attempt("open in a removed one", opened("x", os.O_WRONLY | os.O_CREAT))
    attempt("mkdir in a removed one", lambda: os.mkdir("x"))
    attempt("up from a removed one", opened("../x", os.O_WRONLY | os.O_CREAT))
    os.chdir(home)


def changes():
    os.path.isdir("c") and os.rmdir("c")
    write("c", "12345")
    os.symlink("c", "to-c")
    reading, whole, by_path = os.open("c", os.O_RDONLY), os.open("c", os.O_RDWR), os.open("c", os.O_PATH)
    for name, fd in (("read", reading), ("write", whole), ("path", by_path), ("none", 99)):
        attempt(f"fchmod {name}", lambda: os.fchmod(fd, 0o640), "c")
        attempt(f"fchown {name}", lambda: os.fchown(fd, -1, -1), "c")
        attempt(f"futimens {name}", lambda: raw("futimens", fd, None))
        attempt(f"fsetxattr {name}", lambda: raw("fsetxattr", fd, b"user.t", b"v", 1, 0))
        attempt(f"fremovexattr {name}", lambda: raw("fremovexattr", fd, b"user.t"))
        attempt(f"ftruncate {name}", lambda: raw("ftruncate", fd, 3), "c")
        for call in ("fchmodat", "fchownat", "faccessat"):
            args = {"fchmodat": (0o600, 0), "fchownat": (-1, -1, 0), "faccessat": (2, 0)}[call]
            attempt(f"{call} empty {name}", lambda: raw(call, fd, b"", *args))
        attempt(f"fchownat empty by flag {name}", lambda: raw("fchownat", fd, b"", -1, -1, AT_EMPTY_PATH))
        attempt(f"faccessat2 empty by flag {name}", lambda: raw("faccessat2", fd, b"", 2, AT_EMPTY_PATH))
    for fd in (reading, whole, by_path):
        os.close(fd)
    attempt("chown here by flag", lambda: raw("fchownat", AT_FDCWD, b"", -1, -1, AT_EMPTY_PATH))
    for path in ("c", "to-c", "dir", "dangling", "none", "c/", "dir/", "fifo", "", ".", "c/x", "loop-a"):
        attempt(f"chmod {path}", lambda: os.chmod(path, 0o755), "c")
        attempt(f"chown {path}", lambda: os.chown(path, -1, os.getgid()))
        attempt(f"chown to another {path}", lambda: os.chown(path, 12345, 12345))
        attempt(f"lchown {path}", lambda: os.lchown(path, -1, -1))
        attempt(f"utime {path}", lambda: os.utime(path, (1, 2)))
        attempt(f"lutime {path}", lambda: os.utime(path, ns=(5, 6), follow_symlinks=False))
        attempt(f"utime says {path}", lambda: os.stat(path).st_mtime_ns)
        attempt(f"truncate {path}", lambda: os.truncate(path, 9), "c")
        attempt(f"setxattr {path}", lambda: os.setxattr(path, "user.a", b"1"))
        attempt(f"setxattr once {path}", lambda: os.setxattr(path, "user.a", b"1", os.XATTR_CREATE))
        attempt(f"lsetxattr {path}", lambda: os.setxattr(path, "user.b", b"1", follow_symlinks=False))
        attempt(f"listxattr {path}", lambda: sorted(os.listxattr(path)))
        attempt(f"removexattr {path}", lambda: os.removexattr(path, "user.a"))
        attempt(f"removexattr none {path}", lambda: os.removexattr(path, "user.a"))
        for mode in (0, 1, 2, 4, 6, 7, 8):
            attempt(f"access {mode} {path}", lambda: raw("access", path.encode(), mode))
            attempt(f"faccessat2 {mode} {path}", lambda: raw("faccessat2", AT_FDCWD, path.encode(), mode, 0x100))
    attempt("setxattr trusted", lambda: os.setxattr("c", "trusted.a", b"1"))
    attempt("setxattr odd", lambda: os.setxattr("c", "odd", b"1"))
    attempt("setxattr name", lambda: os.setxattr("c", "user." + "n" * 255, b"1"))
    attempt("setxattr huge", lambda: raw("setxattr", b"c", b"user.h", b"", 70000, 0))
    attempt("truncate negative", lambda: os.truncate("c", -1))
    attempt("chmod all bits", lambda: os.chmod("c", 0o1777), "c")
    for mode in (0o444, 0o000, 0o200, 0o222):
        write("ro", "x", mode)
        attempt(f"access w {mode:o}", lambda: os.access("ro", os.W_OK))
        attempt(f"access r {mode:o}", lambda: os.access("ro", os.R_OK))
        for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC, os.O_WRONLY | os.O_CREAT):
            attempt(f"open {flags:o} of {mode:o}", opened("ro", flags), "ro")
        attempt(f"truncate {mode:o}", lambda: os.truncate("ro", 0))
        attempt(f"setxattr {mode:o}", lambda: os.setxattr("ro", "user.a", b"1"))
        os.unlink("ro")
    os.mkdir("rodir")
    write("rodir/x")
    for mode in (0o555, 0o000, 0o311, 0o666):
        os.chmod("rodir", mode)
        attempt(f"open in {mode:o}", opened("rodir/x", os.O_WRONLY))
        attempt(f"make in {mode:o}", opened("rodir/y", os.O_WRONLY | os.O_CREAT))
        attempt(f"mkdir in {mode:o}", lambda: os.mkdir("rodir/d"))
        attempt(f"rename in {mode:o}", lambda: os.rename("rodir/x", "rodir/z"))
        attempt(f"unlink in {mode:o}", lambda: os.unlink("rodir/z"))
        os.chmod("rodir", 0o755)
        write("rodir/x")


def pointers():
    page = ctypes.c_void_p(1)
    for name, args in (
        ("open", (1,)),
        ("mkdir", (0o755,)),
        ("unlink", ()),
        ("chmod", (0,)),
        ("truncate", (0,)),
        ("rmdir", ()),
        ("mknod", (0o644, 0)),
        ("access", (2,)),
        ("utimes", (None,)),
    ):
        attempt(f"{name} of nothing", lambda: raw(name, None, *args))
        attempt(f"{name} of a bad pointer", lambda: raw(name, page, *args))
    for name in ("rename", "link", "symlink"):
        attempt(f"{name} from nothing", lambda: raw(name, None, b"p1"), "p1")
        attempt(f"{name} to nothing", lambda: raw(name, b"c", None), "c")
    attempt("utimensat bad times", lambda: raw("utimensat", AT_FDCWD, b"c", page, 0))
    attempt("utimensat no path", lambda: raw("utimensat", AT_FDCWD, None, None, 0))

    class How(ctypes.Structure):
        _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]

    def openat2(path, flags, mode=0, resolve=0, size=24):
        how = How(flags, mode, resolve)
        return raw("openat2", AT_FDCWD, path, ctypes.byref(how), size)

    beneath, in_root, no_links, no_magic, no_mounts = 8, 16, 4, 2, 1
    for resolve in (0, beneath, in_root, no_links, no_magic, no_mounts, 0x800):
        for path in (
            b"c",
            b"to-c",
            b"dir/../c",
            b"../c",
            os.path.abspath("c").encode(),
            b"dir-link/made",
            b"/made-in-root",
            b"/proc/self/cwd/c",
        ):
            said = "absolute" if path.endswith(b"/w/c") else path
            attempt(f"openat2 {resolve} {said}", lambda: openat2(path, os.O_WRONLY | os.O_CREAT, 0o644, resolve))
        for made in ("dir/made", "made-in-root"):
            if os.path.exists(made):
                os.unlink(made)
    attempt("openat2 mode without making", lambda: openat2(b"c", os.O_WRONLY, 0o644))
    attempt("openat2 unknown flag", lambda: openat2(b"c", os.O_WRONLY | 1 << 40))
    attempt("openat2 unknown low flag", lambda: openat2(b"c", os.O_WRONLY | 1 << 27))
    attempt("openat2 high mode", lambda: openat2(b"c2", os.O_WRONLY | os.O_CREAT, 0o100644), "c2")
    attempt("openat2 small", lambda: openat2(b"c", os.O_WRONLY, size=8))
    attempt("openat2 nothing", lambda: openat2(b"c", os.O_WRONLY, size=0))


def limits():
    import resource

    highest = 40
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest, before[1]))
    held = []
    try:
        while len(held) < 100:
            held.append(os.open("c", os.O_WRONLY | os.O_CREAT))
        said = "no limit"
    except OSError as error:
        said = errno.errorcode[error.errno]
    for fd in held:
        os.close(fd)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    print("descriptors", said)


if __name__ == "__main__":
    os.umask(0o022)
    for part in (opens, masks, nodes, moves, links, changes, pointers, limits):
        print("#", part.__name__)
        try:
            part()
        except OSError as error:
            print("STOPPED", part.__name__, error)
