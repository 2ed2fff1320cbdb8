# Makes each call of the table of descriptor calls on one descriptor of each kind, and prints what each answered.
"""Runs with Python alone: `descriptors.py [unreadable] ROW...`, a row being CALL:VARIANT. Opens all files first, says
so, waits for a line, and then makes the calls: whoever started it may rename the files meanwhile. With `unreadable` it
makes itself unreadable for other processes before (prctl(2), PR_SET_DUMPABLE)."""

import array
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import socket
import struct
import sys

AT_FDCWD, AT_EMPTY_PATH, AT_SYMLINK_FOLLOW = -100, 0x1000, 0x400
PR_SET_DUMPABLE = 4
X86 = platform.machine() == "x86_64"
# Their numbers on x86-64 and aarch64.
NUMBERS = {
    "fchmod": (91, 52), "fchmodat2": (452, 452), "chmod": (90, None), "fchmodat": (268, 53), "fchown": (93, 55),
    "fchownat": (260, 54), "chown": (92, None), "utimensat": (280, 88), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "fsetxattr": (190, 7), "setxattr": (188, 5), "fremovexattr": (199, 16),
    "removexattr": (197, 14), "setxattrat": (463, 463), "removexattrat": (466, 466), "truncate": (76, 45),
    "open": (2, None), "openat": (257, 56), "openat2": (437, 437), "creat": (85, None), "linkat": (265, 37),
    "file_setattr": (469, 469), "ioctl": (16, 29), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "open_tree": (428, 428), "quotactl_fd": (443, 443), "io_uring_setup": (425, 425), "write": (1, 64),
    "pwrite64": (18, 68), "writev": (20, 66), "pwritev": (296, 70), "pwritev2": (328, 287), "sendfile": (40, 71),
    "splice": (275, 76), "copy_file_range": (326, 285), "ftruncate": (77, 46), "fallocate": (285, 47),
    "flock": (73, 32), "fsync": (74, 82), "fdatasync": (75, 83), "syncfs": (306, 267), "sync_file_range": (277, 84),
    "fadvise64": (221, 223), "readahead": (187, 213), "pidfd_getfd": (438, 438), "io_submit": (209, 2),
    "io_setup": (206, 0),
}
KINDS = {"writable": os.O_RDWR, "reading": os.O_RDONLY, "path": os.O_PATH}
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long


def number(name):
    return NUMBERS[name][0 if X86 else 1]


def call(name, *arguments):
    made = LIBC.syscall(ctypes.c_long(number(name)),
                        *[ctypes.c_long(given) if isinstance(given, int) else given for given in arguments])
    if made < 0:
        raise OSError(ctypes.get_errno(), name)
    return made


def times(seconds):
    return struct.pack("qqqq", seconds, 0, seconds, 0)


def proc(fd):
    return f"/proc/self/fd/{fd}".encode()


def written(made):
    """By the descriptor that a call gave."""
    os.write(made, b"reopened")
    os.close(made)


TEXT = ctypes.create_string_buffer(b"text")


def vector():
    return struct.pack("QQ", ctypes.addressof(TEXT), 4)


def piped(text):
    reads, writes = os.pipe()
    os.write(writes, text)
    return reads


def mapped(fd):
    with mmap.mmap(fd, 4, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE) as held:
        held[:4] = b"map!"


def passed(fd):
    one, other = socket.socketpair()
    one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    _, held, _, _ = other.recvmsg(1, socket.CMSG_SPACE(4))
    os.close(struct.unpack("i", held[0][2])[0])


def taken(fd):
    pidfd = os.pidfd_open(os.getpid())
    os.close(call("pidfd_getfd", pidfd, fd, 0))


def submitted(fd):
    """io_setup(2) and io_submit(2): IOCB_CMD_PWRITE."""
    context, held = ctypes.c_ulong(0), ctypes.create_string_buffer(b"aio!")
    call("io_setup", 1, ctypes.byref(context))
    block = ctypes.create_string_buffer(struct.pack("QIIHhIQQqQII", 0, 0, 0, 1, 0, fd, ctypes.addressof(held), 4, 0, 0,
                                                    0, 0))
    call("io_submit", context, 1, (ctypes.c_void_p * 1)(ctypes.addressof(block)))


def with_spare(make):
    """A second file that can be read."""
    spare = os.open("spare", os.O_RDONLY)
    try:
        return make(spare)
    finally:
        os.close(spare)


def requested(what, argument):
    return lambda fd: call("ioctl", fd, what, argument)


