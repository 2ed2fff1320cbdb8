# What machines run by: KVM where one that ran has proved it, software elsewhere, and why.
import json
import os
import pathlib
import stat

import pytest

from places import Place, QEMU

DEVICE = pathlib.Path("/dev/kvm")

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="another QEMU and another /dev/kvm are mounted by root")


def make_device(base, name, mode, group):
    """Another node of the same device: the machine's own stays as it is."""
    path = base.path / name
    os.mknod(path, stat.S_IFCHR | 0o600, os.stat(DEVICE).st_rdev)
    os.chown(path, 0, group)
    os.chmod(path, mode)
    return path


@pytest.fixture
def kvm():
    if not DEVICE.is_char_device():
        pytest.skip("there is no /dev/kvm")
    before = os.stat(DEVICE)
    yield before
    after = os.stat(DEVICE)
    assert (before.st_mode, before.st_uid, before.st_gid) == (after.st_mode, after.st_uid, after.st_gid)


@as_root
def test_a_machine_that_runs_proves_it(base, root_archive, fake_qemu, kvm):
    place = Place(base, base.person("root"), "proved")
    place.over(QEMU, fake_qemu)
    said = place("vm", "provision", "--root", root_archive).ok()
    assert "trying whether KVM works" in said.errors and "machines run by KVM" in said.errors, said
    kept = json.loads(place.file("kvm.json").read_text())
    assert kept["works"] is True and "started" in kept["reason"], kept
    seen = json.loads(place.file("state").read_text())
    words = seen["words"]
    assert words[words.index("-M") + 1].startswith("q35,accel=kvm,") and words[words.index("-cpu") + 1] == "host"
    # The device is there, and all that a machine takes of it goes through both filters; its mode is the host's.
    assert "kvm" in seen["devices"] and seen["kvm"].get("api") == 12, seen
    assert seen["chmod"] == "Read-only file system", seen
    status = place.status()
    assert status["accelerator"] == "kvm" and status["snapshot"] is True, status
    # With another QEMU nothing of it holds: neither the proof nor what was saved.
    place.mounts.clear()
    status = place.status()
    assert status["accelerator"] == "tcg" and status["snapshot"] is False, status
    assert "hutch vm restart" in status["acceleration"] and "15 times" in status["acceleration"]


@as_root
def test_another_qemu_is_tried_anew(base, root_archive, fake_qemu, kvm):
    place = Place(base, base.person("root"), "anew")
    failing = base.path / "failing-qemu"
    fails = 'if "accel=kvm" in " ".join(sys.argv):\n    sys.exit("no KVM in here")\nstate = None\n'
    failing.write_text(fake_qemu.read_text().replace("state = None\n", fails))
    failing.chmod(0o755)
    place.over(QEMU, failing)
    said = place("vm", "provision", "--root", root_archive).ok()
    assert "no KVM in here" in said.errors, said
    status = place.status()
    assert status["accelerator"] == "tcg" and "no KVM in here" in status["acceleration"] and status["snapshot"], status
    assert json.loads(place.file("kvm.json").read_text())["works"] is False
    place.over(QEMU, fake_qemu)
    status = place.status()
    assert "tries anew" in status["acceleration"] and status["snapshot"] is False, status
    try:
        said = place("vm", "restart").ok()
        assert "trying whether KVM works" in said.errors, said
        status = place.status()
        assert status["accelerator"] == "kvm" and status["snapshot"] is True, status
        # Nothing is another: nothing is tried, nor saved.
        said = place("vm", "restart").ok()
        assert "trying whether" not in said.errors and "to save it" not in said.errors, said
    finally:
        place("daemon", "stop")


@as_root
def test_who_is_not_in_the_group_is_told_so(base, root_archive, fake_qemu, kvm):
    person = base.person("user")
    group = 64123
    groups = base.path / "kvm-groups"
    groups.write_text(pathlib.Path("/etc/group").read_text() + f"kvmtest:x:{group}:\n")
    device = make_device(base, "kvm-of-group", 0o660, group)
    try:
        place = Place(base, person, "group")
        place.over(QEMU, fake_qemu)
        place.over(DEVICE, device)
        place.over("/etc/group", groups)
        said = place("vm", "provision", "--root", root_archive).ok()
        assert "trying whether" not in said.errors and "sudo usermod -aG kvmtest" in said.errors, said
        seen = json.loads(place.file("state").read_text())
        assert "kvm" not in seen["devices"] and "q35,accel=tcg,memory-backend=memory" in seen["words"]
        # In the group, with nothing else changed, it is tried.
        place.groups = str(group)
        status = place.status()
        assert status["accelerator"] == "tcg" and "never tried" in status["acceleration"], status
        said = place("vm", "provision", "--root", root_archive).ok()
        assert place.status()["accelerator"] == "kvm", said
        seen = json.loads(place.file("state").read_text())
        assert seen["kvm"].get("api") == 12 and seen["uid"] == person.uid, seen
        # Where no group opens it, to be in one would not help.
        os.chmod(device, 0o600)
        why = place.status()["acceleration"]
        assert "usermod" not in why and "Permission denied" in why, why
    finally:
        device.unlink()


@as_root
def test_what_is_no_device_is_not_tried(base, root_archive, fake_qemu, tmp_path):
    place = Place(base, base.person("root"), "absent")
    place.over(QEMU, fake_qemu)
    if DEVICE.exists():
        nothing = tmp_path / "nothing"
        nothing.write_text("")
        place.over(DEVICE, nothing)
    said = place("vm", "provision", "--root", root_archive).ok()
    assert "there is no /dev/kvm" in said.errors and not place.file("kvm.json").exists(), said


def test_status_says_what_it_is_and_why(machines):
    status = json.loads(machines("vm", "status", "--json").ok().out)
    kept = machines.state / "data/vm/files/kvm.json"
    works = kept.exists() and json.loads(kept.read_text())["works"]
    assert status["accelerator"] == ("kvm" if works else "tcg"), status
    (line,) = [line for line in machines("vm", "status").ok().text.splitlines() if line.startswith("runs by")]
    assert status["acceleration"] in line
    if not works:
        assert "15 times" in line and ("/dev/kvm" in line or "KVM" in line), line
