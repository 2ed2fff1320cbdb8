# A run with an image: its files are the system, what is changed goes with the run, and nothing of the host is there.
import os

import pytest


def run(box, *command, options=(), image="small"):
    return box.run("/bin/sys", *command, options=["--image", image, *options])


def test_the_image_is_the_system(box, image):
    assert run(box, "cat", "/etc/os-release").ok().text == "NAME=small\n"
    assert run(box, "cat", "/etc/passwd").text == "No such file or directory\n"
    listed = run(box, "ls", "/").ok().text.split()
    assert {"bin", "etc", "home", "tmp", "proc", "dev"} <= set(listed)
    assert not {"usr", "var", "root", "work", "boot"} & set(listed) - set(str(box.cwd).split("/"))


def test_what_is_changed_goes_with_the_run(box, image):
    if box.person.is_root:
        pytest.skip("root of the host is nobody special inside, and the system is not its own")
    run(box, "write", "/etc/os-release", "changed").ok()
    assert run(box, "cat", "/etc/os-release").ok().text == "NAME=small\n"


def test_the_system_is_not_the_commands_own_where_it_has_users(box, image):
    if not box.person.is_root:
        pytest.skip("one user only: the command owns all files")
    assert run(box, "write", "/etc/os-release", "changed").text == "Permission denied\n"
    assert run(box, "stat", "/etc/os-release").ok().text == "100644 0:0\n"


def test_the_caller_keeps_its_number_and_root_is_nobody_special(box, image):
    uid = 1000 if box.person.is_root else box.person.uid
    assert run(box, "id").ok().text == f"{uid}:{uid}\n"


def test_the_project_is_there_and_its_files_are_the_callers(box, image, project, as_user):
    as_user.write(project / "in", "from the host")
    assert run(box, "cat", str(project / "in")).ok().text == "from the host"
    run(box, "write", str(project / "out"), "from the sandbox").ok()
    assert (project / "out").read_text() == "from the sandbox"
    assert (project / "out").stat().st_uid == as_user.uid


def test_names_that_are_denied_hold_in_the_project(box, image, project):
    assert run(box, "write", str(project / ".mcp.json"), "x").code == 1
    assert not (project / ".mcp.json").exists()


def test_the_home_is_private(box, image, as_user):
    as_user.write(as_user.home / "secret", "x")
    assert run(box, "cat", str(as_user.home / "secret")).text == "No such file or directory\n"
    run(box, "write", str(as_user.home / "note"), "x").ok()
    assert not (as_user.home / "note").exists()


def test_a_grant_is_the_hosts(box, image, as_user):
    shared = as_user.mkdir(as_user.home / f"given-{os.getpid()}")
    as_user.write(shared / "file", "given")
    options = ["--allow-read", str(shared)]
    assert run(box, "cat", str(shared / "file"), options=options).ok().text == "given"
    assert run(box, "write", str(shared / "file"), "x", options=options).text == "Read-only file system\n"


def test_a_missing_image_is_an_error_and_is_not_made(box):
    result = run(box, "id", image="none")
    assert result.code == 125
    assert "there is no image none:latest" in result.errors
    assert box.names() == []


@pytest.mark.parametrize("backend", ["none", "bwrap"])
def test_other_backends_have_no_images(box, image, backend):
    result = box.run("/bin/sys", "id", backend=backend, options=["--image", image])
    assert result.code == 125
    assert "--backend namespace" in result.errors


def test_explain_says_it(box, image):
    text = box("explain", "--image", image).ok().text
    assert "image      / from" in text


@pytest.mark.parametrize("place", ["proc", "dev", "tmp", "run", "sys"])
def test_an_image_whose_directories_are_links_reaches_nothing(box, rootfs, system, project, as_user, place):
    """The mount points are made in the image: a link there must not lead to a directory of the host's."""
    as_user.mkdir(project / "host")
    archive = rootfs().directory("./bin").file("./bin/sys", system)
    box("image", "import", "evil", archive.link(f"./{place}", str(project / "host")).close()).ok()
    result = run(box, "id", image="evil")
    assert result.code == 125, str(result)
    assert os.listdir(project / "host") == []


def test_an_image_that_has_a_link_on_the_way_to_the_project_reaches_nothing(box, rootfs, system, project, as_user):
    as_user.mkdir(project / "host")
    archive = rootfs().directory("./bin").file("./bin/sys", system)
    first = str(project).split("/")[1]
    box("image", "import", "evil", archive.link(f"./{first}", str(project / "host")).close()).ok()
    assert run(box, "id", image="evil").code == 125
    assert os.listdir(project / "host") == []


def test_the_images_own_files_do_not_change(box, image, project):
    before = sorted(str(path) for path in (box.images / "small:latest/root").rglob("*"))
    run(box, "write", "/tmp/x", "x").ok()
    run(box, "remove", "/etc/os-release")
    assert sorted(str(path) for path in (box.images / "small:latest/root").rglob("*")) == before
