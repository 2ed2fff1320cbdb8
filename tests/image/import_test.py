# Importing an archive: what becomes of it, and that a hostile one becomes nothing at all.
import gzip
import hashlib
import json
import lzma
import os
import signal
import subprocess
import tarfile

import pytest

import harness

GIB = 1 << 30


def refused(box, archive, *words):
    """The import fails, says why, and leaves nothing."""
    result = box("image", "import", "bad", archive)
    assert result.code == 125, str(result)
    for word in words:
        assert word in result.errors, str(result)
    assert box.names() == []
    assert box.left() == []
    return result


def test_an_archive_becomes_an_image(box, small):
    archive = small().close()
    box("image", "import", "small", archive).ok()
    assert box.names() == ["small:latest"]
    shown = json.loads(box("image", "show", "small", "--json").ok().text)
    assert shown["digest"] == "sha256:" + hashlib.sha256(archive.read_bytes()).hexdigest()
    assert shown["entries"] == 7
    assert (box.images / "small:latest/root/etc/os-release").read_bytes() == b"NAME=small\n"


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gz", "xz"])
def test_a_compressed_archive_is_read(box, small, pack, as_user, project):
    packed = as_user.write(project / "packed", pack(small().close().read_bytes()))
    box("image", "import", "small", packed).ok()
    assert box.names() == ["small:latest"]


def test_zstd_is_read(box, small, as_user, project):
    packed = subprocess.run(["zstd", "-qc", small().close()], stdout=subprocess.PIPE, check=True).stdout
    box("image", "import", "small", as_user.write(project / "packed", packed)).ok()


def test_standard_input_is_read(box, small):
    box("image", "import", "small:v1", "-", stdin=small().close().read_bytes()).ok()
    assert box.names() == ["small:v1"]


def test_an_image_is_removed_with_all_its_files(box, image):
    box("image", "remove", image).ok()
    assert box.names() == []
    assert box.left() == []


def test_one_that_is_there_is_not_replaced(box, image, small):
    result = box("image", "import", image, small("other.tar").file("./etc/other").close())
    assert result.code == 125
    assert "is there already" in result.errors
    assert not (box.images / "small:latest/root/etc/other").exists()


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", ".hidden", "-x", "A", "a:", ":a", "a:b:c", "a b",
                                  "x" * 101])
def test_a_name_is_judged(box, small, name):
    result = box("image", "import", "--", name, small().close())
    assert result.code == 125, str(result)
    assert box.left() == []


def test_nothing_is_a_missing_image(box):
    for words in (["show", "none"], ["remove", "none"]):
        result = box("image", *words)
        assert result.code == 125
        assert "there is no image none:latest" in result.errors


# --- attacks ---


def test_dotdot_is_refused(box, small, project):
    refused(box, small().file("./etc/../../../../escaped").close(), "..")
    assert not (project / "escaped").exists()


def test_an_absolute_name_is_refused(box, small, project):
    refused(box, small().file(str(project / "escaped")).close(), "absolute")
    assert not (project / "escaped").exists()


@pytest.mark.parametrize("to", ["absolute", "relative", "inside"])
def test_nothing_is_written_through_a_link(box, small, project, as_user, to):
    as_user.mkdir(project / "host")
    leads = {"absolute": str(project / "host"), "relative": "../" * 30 + str(project / "host")[1:], "inside": "etc"}
    refused(box, small().link("./way", leads[to]).file("./way/escaped").close(), "behind a link")
    assert not (project / "host/escaped").exists()


def test_a_link_is_replaced_and_not_followed_by_a_file_of_its_name(box, small, project, as_user):
    victim = as_user.write(project / "victim", "mine")
    box("image", "import", "small", small().link("./way", str(victim)).file("./way", b"theirs").close()).ok()
    assert victim.read_text() == "mine"
    assert (box.images / "small:latest/root/way").read_bytes() == b"theirs"


