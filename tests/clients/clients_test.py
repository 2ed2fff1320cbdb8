# hutch clients: the packages of this version put in place, with no registry that has them.
import json
import os
import shutil
import subprocess

import pytest

import clients
import harness

pytestmark = pytest.mark.xdist_group("sdk")

NOWHERE = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}


@pytest.fixture(scope="module")
def installed(base, packed):
    """Laid out as the Debian package lays it out: the program, and what it finds from there."""
    prefix = base.unused("prefix")
    for place in ("bin", "lib/hutch", "share/hutch/clients"):
        (prefix / place).mkdir(parents=True)
    shutil.copy2(base.bin / "hutch", prefix / "bin")
    shutil.copy2(base.bin / "hutch-guest", prefix / "lib/hutch")
    for file in packed.values():
        shutil.copy2(file, prefix / "share/hutch/clients")
    return prefix


@pytest.fixture
def place(person, request):
    return person.mkdir(person.home / request.node.name.replace("[", "-").rstrip("]"))


def run(person, place, program, *words, **environment):
    environment = {"HOME": str(place), "PATH": os.environ["PATH"], **NOWHERE, **environment}
    return harness.run_in(person, [program, "clients", *words], cwd=place, env=environment, timeout=120)


def node(person, place, script):
    return harness.run_in(person, ["node", "--input-type=commonjs", "-e", script], cwd=place,
                          env={"PATH": os.environ["PATH"]}).ok().text


def test_the_list_is_what_is_there(installed, person, place):
    listed = json.loads(run(person, place, installed / "bin/hutch", "list", "--json").ok().text)
    assert [one["package"] for one in listed] == ["hutch-pi", "hutch-mastra", "hutch-augure", "hutch-sdk"]
    assert all(os.path.exists(one["file"]) and one["version"] == clients.version() for one in listed)


def test_pi_has_a_whole_package(installed, person, place):
    hutch = installed / "bin/hutch"
    target = place / ".pi/agent/extensions/hutch-pi"
    assert str(target) in run(person, place, hutch, "install", "pi").ok().text
    manifest = json.loads((target / "package.json").read_text())
    assert (target / manifest["pi"]["extensions"][0]).exists() and (target / "dist/index.js").exists()
    assert (target / "node_modules/hutch-sdk/dist/index.js").exists()
    person.write(target / "dist/of_before.js")
    other = person.mkdir(place / "other")
    run(person, place, hutch, "install", "pi").ok()
    assert not (target / "dist/of_before.js").exists() and (target / "index.js").exists()
    assert os.listdir(target.parent) == ["hutch-pi"], "nothing is left of how it was made"
    assert str(other) in run(person, place, hutch, "install", "pi", "other").ok().text
    elsewhere = person.mkdir(place / "elsewhere")
    told = run(person, place, hutch, "install", "pi", "--json", PI_CODING_AGENT_DIR=str(elsewhere)).ok()
    told = json.loads(told.text)
    assert told["place"] == f"{elsewhere}/extensions/hutch-pi" and os.path.exists(f"{told['place']}/dist")


def test_the_client_is_installed_without_a_registry(installed, person, place):
    run(person, place, installed / "bin/hutch", "install", "sdk").ok()
    assert node(person, place, "console.log(typeof require('hutch-sdk').Hutch)") == "function\n"
    assert node(person, place, "import('hutch-sdk').then((all) => console.log(typeof all.Hutch))") == "function\n"
    assert "hutch-sdk" in json.loads((place / "package.json").read_text())["dependencies"]


def test_npm_of_the_project_is_not_run(installed, person, place):
    """A sandbox works there: neither its programs nor its scripts are the person's."""
    planted = f"#!/bin/sh\ntouch {place}/ran\n"
    for name in ("npm", "node"):
        person.write(place / "node_modules/.bin" / name, planted, mode=0o755)
        person.write(place / "bin" / name, planted, mode=0o755)
    scripts = {name: f"touch {place}/ran" for name in ("preinstall", "postinstall", "prepare")}
    person.write(place / "package.json", json.dumps({"name": "x", "private": True, "scripts": scripts}))
    search = f"{place}/node_modules/.bin:bin:.:{place}/bin:{os.environ['PATH']}"
    run(person, place, installed / "bin/hutch", "install", "sdk", PATH=search).ok()
    assert (place / "node_modules/hutch-sdk").exists() and not (place / "ran").exists()