ROWS = {
    "fchmod:descriptor": lambda fd: call("fchmod", fd, 0o600),
    "fchmodat2:empty path": lambda fd: call("fchmodat2", fd, b"", 0o600, AT_EMPTY_PATH),
    "chmod:/proc/self/fd": lambda fd: call("chmod", proc(fd), 0o600),
    "fchmodat:/proc/self/fd": lambda fd: call("fchmodat", AT_FDCWD, proc(fd), 0o600),
    "fchown:descriptor": lambda fd: call("fchown", fd, os.getuid(), os.getgid()),
    "fchownat:empty path": lambda fd: call("fchownat", fd, b"", os.getuid(), os.getgid(), AT_EMPTY_PATH),
    "chown:/proc/self/fd": lambda fd: call("chown", proc(fd), os.getuid(), os.getgid()),
    "utimensat:descriptor": lambda fd: call("utimensat", fd, None, times(1000), 0),
    "utimensat:empty path": lambda fd: call("utimensat", fd, b"", times(1000), AT_EMPTY_PATH),
    "utimensat:/proc/self/fd": lambda fd: call("utimensat", AT_FDCWD, proc(fd), times(1000), 0),
    "utime:/proc/self/fd": lambda fd: call("utime", proc(fd), struct.pack("qq", 1000, 1000)),
    "utimes:/proc/self/fd": lambda fd: call("utimes", proc(fd), times(1000)),
    "futimesat:/proc/self/fd": lambda fd: call("futimesat", AT_FDCWD, proc(fd), times(1000)),
    "fsetxattr:descriptor": lambda fd: call("fsetxattr", fd, b"user.new", b"v", 1, 0),
    "setxattr:/proc/self/fd": lambda fd: call("setxattr", proc(fd), b"user.new", b"v", 1, 0),
    "fremovexattr:descriptor": lambda fd: call("fremovexattr", fd, b"user.old"),
    "removexattr:/proc/self/fd": lambda fd: call("removexattr", proc(fd), b"user.old"),
    "setxattrat:empty path": lambda fd: call("setxattrat", fd, b"", AT_EMPTY_PATH, b"user.new", struct.pack(
        "QII", ctypes.addressof(TEXT), 1, 0), 16),
    "removexattrat:empty path": lambda fd: call("removexattrat", fd, b"", AT_EMPTY_PATH, b"user.old"),
    "truncate:/proc/self/fd": lambda fd: call("truncate", proc(fd), 3),
    "open:/proc/self/fd": lambda fd: written(call("open", proc(fd), os.O_RDWR)),
    "openat:/proc/self/fd": lambda fd: written(call("openat", AT_FDCWD, proc(fd), os.O_WRONLY)),
    "openat2:/proc/self/fd": lambda fd: written(call("openat2", AT_FDCWD, proc(fd), struct.pack(
        "QQQ", os.O_WRONLY, 0, 0), 24)),
    "creat:/proc/self/fd": lambda fd: written(call("creat", proc(fd), 0o644)),
    "linkat:/proc/self/fd": lambda fd: call("linkat", AT_FDCWD, proc(fd), AT_FDCWD, f"linked-{fd}".encode(),
                                            AT_SYMLINK_FOLLOW),
    "linkat:empty path": lambda fd: call("linkat", fd, b"", AT_FDCWD, f"linked-{fd}".encode(), AT_EMPTY_PATH),
    "file_setattr:empty path": lambda fd: call("file_setattr", fd, b"", bytes(24), 24, AT_EMPTY_PATH),
    "ioctl:FS_IOC_SETFLAGS": requested(0x40086602, struct.pack("l", 0x40)),  # FS_NODUMP_FL
    "ioctl:FS_IOC_FSSETXATTR": requested(0x401C5820, struct.pack("I", 0x80).ljust(28, b"\0")),  # FS_XFLAG_NODUMP
    "ioctl:FS_IOC_SETVERSION": requested(0x40087602, struct.pack("l", 7)),
    "ioctl:FS_IOC_ENABLE_VERITY": requested(0x40806685, struct.pack("II", 1, 1).ljust(128, b"\0")),
    "ioctl:FS_IOC_SET_ENCRYPTION_POLICY": requested(0x800C6613, bytes(12)),
    "ioctl:FAT_IOCTL_SET_ATTRIBUTES": requested(0x40047211, bytes(4)),
    "name_to_handle_at:empty path": lambda fd: call("name_to_handle_at", fd, b"", ctypes.create_string_buffer(
        struct.pack("Ii", 128, 0), 136), ctypes.byref(ctypes.c_int()), AT_EMPTY_PATH),
    "open_by_handle_at:descriptor": lambda fd: call("open_by_handle_at", fd, struct.pack("Ii", 8, 1) + bytes(8),
                                                    os.O_RDWR),
    "open_tree:empty path": lambda fd: call("open_tree", fd, b"", AT_EMPTY_PATH | 1),
    "quotactl_fd:descriptor": lambda fd: call("quotactl_fd", fd, 0x80000700, 0, 0),
    "io_uring_setup:descriptor": lambda fd: call("io_uring_setup", 1, ctypes.create_string_buffer(120)),
    "write:descriptor": lambda fd: call("write", fd, b"text", 4),
    "pwrite64:descriptor": lambda fd: call("pwrite64", fd, b"text", 4, 0),
    "writev:descriptor": lambda fd: call("writev", fd, vector(), 1),
    "pwritev:descriptor": lambda fd: call("pwritev", fd, vector(), 1, 0, 0),
    "pwritev2:descriptor": lambda fd: call("pwritev2", fd, vector(), 1, 0, 0, 0),
    "sendfile:descriptor": lambda fd: with_spare(lambda spare: call("sendfile", fd, spare, 0, 4)),
    "splice:descriptor": lambda fd: call("splice", piped(b"text"), 0, fd, 0, 4, 0),
    "copy_file_range:descriptor": lambda fd: with_spare(lambda spare: call("copy_file_range", spare, 0, fd, 0, 4,
                                                                              0)),
    "io_submit:descriptor": submitted,
    "mmap:descriptor": mapped,
    "ftruncate:descriptor": lambda fd: call("ftruncate", fd, 3),
    "fallocate:descriptor": lambda fd: call("fallocate", fd, 0, 0, 9000),
    "ioctl:FICLONE": lambda fd: with_spare(lambda spare: call("ioctl", fd, 0x40049409, spare)),
    "ioctl:FICLONERANGE": lambda fd: with_spare(lambda spare: call("ioctl", fd, 0x4020940D, struct.pack(
        "qQQQ", spare, 0, 0, 0))),
    "dup:descriptor": lambda fd: os.close(os.dup(fd)),
    "fcntl:F_DUPFD": lambda fd: os.close(fcntl.fcntl(fd, fcntl.F_DUPFD, 100)),
    "sendmsg:SCM_RIGHTS": passed,
    "pidfd_getfd:descriptor": taken,
    "flock:descriptor": lambda fd: call("flock", fd, fcntl.LOCK_SH | fcntl.LOCK_NB),
    "fsync:descriptor": lambda fd: call("fsync", fd),
    "fdatasync:descriptor": lambda fd: call("fdatasync", fd),
    "syncfs:descriptor": lambda fd: call("syncfs", fd),
    "sync_file_range:descriptor": lambda fd: call("sync_file_range", fd, 0, 4, 0),
    "fadvise64:descriptor": lambda fd: call("fadvise64", fd, 0, 4, 0),
    "readahead:descriptor": lambda fd: call("readahead", fd, 0, 4),
}