@pytest.mark.parametrize("to", ["../../../../../../etc/passwd", "/etc/passwd"])
def test_a_hard_link_out_of_the_tree_is_refused(box, small, to):
    refused(box, small().hard_link("./mine", to).close(), "the archive's entry")


def test_a_hard_link_behind_a_link_is_refused(box, small):
    refused(box, small().link("./way", "/etc").hard_link("./mine", "way/passwd").close())


def test_a_hard_link_to_a_link_is_that_link(box, small):
    box("image", "import", "small", small().link("./way", "/etc/passwd").hard_link("./mine", "way").close()).ok()
    assert os.readlink(box.images / "small:latest/root/mine") == "/etc/passwd"


def test_devices_are_left_out(box, small):
    archive = small()
    archive.entry("./dev-block", tarfile.BLKTYPE, devmajor=8, devminor=0)
    archive.entry("./dev-char", tarfile.CHRTYPE, devmajor=1, devminor=1)
    archive.entry("./whiteout", tarfile.CHRTYPE, devmajor=0, devminor=0)
    archive.entry("./pipe", tarfile.FIFOTYPE)
    result = box("image", "import", "small", archive.close()).ok()
    assert "4 devices and the like were left out" in result.errors
    assert sorted(os.listdir(box.images / "small:latest/root")) == ["bin", "etc", "home", "tmp"]


def test_privileged_bits_go(box, small):
    box("image", "import", "small", small().file("./bin/su", mode=0o6755).directory("./mail", mode=0o3775).close()).ok()
    assert (box.images / "small:latest/root/bin/su").stat().st_mode & 0o7777 == 0o755
    assert (box.images / "small:latest/root/mail").stat().st_mode & 0o7777 == 0o3775


def test_extended_attributes_are_left_out(box, small):
    headers = {"SCHILY.xattr.user.overlay.opaque": "y", "SCHILY.xattr.security.capability": "x" * 20,
               "SCHILY.xattr.user.overlay.redirect": "/etc"}
    archive = small().file("./marked", pax_headers=headers).directory("./blind", pax_headers=headers)
    box("image", "import", "small", archive.close()).ok()
    for name in ("marked", "blind"):
        assert os.listxattr(box.images / "small:latest/root" / name) == []


def test_nobody_but_the_images_own_users_owns_its_files(box, small):
    box("image", "import", "small", small().file("./etc/shadow", mode=0o600, uid=0, gid=0).close()).ok()
    owner = (box.images / "small:latest/root/etc/shadow").stat().st_uid
    assert owner != 0 if box.person.is_root else owner == box.person.uid


def test_an_owner_that_no_map_has_is_refused(box, small):
    if not box.person.is_root:
        pytest.skip("one user only: nobody else owns anything")
    refused(box, small().file("./x", uid=70_000).close(), "fchown")


def test_a_bomb_is_refused_before_it_is_written(box, small):
    archive = small()
    header = tarfile.TarInfo("./bomb")
    header.size = 64 * GIB
    archive.tar.fileobj.write(header.tobuf(tarfile.GNU_FORMAT))
    archive.tar.fileobj.close()
    os.truncate(archive.path, archive.path.stat().st_size + 64 * GIB)  # a hole
    refused(box, archive.path, "GiB")


def test_a_tree_too_deep_is_refused(box, small):
    refused(box, small().directory("./" + "d/" * 200).close(), "too deep")


def test_a_name_too_long_is_refused(box, small):
    refused(box, small().file("./" + "n" * 300).close(), "too long")


@pytest.mark.parametrize("kept", [100, 700, 5000])
def test_a_cut_archive_is_refused(box, small, as_user, project, kept):
    whole = gzip.compress(small().close().read_bytes())
    refused(box, as_user.write(project / "cut", whole[:kept]))


