# Archives of root file systems, small enough to be made anew by each test.
import io
import json
import pathlib
import tarfile

import harness
import pytest

# Answers by the name that it was started by: a system of one program.
SYSTEM = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <errno.h>
#include <dirent.h>
#include <sys/stat.h>
int main(int argc, char **argv) {
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
  if (!strcmp(what, "id")) { printf("%d:%d\n", getuid(), getgid()); return 0; }
  return 2;
}
"""


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


@pytest.fixture
def rootfs(as_user, project):
    """rootfs("name.tar") begins an archive in the project (Rootfs); close() gives its path."""
    return lambda name="rootfs.tar", mode="w": Rootfs(project / name, as_user, mode)


@pytest.fixture
def system(compiler):
    """The bytes of the only program of the small system."""
    return compiler.build(SYSTEM).read_bytes()


@pytest.fixture
def small(rootfs, system):
    """small("name.tar") begins an archive of a system whose only program is /bin/sys."""
    def begin(name="rootfs.tar", mode="w"):
        archive = rootfs(name, mode)
        for directory in (".", "./bin", "./etc", "./home", "./tmp"):
            archive.directory(directory)
        archive.file("./bin/sys", system)
        archive.file("./etc/os-release", b"NAME=small\n", mode=0o644)
        return archive
    return begin


class Box(harness.Hutch):
    """hutch with a state of its own for each test, so that no image of another is there."""

    def __init__(self, state, *others):
        super().__init__(*others)
        self.state = state
        self.images = state / "data" / "images"

    def __call__(self, *args, env=None, **options):
        return super().__call__(*args, env={"HUTCH_STATE": str(self.state), **(env or {})}, **options)

    def popen(self, *command, env=None, **options):
        return super().popen(*command, env={"HUTCH_STATE": str(self.state), **(env or {})}, **options)

    def names(self):
        """The images that are listed."""
        return [image["name"] for image in json.loads(self("image", "list", "--json").ok().text)]

    def left(self):
        """What lies below the directory of images besides locks."""
        if not self.images.exists():
            return []
        return sorted(entry.name for entry in self.images.iterdir() if not entry.name.endswith(".lock"))


@pytest.fixture
def box(base, as_user, project):
    """hutch as that person (Box); its images go with the test."""
    made = Box(as_user.mkdir(base.path / "state" / f"{project.name}-{as_user.name}", 0o700), base, as_user, project,
               "namespace")
    yield made
    for name in made.names():
        made("image", "remove", name)


@pytest.fixture
def image(box, small):
    """An image of the small system, called "small"."""
    box("image", "import", "small", small().close()).ok()
    return "small"
