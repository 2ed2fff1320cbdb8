# Images that are made to deceive: what one says of itself, and what lies where hutch has places of its own.
import io
import itertools
import json
import os
import tarfile
import urllib.parse

import pytest

import harness

IMAGE = "hutch-tests:latest"
numbers = itertools.count(1)


def archive(entries):
    """A tar of {name: content}: bytes a file, ("link", TEXT), ("fifo",), ("dir",)."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in entries.items():
            member = tarfile.TarInfo(name)
            member.mode = 0o755
            if isinstance(content, bytes):
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
                continue
            member.type = {"link": tarfile.SYMTYPE, "fifo": tarfile.FIFOTYPE, "dir": tarfile.DIRTYPE}[content[0]]
            member.linkname = content[1] if content[0] == "link" else ""
            tar.addfile(member)
    return packed.getvalue()


@pytest.fixture
def hostile(loaded_engine):
    """hostile(FILES, CHANGES) is the name of an image over the tests' own with these files, and these instructions."""
    engine, made = loaded_engine, []

    def image(files=None, changes=()):
        name = f"hutch-hostile-{os.getpid()}-{next(numbers)}"
        status, text = engine.ask("POST", "/v1.41/containers/create", json.dumps({"Image": IMAGE, "Cmd": ["true"]}))
        assert status == 201, text
        container = json.loads(text)["Id"]
        try:
            if files:
                status, text = engine.ask("PUT", f"/v1.41/containers/{container}/archive?path=/", archive(files),
                                          "application/x-tar")
                assert status == 200, text
            query = urllib.parse.urlencode([("container", container), ("repo", name), ("tag", "latest"),
                                            *[("changes", change) for change in changes]])
            status, text = engine.ask("POST", f"/v1.41/commit?{query}", "{}")
            assert status == 201, text
        finally:
            engine.ask("DELETE", f"/v1.41/containers/{container}?force=1&v=1")
        made.append(name)
        return name

    yield image
    for name in made:
        engine.ask("DELETE", f"/v1.41/images/{name}:latest?force=1")


def run_image(hutch, image, script, options=()):
    """sh -c SCRIPT in a container of it."""
    return harness.Hutch.__call__(hutch, "run", "--backend", "container", "--image", image, *options, "--", "/bin/sh",
                                  "-c", script, timeout=120, **hutch.with_engine({}))


def test_what_it_says_of_itself_is_not_done(hutch, backend, hostile, project, as_user):
    image = hostile(changes=["ENV LD_PRELOAD=/evil.so", "ENV PATH=/evil", "ENV HUTCH_EVIL=1", "ENV GLIBC_TUNABLES=evil",
                             "USER 12345", "WORKDIR /evil", 'ENTRYPOINT ["/bin/sh", "-c", "echo evil"]',
                             'CMD ["evil"]', "LABEL hutch.owner=evil", "LABEL hutch.base=evil"])
    said = run_image(hutch, image, "env; pwd; id -u; echo $((40 + 2))").ok()
    assert b"evil" not in said.out.lower(), str(said)
    assert said.out.decode().splitlines()[-3:] == [str(project), str(as_user.uid), "42"], str(said)


def test_its_volumes_are_nowhere_that_is_hutchs(hutch, backend, hostile, loaded_engine, project, as_user):
    image = hostile({"tmp/evil": b"evil", "var/tmp/evil": b"evil"},
                    [f'VOLUME ["/tmp", "/var/tmp", "{project}", "/workspace", "/var/volume"]'])
    as_user.write(project / "mine", "the project's")
    said = run_image(hutch, image, "ls -A /tmp; cat mine; echo written > new; stat -f -c %T /tmp; id -u",
                     ["--tmp-size", "1M"])
    # It is as planned, or not at all.
    if said.code == 125:
        assert said.out == b"" and b"the engine" in said.err, str(said)
    else:
        assert said.out.decode().split("\n")[:2] == ["the project'stmpfs", str(as_user.uid)], str(said)
        assert (project / "new").read_text() == "written\n"
    harness.wait_until(lambda: not volumes(loaded_engine), "no volume is left")


def volumes(engine):
    return json.loads(engine.ask("GET", "/v1.41/volumes")[1])["Volumes"] or []


KINDS = {
    "link to the project": lambda project: ("link", str(project)),
    "link that stays within": lambda project: ("link", str(project).strip("/")),
    "link to nowhere": lambda _: ("link", "/no/such/place"),
    "pipe": lambda _: ("fifo",),
    "directory": lambda _: ("dir",),
    "file": lambda _: b"#!/bin/sh\necho evil\n",
}
PLACES = [("etc", "link to the project"), ("etc", "link that stays within"), ("etc", "link to nowhere"),
          ("etc", "file"), ("tmp", "link to the project"), ("tmp", "pipe"),
          ("workspace", "link that stays within"),
          (".hutch-place", "link to the project"), (".hutch-place", "link that stays within"), (".hutch-place", "file"),
          (".hutch-guest", "link to the project"), (".hutch-guest", "directory"),
          ("etc/passwd", "link to the project"), ("etc/passwd", "directory"), ("etc/passwd", "pipe"),
          ("etc/group", "pipe"),
          ("etc/.hutch-account", "directory"), ("etc/.hutch-account", "link to the project")]


@pytest.mark.parametrize("as_user", ["root"], indirect=True)
@pytest.mark.parametrize("name, what", PLACES)
def test_what_lies_where_hutch_has_places(hutch, backend, hostile, project, as_user, name, what):
    as_user.write(project / "passwd", "the project's")
    as_user.write(project / "stream", "the project's")
    before = contents(project)
    said = run_image(hutch, hostile({name: KINDS[what](project)}), "echo ran; id -u; ls -ld /tmp | cut -c1-10")
    if said.code == 125:
        assert said.out == b"" and said.err.count(b"\n") <= 2, str(said)
    else:
        assert said.out.decode().splitlines() == ["ran", str(as_user.uid), "drwxrwxrwt"], str(said)
    assert contents(project) == before, "nothing is made or changed in the host's files"


def contents(directory):
    """Of each name: what kind, whose, and what is in it."""
    found = {".": (oct(directory.stat().st_mode), directory.stat().st_uid)}
    for path in directory.iterdir():
        status = path.lstat()
        found[path.name] = (oct(status.st_mode), status.st_uid, path.read_bytes() if path.is_file() else b"")
    return found


def test_a_huge_list_of_users(hutch, backend, hostile):
    image = hostile({"etc/passwd": b"x" * (32 << 20), "etc/group": b"g:x:1:\n" * (1 << 20)})
    said = run_image(hutch, image, "echo ran")
    assert (said.code, said.out) in ((0, b"ran\n"), (125, b"")), str(said)
