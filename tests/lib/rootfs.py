# Archives of root file systems, the program of the smallest of them, and people who have subordinate ids.
import dataclasses
import io
import os
import pathlib
import tarfile

import harness

# Answers by the name that it was started by: a system of one program.
SYSTEM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <errno.h>
#include <dirent.h>
#include <sys/stat.h>
int one(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  const char *path = argc > 2 ? argv[2] : "";
  if (!strcmp(what, "cat")) {
    char bytes[4096];
    int fd = open(path, O_RDONLY);
    if (fd < 0) { printf("%s\n", strerror(errno)); return 1; }
    long size = read(fd, bytes, sizeof bytes);
    if (size > 0) fwrite(bytes, 1, size, stdout);
    return 0;
  }
  if (!strcmp(what, "write")) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, argv[3], strlen(argv[3])) < 0) { printf("%s\n", strerror(errno)); return 1; }
    return 0;
  }
  if (!strcmp(what, "ls")) {
    DIR *directory = opendir(path);
    if (!directory) { printf("%s\n", strerror(errno)); return 1; }
    for (struct dirent *entry; (entry = readdir(directory));) printf("%s\n", entry->d_name);
    return 0;
  }
  if (!strcmp(what, "stat")) {
    struct stat status;
    if (lstat(path, &status)) { printf("%s\n", strerror(errno)); return 1; }
    printf("%o %d:%d\n", status.st_mode, status.st_uid, status.st_gid);
    return 0;
  }
  if (!strcmp(what, "remove")) {
    if (unlink(path)) { printf("%s\n", strerror(errno)); return 1; }
    return 0;
  }
  if (!strcmp(what, "move")) {
    if (rename(path, argv[3])) { printf("%s\n", strerror(errno)); return 1; }
    return 0;
  }
  if (!strcmp(what, "mkdir")) {
    if (mkdir(path, 0755)) { printf("%s\n", strerror(errno)); return 1; }
    return 0;
  }
  if (!strcmp(what, "wait")) { sleep(atoi(path)); return 0; }
  if (!strcmp(what, "env")) { printf("%s\n", getenv(path) ? getenv(path) : "(none)"); return 0; }
  if (!strcmp(what, "id")) { printf("%d:%d\n", getuid(), getgid()); return 0; }
  return 2;
}
// Several, with "," between them.
int main(int argc, char **argv) {
  int first = 0, code = 0;
  for (int i = 1; i <= argc; ++i) {
    if (i < argc && strcmp(argv[i], ",")) continue;
    code = one(i - first, argv + first);
    fflush(stdout);
    first = i;
  }
  return code;
}
"""


FIRST_SUBORDINATE = 0x6000_0000


@dataclasses.dataclass(frozen=True)
class Owner(harness.Person):
    """An ordinary user with a name and subordinate ids: this machine's /etc/passwd, /etc/subuid and /etc/subgid are
    others for what it runs, in a mount namespace of its own."""

    etc: pathlib.Path = None

    def command(self, argv):
        mounts = " && ".join(f"mount --bind {self.etc / name} /etc/{name}" for name in ("passwd", "subuid", "subgid"))
        begin = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", f'{mounts} && exec "$@"', "sh"]
        return begin + super().command(argv)


# With subordinate ids where these tests can give them.
OWNERS = ["root", "user", "owner"] if os.geteuid() == 0 else ["user"]


def owner(base, name):
    """Root, an ordinary user, or one with subordinate ids."""
    person = base.person(name)
    if name != "owner":
        return person
    etc = base.path / "etc-of-owner"
    if not etc.exists():
        etc.mkdir()
        users = pathlib.Path("/etc/passwd").read_text()
        (etc / "passwd").write_text(f"{users}owner:x:{person.uid}:{person.uid}::{person.home}:/bin/sh\n")
        for kind in ("subuid", "subgid"):
            (etc / kind).write_text(f"owner:{FIRST_SUBORDINATE}:65536\n")
        for path in (etc, *etc.iterdir()):
            path.chmod(0o755)
    return Owner(person.name, person.uid, person.home, etc)


class Rootfs:
    """A tar that is written entry by entry: rootfs.file("etc/x", b"text"), rootfs.entry(name, type, ...)."""

    def __init__(self, path, person, mode="w"):
        self.path, self.person = pathlib.Path(path), person
        self.tar = tarfile.open(self.path, mode, format=tarfile.PAX_FORMAT)

    def entry(self, name, kind, content=b"", **fields):
        info = tarfile.TarInfo(name)
        info.type, info.size, info.mode = kind, len(content), 0o755
        for field, value in fields.items():
            setattr(info, field, value)
        self.tar.addfile(info, io.BytesIO(content))
        return self

    def directory(self, name, **fields):
        return self.entry(name, tarfile.DIRTYPE, **fields)

    def file(self, name, content=b"text\n", **fields):
        return self.entry(name, tarfile.REGTYPE, content, **fields)

    def link(self, name, to, **fields):
        return self.entry(name, tarfile.SYMTYPE, linkname=to, **fields)

    def hard_link(self, name, to):
        return self.entry(name, tarfile.LNKTYPE, linkname=to)

    def close(self):
        self.tar.close()
        self.person.own(self.path)
        return self.path