# What no other call may do to a file either: by the name, or by the descriptor, it is the same. The others of the table
# do what the descriptor was given for.
LEFT_TO_IT = {
    "write:descriptor", "pwrite64:descriptor", "writev:descriptor", "pwritev:descriptor", "pwritev2:descriptor",
    "sendfile:descriptor", "splice:descriptor", "copy_file_range:descriptor", "io_submit:descriptor",
    "mmap:descriptor", "ftruncate:descriptor", "fallocate:descriptor", "ioctl:FICLONE", "ioctl:FICLONERANGE",
    "dup:descriptor", "fcntl:F_DUPFD", "sendmsg:SCM_RIGHTS", "pidfd_getfd:descriptor", "flock:descriptor",
    "fsync:descriptor", "fdatasync:descriptor", "syncfs:descriptor", "sync_file_range:descriptor",
    "fadvise64:descriptor", "readahead:descriptor",
}
ATTACKS = [row for row in ROWS if row not in LEFT_TO_IT]


def is_here(row):
    name = row.split(":")[0]
    return name not in NUMBERS or number(name) is not None


def main(rows):
    opened = {}
    for row in rows:
        for kind, flags in KINDS.items():
            opened[row, kind] = os.open(f"{rows.index(row)}-{kind}/plain", flags)
    print("ready", flush=True)
    sys.stdin.readline()
    for (row, kind), fd in opened.items():
        try:
            ROWS[row](fd)
            said = "ok"
        except OSError as error:
            said = errno.errorcode[error.errno]
        print(f"{row}|{kind}|{said}", flush=True)


if __name__ == "__main__":
    if "unreadable" in sys.argv:
        sys.argv.remove("unreadable")
        LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    main(sys.argv[1:] or [row for row in ROWS if is_here(row)])
