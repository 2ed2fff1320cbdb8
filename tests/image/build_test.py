# Building an image of packages: from a recipe, by mmdebstrap, once however many ask.
import os
import pathlib
import signal
import time

import pytest

import harness

SMALL = "# what it is for\njq # a line's rest\n"


@pytest.fixture
def recipe(as_user, project):
    return as_user.write(project / "small.recipe", SMALL)


@pytest.fixture
def builds(as_user):
    """Skips where this user can build nothing here: mmdebstrap needs user namespaces with subordinate ids, or root."""
    if not pathlib.Path("/usr/bin/mmdebstrap").exists():
        pytest.skip("mmdebstrap is not installed")
    if as_user.uid != 0:
        pytest.skip("this user has no subordinate ids, without which mmdebstrap unpacks no system")


def begin(box, *words):
    return harness.start_in(box.person, [box.program, *words], cwd=box.cwd, env={"HUTCH_STATE": str(box.state)})


def scratch(box):
    """What is there of a build that goes on, or of one that was killed; and what it has mounted."""
    top = f"/var/tmp/hutch-build-{box.person.uid}"
    mounts = pathlib.Path("/proc/self/mounts").read_text()
    return [*pathlib.Path(top).glob("*/mmdebstrap*"), *[line for line in mounts.splitlines() if top in line]]


def test_without_ids_of_others_the_error_says_how_to_get_them(box, recipe, as_user):
    if as_user.uid == 0 or not pathlib.Path("/usr/bin/mmdebstrap").exists():
        pytest.skip("root needs none")
    if any(pathlib.Path("/usr/bin", name).exists() for name in ("fakechroot", "proot")):
        pytest.skip("mmdebstrap has another way here")
    result = box("image", "build", "small", "--recipe", recipe)
    assert result.code == 125 and "ids of other users" in result.errors and "/etc/subuid" in result.errors, str(result)
    assert box.left() == []


@pytest.mark.slow
def test_a_package_that_is_not_there_is_named(box, builds, as_user, project):
    bad = as_user.write(project / "bad", "hutch-no-such-package\n")
    result = box("image", "build", "small", "--recipe", bad, timeout=300)
    assert result.code == 125 and "hutch-no-such-package" in result.errors, str(result)
    assert box.names() == [] and box.left() == []


@pytest.mark.slow
def test_packages_become_an_image(box, recipe, builds):
    """One test, because who builds uses one directory of the machine's. One that is interrupted leaves nothing; of two
    that ask at once one builds."""
    for number in (signal.SIGINT, signal.SIGKILL):
        process = begin(box, "image", "build", "small", "--recipe", recipe)
        harness.wait_until(lambda: scratch(box), "it builds")
        time.sleep(1)
        os.killpg(process.pid, number)
        _, err = process.communicate(timeout=60)
        assert process.returncode != 0 and box.names() == []
        if number == signal.SIGINT:
            assert b"interrupted" in err and box.left() == [] and scratch(box) == []

    both = [begin(box, "image", "build", "small", "--recipe", recipe) for _ in range(2)]
    said = [process.communicate(timeout=300) for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 125], (codes, said)
    out, err = said[codes.index(0)]
    assert b"built successfully" in err and b"sha256:" in out
    refused = said[codes.index(125)][1]
    assert b"at this moment" in refused or b"is there already" in refused, refused
    assert box.names() == ["small:latest"] and box.left() == ["small:latest"] and scratch(box) == []
    script = "echo '[1,2]' | jq -c .; cat /etc/pip.conf; /usr/sbin/policy-rc.d || echo $?; ls -d /workspace"
    inside = box("run", "--image", "small", "--", "sh", "-c", script).ok().text
    assert inside.splitlines() == ["[1,2]", "[global]", "break-system-packages = true", "101", "/workspace"]


@pytest.mark.parametrize(
    "text, word", [("", "no package is named"), ("jq\n--include=x\n", "line 2"), ("a,b\n", "line 1")]
)
def test_what_is_no_recipe_is_refused(box, as_user, project, text, word):
    result = box("image", "build", "small", "--recipe", as_user.write(project / "bad", text))
    assert result.code == 125 and word in result.errors, str(result)
    assert box.left() == []


def test_only_the_default_image_is_built_without_a_recipe(box):
    result = box("image", "build", "custom:v2")
    assert result.code == 125 and "--recipe" in result.errors
    missing = box("run", "--image", "custom:v2", "--", "true")
    assert missing.code == 125 and "there is no image custom:v2" in missing.errors, str(missing)
    assert "building" not in missing.errors and box.left() == []


def test_a_recipe_is_for_a_build_alone(box, recipe):
    for words in (["list"], ["show", "x"], ["remove", "x"], ["import", "x", "-"]):
        result = box("image", *words, "--recipe", recipe)
        assert result.code == 125 and "hutch image build" in result.errors, str(result)


@pytest.mark.slow
def test_the_default_image_is_built_when_it_is_needed(box, builds):
    """All that it is to have is there, and what an agent's user installs with pip is importable and on PATH."""
    script = """
set -e
for program in python3 pip3 node npm git curl jq rg gcc make; do command -v $program > /dev/null; done
mkdir -p w/hello && cd w
printf 'def main(): print("installed")\\n' > hello/__init__.py
printf '[project]\\nname = "hello"\\nversion = "1"\\n[project.scripts]\\nsay-hello = "hello:main"\\n' > pyproject.toml
printf 'from setuptools import setup\\nsetup(name="hello", version="1", packages=["hello"], ' > setup.py
printf 'entry_points={"console_scripts": ["say-hello=hello:main"]})\\n' >> setup.py
rm pyproject.toml
python3 -m pip install -q --user --no-build-isolation --no-index . 2> pip.err || { cat pip.err; exit 1; }
cd / && say-hello && python3 -c 'import hello; hello.main()'
"""
    result = box("run", "--image", "hutch-sandbox", "--", "sh", "-c", script, timeout=900)
    assert result.ok().text.splitlines() == ["installed", "installed"]
    assert 'Image "hutch-sandbox:latest" not found, building...' in result.errors
    assert 'Image "hutch-sandbox:latest" built successfully' in result.errors
    assert "building" not in box("run", "--image", "hutch-sandbox", "--", "true").errors