def test_npm_obeys_no_program_and_tells_no_variable_of_the_project(installed, person, place):
    """The .npmrc of a directory may be a sandbox's."""
    hutch = installed / "bin/hutch"
    person.write(place / "program", f"#!/bin/sh\ntouch {place}/ran\nexit 1\n", mode=0o755)
    person.write(place / ".npmrc", f"git={place}/program\n@a:registry=http://127.0.0.1:9/a${{A_KEY}}/\n")
    for needed in ({"g": f"git+file://{place}/none.git"}, {"@a/b": "1.0.0"}):
        person.write(place / "package.json", json.dumps({"name": "x", "private": True, "dependencies": needed}))
        result = run(person, place, hutch, "install", "sdk", A_KEY="of-the-person")
        assert result.code == 125 and "by hand: npm install" in result.errors, str(result)
        assert "of-the-person" not in result.errors + result.text and not (place / "ran").exists(), str(result)
    assert "127.0.0.1:9/a" in result.errors, str(result)


def test_tar_is_the_systems(installed, person, place):
    """What it starts is not looked for in the person's PATH, nor is there an option in a variable."""
    for name in ("tar", "gzip"):
        person.write(place / name, f"#!/bin/sh\ntouch {place}/ran\nexec /bin/{name} \"$@\"\n", mode=0o755)
    run(person, place, installed / "bin/hutch", "install", "pi", PATH=f"{place}:{os.environ['PATH']}",
        TAR_OPTIONS=f"--checkpoint=1 --checkpoint-action=exec={place}/gzip").ok()
    assert (place / ".pi/agent/extensions/hutch-pi/index.js").exists() and not (place / "ran").exists()


@pytest.mark.slow
def test_each_brings_what_it_needs(installed, person, place, provider):
    """hutch-mastra beside a @mastra/core that is there; hutch-sdk comes in it, by nobody's registry."""
    (place / "node_modules").symlink_to(provider / "node_modules")
    bundled = provider / "node_modules/hutch-mastra/node_modules/hutch-sdk/package.json"
    assert json.loads(bundled.read_text())["version"] == clients.version()
    lock = json.loads((provider / "package-lock.json").read_text())["packages"]
    inner = lock["node_modules/hutch-mastra/node_modules/hutch-sdk"]
    assert inner["inBundle"] and "resolved" not in inner


@pytest.mark.parametrize("words, said", [
    (["install"], "for what? pi, mastra, augure or sdk"), (["install", "mastre"], "mastra"), (["instal"], "install"),
    ([], "what?"), (["install", "sdk", "/nowhere"], "no directory"),
])
def test_what_is_wrong_is_told(installed, person, place, words, said):
    result = run(person, place, installed / "bin/hutch", *words)
    assert result.code == 125 and said in result.errors and result.errors.count("\n") == 1, str(result)


def test_where_they_are_not_built_the_remedy_is_named(base, person, place):
    result = run(person, place, base.bin / "hutch", "install", "pi")
    assert result.code == 125 and "./dev clients" in result.errors and "Debian package" in result.errors
    assert not (place / ".pi").exists()


def test_the_sources_have_them_where_they_are_built(packed, tmp_path):
    """build/release/bin finds build/clients; of another place beside it nothing is taken."""
    program = tmp_path / "build/release/bin/hutch"
    program.parent.mkdir(parents=True)
    shutil.copy2(os.environ["HUTCH_BIN"] + "/hutch", program)
    (tmp_path / "clients").mkdir()
    for directory, code in ((tmp_path / "clients", 125), (tmp_path / "build/clients", 0)):
        directory.mkdir(exist_ok=True)
        for file in packed.values():
            shutil.copy2(file, directory)
        done = subprocess.run([program, "clients", "list"], capture_output=True, check=False)
        assert done.returncode == code, done
