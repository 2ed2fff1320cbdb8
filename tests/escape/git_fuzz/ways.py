# The ways in which a file or a directory comes to have a name: by every call that can do it.
"""Nothing raises an OSError: what is refused inside a sandbox is refused, and the round goes on."""

import ctypes
import mmap
import os
import shutil
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, AT_EMPTY_PATH, RENAME_EXCHANGE = -100, 0x1000, 2
SYS_RENAMEAT2, SYS_OPENAT2 = 316, 437


def encoded(data):
    return data if isinstance(data, bytes) else data.encode()


def exchange(one, other):
    if LIBC.syscall(SYS_RENAMEAT2, AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def above(path):
    return os.path.dirname(path) or "."


class Ways:
    """`rng` chooses the way; `tries` makes one call, and says nothing of a failure."""

    def __init__(self, rng):
        self.rng, self.count = rng, 0
        self.file_ways = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("file_")]
        self.directory_ways = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("directory_")]

    def tries(self, call, *args, **named):
        try:
            return call(*args, **named)
        except (OSError, ValueError, shutil.Error):
            return None

    def fresh(self):
        self.count += 1
        return f"t{self.rng.randrange(10**6)}-{self.count}"

    def put(self, path, data, mode=0o755):
        """The file `path` with the content, by one way; a plain one is the likeliest."""
        self.tries(os.makedirs, above(path), exist_ok=True)
        way = self.rng.choice(self.file_ways) if self.rng.random() < 0.75 else self.file_plain
        self.tries(way, path, encoded(data))
        self.tries(os.chmod, path, mode)

    def put_directory(self, path, files):
        """The directory `path` with the files (name -> content), by one way."""
        self.tries(os.makedirs, above(path), exist_ok=True)
        self.tries(self.rng.choice(self.directory_ways), path, files)

    def fill(self, path, files):
        self.tries(os.makedirs, path, exist_ok=True)
        for name, data in files.items():
            self.tries(os.makedirs, above(f"{path}/{name}"), exist_ok=True)
            self.tries(self.file_plain, f"{path}/{name}", encoded(data))
            self.tries(os.chmod, f"{path}/{name}", 0o755)

    # Files.

    def file_plain(self, path, data):
        with open(path, "wb", buffering=0) as file:
            file.write(data)

    def file_append(self, path, data):
        with open(path, "ab", buffering=0) as file:
            file.write(b"\n" + data)

    def file_in_place(self, path, data):
        with open(path, "r+b", buffering=0) as file:
            file.write(data)
            file.truncate()

    def file_in_two_writes(self, path, data):
        with open(path, "wb", buffering=0) as file:
            file.write(data[:len(data) // 2])
            file.write(data[len(data) // 2:])

    def file_anew(self, path, data):
        self.tries(os.unlink, path)
        self.file_plain(path, data)

    def file_renamed(self, path, data):
        other = self.fresh()
        self.file_plain(other, data)
        os.rename(other, path)

    def file_by_lock(self, path, data):
        self.file_plain(path + ".lock", data)
        os.rename(path + ".lock", path)

    def file_linked(self, path, data):
        other = self.fresh()
        self.file_plain(other, data)
        self.tries(os.unlink, path)
        os.link(other, path)

    def file_linked_before(self, path, data):
        other = self.fresh()
        os.link(path, other)
        self.file_in_place(other, data)

    def file_exchanged(self, path, data):
        other = self.fresh()
        self.file_plain(other, data)
        if not os.path.lexists(path):
            self.tries(self.file_plain, path, b"")
        exchange(other, path)

    def file_symbolic(self, path, data):
        other = self.fresh()
        self.file_plain(other, data)
        self.tries(os.unlink, path)
        os.symlink(os.path.relpath(other, above(path)), path)

    def file_symbolic_hard(self, path, data):
        other, link = self.fresh(), self.fresh()
        self.file_plain(other, data)
        os.symlink(os.path.abspath(other), link)
        self.tries(os.unlink, path)
        os.link(link, path, follow_symlinks=False)

    def file_through_symbolic(self, path, data):
        link = self.fresh()
        os.symlink(path, link)
        self.file_plain(link, data)

    def file_symbolic_parent(self, path, data):
        link = self.fresh()
        os.symlink(above(path), link)
        self.file_plain(f"{link}/{os.path.basename(path)}", data)

    def file_written_after_rename(self, path, data):
        other = self.fresh()
        with open(other, "wb", buffering=0) as file:
            self.tries(os.rename, other, path)
            file.write(data)

    def file_written_after_link(self, path, data):
        other = self.fresh()
        with open(other, "w+b", buffering=0) as file:
            self.tries(os.link, other, path)
            with mmap.mmap(file.fileno(), 0) if file.truncate(len(data)) and data else file as mapped:
                mapped.write(data)

    def file_unnamed(self, path, data):
        fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o755)
        try:
            os.write(fd, data)
            self.tries(os.unlink, path)
            os.link(f"/proc/self/fd/{fd}", path, follow_symlinks=True)
            os.pwrite(fd, data, 0)
        finally:
            os.close(fd)

    def file_reopened(self, path, data):
        fd = os.open(path, os.O_CREAT | os.O_RDONLY, 0o755)
        try:
            self.file_plain(f"/proc/self/fd/{fd}", data)
        finally:
            os.close(fd)

    def file_by_root(self, path, data):
        self.file_plain("/proc/self/root" + os.path.abspath(path), data)

    def file_by_cwd(self, path, data):
        self.file_plain("/proc/self/cwd/./" + path.replace("/", "//"), data)

    def file_by_descriptor(self, path, data):
        parent = os.open(above(path), os.O_RDONLY | os.O_DIRECTORY)
        try:
            fd = os.open(os.path.basename(path), os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o755, dir_fd=parent)
            os.write(fd, data)
            os.close(fd)
        finally:
            os.close(parent)

    def file_by_descriptor_moved(self, path, data):
        """The directory gets its name while it is open."""
        other = self.fresh()
        os.mkdir(other)
        directory = os.open(other, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fd = os.open("x", os.O_CREAT | os.O_WRONLY, 0o755, dir_fd=directory)
            if self.rng.random() < 0.5:
                self.tries(os.rename, above(path), self.fresh())
            self.tries(os.rename, other, above(path))
            self.tries(os.rename, "x", os.path.basename(path), src_dir_fd=directory, dst_dir_fd=directory)
            os.write(fd, data)
            os.close(fd)
        finally:
            os.close(directory)

    def file_by_openat2(self, path, data):
        how = struct.pack("QQQ", os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o755, 0)
        fd = LIBC.syscall(SYS_OPENAT2, AT_FDCWD, os.fsencode(path), how, len(how))
        if fd >= 0:
            os.write(fd, data)
            os.close(fd)

    def file_in_parent_moved(self, path, data):
        parent, other = above(path), self.fresh()
        os.rename(parent, other)
        self.tries(self.file_plain, f"{other}/{os.path.basename(path)}", data)
        os.rename(other, parent)

    def file_in_copied_parent(self, path, data):
        parent, other = above(path), self.fresh()
        shutil.copytree(parent, other, symlinks=True, ignore=shutil.ignore_patterns("objects", "t*-*"))
        self.tries(self.file_plain, f"{other}/{os.path.basename(path)}", data)
        exchange(other, parent)

    def file_in_top_moved(self, path, data):
        top, _, rest = path.partition("/")
        other = self.fresh()
        os.rename(top, other)
        self.tries(self.file_plain, f"{other}/{rest}", data)
        os.rename(other, top)

    def file_from_directory(self, path, data):
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(above(path))
            self.tries(self.file_plain, os.path.basename(path), data)
        finally:
            os.fchdir(here)
            os.close(here)

    def file_from_child(self, path, data):
        child = os.fork()
        if child == 0:
            self.tries(self.file_anew, path, data)
            os._exit(0)
        os.waitpid(child, 0)

    def file_copied(self, path, data):
        other = self.fresh()
        self.file_plain(other, data)
        with open(other, "rb") as source, open(path, "wb") as target:
            os.copy_file_range(source.fileno(), target.fileno(), len(data))

    def file_closed_directory(self, path, data):
        parent = above(path)
        fd = os.open(parent, os.O_RDONLY)
        try:
            self.tries(os.fchmod, fd, 0)
            self.tries(self.file_plain, path, data)
            os.fchmod(fd, 0o755)
            self.tries(self.file_plain, path, data)
        finally:
            os.close(fd)

    # Directories.

    def directory_in_place(self, path, files):
        self.fill(path, files)

    def directory_each_way(self, path, files):
        for name, data in files.items():
            self.put(f"{path}/{name}", data)

    def directory_renamed(self, path, files):
        other = self.fresh()
        self.fill(other, files)
        if os.path.lexists(path):
            self.tries(os.rename, path, self.fresh())
        os.rename(other, path)

    def directory_exchanged(self, path, files):
        other = self.fresh()
        self.fill(other, files)
        exchange(other, path)

    def directory_symbolic(self, path, files):
        other = self.fresh()
        self.fill(other, files)
        self.tries(os.rename, path, self.fresh())
        os.symlink(os.path.relpath(other, above(path)), path)

    def directory_symbolic_first(self, path, files):
        other = self.fresh()
        self.tries(os.rename, path, self.fresh())
        os.symlink(os.path.relpath(other, above(path)), path)
        self.fill(other, files)

    def directory_filled_after(self, path, files):
        other = self.fresh()
        os.mkdir(other)
        directory = os.open(other, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self.tries(os.rename, path, self.fresh())
            self.tries(os.rename, other, path)
            for name, data in files.items():
                self.fill(f"/proc/self/fd/{directory}", {name: data})
        finally:
            os.close(directory)

    def directory_opened_later(self, path, files):
        other = self.fresh()
        self.fill(other, files)
        os.chmod(other, 0)
        self.tries(os.rename, path, self.fresh())
        self.tries(os.rename, other, path)
        os.chmod(path if os.path.lexists(path) else other, 0o755)

    def directory_above_moved(self, path, files):
        parent, other = above(path), self.fresh()
        os.rename(parent, other)
        self.fill(f"{other}/{os.path.basename(path)}", files)
        os.rename(other, parent)
