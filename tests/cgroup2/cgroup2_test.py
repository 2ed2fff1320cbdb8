# Limits by a delegated cgroup v2, and its stale cgroups, on a machine that has nothing else: one in QEMU.
import json
import os
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import vm  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.exists(vm.QEMU), reason="qemu-system-x86 is not installed"),
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="the machine is one of x86_64"),
]


@pytest.fixture(scope="module")
def said(base, tmp_path_factory):
    """What the machine said, by name."""
    scratch = tmp_path_factory.mktemp("cgroup2")
    vm.build_tree(scratch / "tree", base.bin, pathlib.Path(__file__).parent / "init.sh")
    vm.write_archive(scratch / "tree", scratch / "initramfs")
    printed = vm.boot(vm.download_kernel(scratch), scratch / "initramfs")
    found = dict(re.findall(r"RESULT ([^:\n]+): (.*)", printed))
    assert "left running" in found, printed[-4000:]
    return found


@pytest.mark.parametrize("backend", ["namespace", "none"])
class TestLimits:
    def test_they_are_held_by_cgroup_v2(self, said, backend):
        assert json.loads(said[f"{backend} how"])["limits"] == "cgroup v2"

    def test_memory_is_held(self, said, backend):
        assert "killed for the memory limit" in said[f"{backend} memory"]
        assert said[f"{backend} memory enough"] == "done"

    def test_processes_are_held(self, said, backend):
        assert "limit of processes was hit" in said[f"{backend} pids"]

    def test_cpus_are_held(self, said, backend):
        assert said[f"{backend} cpus"].startswith("0::/")


def test_a_stale_cgroup_is_removed_by_the_next_run(said):
    assert said["stale"] == "1"
    assert said["stale after the next"] == "0"
    assert said["left running"] == "0"
