# The Debian package by itself: its attacks run from an unpacked copy, with nothing else of the project in reach.
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import harness
import sources

# The package takes most of a minute to make: one worker has all of these.
pytestmark = pytest.mark.xdist_group("package")

SOURCE_ONLY = {"ARCHITECTURE.md", "HACKING.md", "examples/cpp-sandbox/example.cc", "examples/skill-loop",
               "examples/skill-loop/skills.mjs", "src/policy/git/values.cc"}

MAKE = "import sys; sys.path.insert(0, {tools!r}); from verbs import package; print(package.make_programs({to!r}))"


@pytest.fixture(scope="session")
def unpacked(base):
    """The package of the programs that are built, unpacked where nothing else is."""
    if not shutil.which("dpkg-deb"):
        pytest.skip("dpkg-deb is not installed")
    if not (sources.ROOT / "build/release/bin/attacks/escape/attempts").exists():
        pytest.skip("the package is made of build/release, which is not built")
    make = MAKE.format(tools=str(sources.ROOT / "tools"), to=str(base.unused("packaging")))
    made = subprocess.run([sys.executable, "-B", "-c", make], stdout=subprocess.PIPE, check=True)
    top = base.unused("unpacked")
    subprocess.run(["dpkg-deb", "-x", made.stdout.decode().split()[-1], top], check=True)
    top.chmod(0o755)
    base.path.chmod(0o1777)
    return top


def run(unpacked, as_user, project, base, *words):
    argv = [unpacked / "usr/bin/hutch", "selftest", "--attacks", *words]
    return harness.run_in(as_user, argv, cwd=project, timeout=900, env={"HUTCH_TEST_BASE": str(base.path)})


def test_it_has_no_source_of_hutch_and_no_test_tool(unpacked, base):
    names = [path.name for path in unpacked.rglob("*") if path.is_file()]
    assert not [name for name in names if name.endswith((".cc", "_test.py", ".pyc"))]
    for path in unpacked.rglob("*.py"):
        text = path.read_text(encoding="utf-8").replace("        import pytest\n", "")
        assert "import pytest" not in text, path
    control = pathlib.Path(base.path / "packaging/package/DEBIAN/control").read_text(encoding="utf-8")
    assert "python3" in control.split("Recommends: ")[1].split("\n")[0]


def test_the_links_of_its_documents_lead_somewhere(unpacked):
    """The source of the project is not in it: what only explains that is not either."""
    top = unpacked / "usr/share/doc/hutch"
    lost = []
    for path in top.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if not (path.parent / target).exists():
                lost.append((str(path.relative_to(top)), target.rpartition("../")[2]))
    assert {target for _, target in lost if not target.startswith("design/")} <= SOURCE_ONLY, lost


def test_a_library_is_of_the_package_for_this_abi():
    sys.path.insert(0, str(sources.ROOT / "tools"))
    from verbs import package
    if shutil.which("dpkg-query"):
        assert package.package_of("libc.so.6") == "libc6"


def test_it_has_the_clients_that_are_built(unpacked):
    built = sorted(file.name for file in (sources.ROOT / "build/clients").glob("*.tgz"))
    if not built:
        pytest.skip("./dev clients has made none")
    assert sorted(file.name for file in (unpacked / "usr/share/hutch/clients").iterdir()) == built
    words = [unpacked / "usr/bin/hutch", "clients", "list", "--json"]
    listed = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    assert all(one["file"].startswith(str(unpacked)) for one in json.loads(listed.stdout))


@pytest.mark.parametrize("chosen", ["read_denied", "signal_host", "names.a_second_name", "git.core_hookspath",
                                    "descriptor.", "loopback.dotted", "left_for_the_next"])
def test_attacks_run_from_the_package(unpacked, as_user, project, base, chosen):
    result = run(unpacked, as_user, project, base, "--json", "--backend", "namespace", "--backend", "bwrap", chosen)
    assert result.code == 0, str(result)
    cases = json.loads(result.out)["cases"]
    assert cases and any(case["control"]["verdict"] == "bites" for case in cases)
    for case in cases:
        verdicts = {outcome["verdict"] for outcome in case["backends"].values()}
        assert verdicts <= {"held", "not run"}, case
        assert verdicts == {"held"} or case["control"]["verdict"] == "not run", case
    assert os.listdir(project) == [], "nothing is left in the working directory"


def test_the_list_is_that_of_the_sources(unpacked, as_user, project, base, hutch):
    told = run(unpacked, as_user, project, base, "--list").ok().out
    assert told == hutch("selftest", "--attacks", "--list").ok().out
    assert told.count(b"\n") > 600