@pytest.mark.parametrize("content", [b"no archive at all\n" * 100, b"\x28\xb5\x2f\xfd" + b"\xff" * 100,
                                     b"\x1f\x8b" + b"\0" * 200, b"PK\x03\x04" + b"\0" * 600, b"#mtree\n/etc\n"],
                         ids=["text", "zstd", "gzip", "zip", "mtree"])
def test_what_is_no_tar_is_refused(box, as_user, project, content):
    refused(box, as_user.write(project / "strange", content))


def test_a_file_in_the_place_of_a_directory_is_refused(box, small):
    refused(box, small().file("./etc", b"x").close())
    refused(box, small("second.tar").file("./bin/sys/below").close())


def test_control_characters_of_a_name_do_not_reach_the_terminal(box, small):
    result = refused(box, small().file("./\x1b[2J/../../x").close())
    assert "\x1b" not in result.errors


# --- what breaks off ---


def test_an_import_that_is_killed_leaves_no_image_and_the_next_cleans_up(box, small, as_user, project):
    archive = small().close()
    pipe = project / "pipe"
    os.mkfifo(pipe)
    as_user.own(pipe)
    argv = [box.program, "image", "import", "small", pipe]
    process = harness.start_in(as_user, argv, env={"HUTCH_STATE": str(box.state)})
    with open(pipe, "wb") as feed:
        feed.write(archive.read_bytes()[:20_000])
        feed.flush()
        harness.wait_until(lambda: (box.images / ".small:latest.part/root/etc").exists(), "half of it is there")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    process.stdout.close(), process.stderr.close(), process.stdin.close()
    assert box.names() == []
    assert box("run", "--image", "small", "--", "/bin/sys", "id").code == 125
    box("image", "import", "small", archive).ok()
    assert box.left() == ["small:latest"]


def test_two_imports_of_a_name_do_not_meet(box, small, as_user, project):
    archive = small().close()
    pipe = project / "pipe"
    os.mkfifo(pipe)
    as_user.own(pipe)
    argv = [box.program, "image", "import", "small", pipe]
    process = harness.start_in(as_user, argv, env={"HUTCH_STATE": str(box.state)})
    with open(pipe, "wb") as feed:
        harness.wait_until(lambda: (box.images / ".small:latest.lock").exists(), "the first has begun")
        harness.wait_until(lambda: (box.images / ".small:latest.part").exists(), "the first has begun")
        second = box("image", "import", "small", archive)
        assert second.code == 125
        assert "at this moment" in second.errors
        feed.write(archive.read_bytes())
    process.communicate(timeout=harness.PATIENCE)
    assert process.returncode == 0
    assert box.names() == ["small:latest"]


def calls_of_import(box, small, count, tmp):
    """How many calls that change or look up a name or a file the unpacking of so many empty files takes."""
    archive = small(f"{count}.tar")
    for number in range(count):
        archive.file(f"./tmp/{number}", b"", mode=0o644)
    path = archive.close()
    told = tmp / f"calls-{count}"
    traced = "openat,unlinkat,ftruncate,fchown,fchmod,utimensat,newfstatat,linkat,mkdirat"
    box("image", "import", f"many-{count}", path, wrap=["strace", "-f", "-c", "-e", f"trace={traced}", "-o", told]).ok()
    lines = [line.split() for line in told.read_text().splitlines() if line.strip()]
    counted = [line for line in lines if len(line) >= 5 and line[3].isdigit()]
    return {line[-1]: int(line[3]) for line in counted if line[-1] != "total"}


def test_each_empty_file_takes_the_same_few_calls(box, small, as_user, project):
    tmp = as_user.mkdir(project / "calls")
    few, many = (calls_of_import(box, small, count, tmp) for count in (200, 1200))
    more = {name: many[name] - few.get(name, 0) for name in many}
    assert more["openat"] <= 1010, more
    # No look for a file that is not there, no size of a file that has none.
    assert all(more.get(name, 0) <= 10 for name in ("unlinkat", "ftruncate", "fchown", "linkat", "mkdirat")), more
    assert sum(more.values()) <= 5 * 1000, more
