# The whole list of files that programs outside obey: a held one is refused with its remedy, a told one is shown.
"""The names are those of docs/obeyed.md, which a unit test compares with the list itself. One run tries each name in
one way; a name counts as written when the file says what the sandbox wrote."""

import json
import re

import harness
import pytest

PAGE = (harness.ROOT / "docs/obeyed.md").read_text(encoding="utf-8")


def names_under(title):
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return [name.replace("*", "x") for name in re.findall(r"^\| `([^`]+)`", section, re.MULTILINE)]


HELD, TOLD = names_under("Held"), names_under("Told")

# Each takes the name of what is to be made, and whatever a step fails with ends it.
WAYS = {
    "made": "put(name)",
    "made deep": "os.makedirs('a/b/c', exist_ok=True); put('a/b/c/' + name)",
    "made in a directory": "os.makedirs(name); put(name + '/in')",
    "a file renamed": "put('plain'); above(name); os.rename('plain', name)",
    "exchanged": "put('plain'); above(name); exchange('plain', name)",
    "a directory renamed": "put('d/' + rest(name)); os.rename('d', first(name))",
    "a directory linked": "put('d/' + rest(name)); os.symlink('d', first(name))",
    "a hard link": "put('plain'); above(name); os.link('plain', name)",
    "a symbolic link": "put('plain'); above(name); os.symlink('plain' if '/' not in name else "
                       "'../' * name.count('/') + 'plain', name)",
    "by way of a directory's descriptor": "above(name); put_at(os.open(os.path.dirname(name) or '.', os.O_PATH), "
                                          "os.path.basename(name))",
    "an odd spelling": "above(name); put('./' + (os.path.dirname(name) or '.') + '//./' + os.path.basename(name))",
    "by way of proc": "above(name); put('/proc/self/cwd/' + name)",
    "a node": "above(name); os.mknod(name)",
}
PROGRAM = """
import ctypes, os, shutil, sys
C = ctypes.CDLL(None, use_errno=True)
def above(name): os.makedirs(os.path.dirname(name) or '.', exist_ok=True)
def first(name): return name.split('/', 1)[0]
def rest(name): return name.split('/', 1)[1]
def put(name):
    above(name)
    with open(name, 'w') as file: file.write('evil')
def put_at(directory, name):
    os.write(os.open(name, os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=directory), b'evil')
def exchange(one, other):
    if C.renameat2(-100, one.encode(), -100, other.encode(), 0): raise OSError(ctypes.get_errno(), other)
base = os.getcwd()
for number, name in enumerate(sys.argv[2:]):
    os.makedirs(f'{base}/{number}', exist_ok=True)
    os.chdir(f'{base}/{number}')
    try: eval('[' + sys.argv[1].replace(';', ',') + ']')
    except OSError as error: print(name, error.errno)
"""


@pytest.fixture(params=["namespace", "bwrap"])
def supervised(request):
    return request.param


def tried(hutch, backend, way, names, options=()):
    result = hutch("run", "--json", "--backend", backend, *options, "--", "/usr/bin/python3", "-c", PROGRAM, way,
                   *names, timeout=harness.PATIENCE * 3)
    assert result.code == 0, str(result)
    return json.loads(result.out)


def written(project, names):
    """Those that are there by now, in whatever way a program outside would find them."""
    there = []
    for number, name in enumerate(names):
        paths = [project / str(number) / place / name for place in ("", "a/b/c")]
        found = [path / "in" if path.is_dir() else path for path in paths if path.exists()]
        if any(path.exists() for path in found):
            there.append(name)
    return there


def for_way(way, names):
    return [name for name in names if "/" in name] if "directory " in way and "descriptor" not in way else names


@pytest.mark.parametrize("way", WAYS)
def test_each_held_name_is_refused_with_its_remedy(hutch, project, supervised, way):
    names = for_way(way, HELD)
    outcome = tried(hutch, supervised, WAYS[way], names)
    assert written(project, names) == []
    said = "\n".join(refusal["what"] for refusal in outcome["refusals"])
    for number, name in enumerate(names):
        place = f"{project}/{number}/"
        lines = [line for line in said.splitlines() if place in line]
        assert lines and all(" was refused" in line for line in lines), f"{name}: {lines}"
        # These are judged by what is in them.
        assert way.startswith("a directory") or name in (".hg/hgrc", ".sl/config") or any(
            "--allow-write" in line and "filesystem.allowObeyed" in line for line in lines), f"{name}: {lines}"


@pytest.mark.parametrize("way", WAYS)
def test_each_is_written_where_nothing_protects(hutch, project, way):
    names = for_way(way, HELD + TOLD)
    tried(hutch, "none", WAYS[way], names)
    assert written(project, names) == names


@pytest.mark.parametrize("way", ["made", "made deep", "a file renamed", "a hard link", "an odd spelling"])
def test_each_told_name_is_written_and_told(hutch, project, supervised, way):
    outcome = tried(hutch, supervised, WAYS[way], TOLD)
    assert written(project, TOLD) == TOLD
    told = {refusal["what"]: refusal for refusal in outcome["refusals"]}
    for number, name in enumerate(TOLD):
        place = f"{project}/{number}/" + ("a/b/c/" if "deep" in way else "") + name
        found = [one for what, one in told.items() if what.startswith(f"{place} was changed")]
        assert len(found) == 1 and "instructions" in found[0]["what"], f"{name}: {told.keys()}"
        assert found[0]["diff"] == "    +evil\n", found


@pytest.mark.parametrize("way", ["a directory renamed", "a directory linked"])
def test_a_directory_that_brings_told_names_is_told(hutch, project, supervised, way):
    closed = {held.split("/")[0] for held in HELD}
    names = [name for name in TOLD if "/" in name and name.split("/")[0] not in closed]
    assert names
    outcome = tried(hutch, supervised, WAYS[way], names)
    said = [refusal["what"] for refusal in outcome["refusals"]]
    for number, name in enumerate(names):
        first = f"{project}/{number}/{name.split('/')[0]} was changed"
        assert any(what.startswith(first) for what in said), f"{name}: {said}"


TOUCH = ["open(name, 'w').write('evil')", "os.remove(name)", "os.rename(name, 'moved')", "os.truncate(name, 0)",
         "put('plain'); os.rename('plain', name)", "os.chmod(name, 0o755)",
         "os.rename(os.path.dirname(name) or '.', 'moved')", "os.link(name, 'other'); put('other')"]


@pytest.mark.parametrize("touch", range(len(TOUCH)))
def test_one_that_is_there_stays_as_it_is(hutch, as_user, project, supervised, touch):
    for number, name in enumerate(HELD):
        as_user.write(project / str(number) / name, "mine")
    outcome = tried(hutch, supervised, TOUCH[touch], HELD, ["--wide"])
    for number, name in enumerate(HELD):
        path = project / str(number) / name
        assert path.read_text() == "mine" and path.stat().st_mode & 0o777 == 0o644, name
    said = "\n".join(refusal["what"] for refusal in outcome["refusals"])
    if touch in (0, 1, 2, 3, 4):
        for number, name in enumerate(HELD):
            # Files that are judged by what they say may be removed where the sandbox made them; here a mount refuses.
            if touch == 1 and name.startswith((".hg/", ".sl/", ".jj/")):
                continue
            assert f"{project}/{number}/{name} was refused" in said, f"{name}: {said[:2000]}"


def test_what_a_text_said_before_is_shown(hutch, as_user, project, supervised):
    as_user.write(project / "CLAUDE.md", "one\ntwo\nthree\n")
    as_user.write(project / "AGENTS.md", "same\n")
    as_user.write(project / "GEMINI.md", "gone\n")
    script = "printf 'one\\n2\\033[31m\\nthree\\n' > CLAUDE.md; echo same > AGENTS.md; rm GEMINI.md; echo x > QWEN.md"
    result = hutch.run("sh", "-c", f"{script}; rm QWEN.md", backend=supervised).ok()
    expected = f"{project}/CLAUDE.md was changed: Claude Code reads it as instructions\n    -two\n    +2\\x1b[31m\n"
    assert expected in result.errors
    assert "GEMINI.md was changed" in result.errors and "    -gone\n" in result.errors
    assert "AGENTS.md" not in result.errors and "QWEN.md" not in result.errors


def test_a_long_change_is_cut(hutch, project, supervised):
    lines = harness.subprocess.run(["seq", "1", "5000"], capture_output=True, check=True).stdout
    script = "cat > CLAUDE.md; head -c 40000 /dev/zero | tr '\\0' x > AGENTS.md"
    result = hutch.run("sh", "-c", script, backend=supervised, stdin=lines).ok()
    assert "    +... 4988 lines more\n" in result.errors and result.errors.count("\n") < 40
    assert f"{project}/AGENTS.md was changed" in result.errors


def test_a_link_of_a_told_name_tells_of_what_it_leads_to(hutch, as_user, project, supervised):
    as_user.write(project / "docs/agents.txt", "old\n")
    (project / "CLAUDE.md").symlink_to("docs/agents.txt")
    result = hutch.run("sh", "-c", "echo new > docs/agents.txt", backend=supervised).ok()
    assert f"{project}/docs/agents.txt was changed" in result.errors and "    -old\n    +new\n" in result.errors


def test_a_link_that_is_made_leads_nobody_outside(hutch, as_user, project, supervised):
    as_user.write(project.parent / "secret", "private words")
    result = hutch.run("sh", "-c", "ln -s ../secret CLAUDE.md; mkdir d; ln -s .. d/.cursor; ln -s ../.. .junie; true",
                       backend=supervised)
    assert "private words" not in result.errors and "a symbolic link to ../secret" in result.errors


def test_entries_lift_names(hutch, as_user, project, supervised):
    script = "for f in .npmrc sub/.npmrc .husky/x; do mkdir -p $(dirname $f); echo x > $f; done; ls -A . sub .husky"
    policy = {"filesystem": {"denyRead": ["/home"], "allowRead": ["."], "allowWrite": ["."]}}
    for lifted, there in ((["allowObeyed", [".npmrc"]], [".npmrc", "sub/.npmrc"]),
                          (["allowObeyed", [".npmrc", ".husky"]], [".npmrc", "sub/.npmrc", ".husky/x"])):
        policy["filesystem"][lifted[0]] = lifted[1]
        as_user.write(project.parent / f"{project.name}.json", json.dumps(policy))
        here = as_user.mkdir(project / str(len(there)))
        hutch.run("sh", "-c", script, options=["--policy", str(project.parent / f"{project.name}.json")], cwd=here,
                  backend=supervised)
        assert [name for name in (".npmrc", "sub/.npmrc", ".husky/x") if (here / name).exists()] == there
    here = as_user.mkdir(project / "option")
    hutch.run("sh", "-c", script, options=["--allow-write", ".npmrc"], cwd=here, backend=supervised)
    assert (here / ".npmrc").exists() and not (here / "sub/.npmrc").exists()


def test_a_name_that_the_list_lacks_is_an_error(hutch, as_user, project):
    for name, said in ((".npmr", "did you mean .npmrc?"), ("x" * 255, "docs/obeyed.md"), ("", "not in the list"),
                       ("\x1b[31m", "\\x1b[31m")):
        as_user.write(project / "p.json", json.dumps({"filesystem": {"allowObeyed": [name]}}))
        result = hutch("run", "--policy", "./p.json", "--", "true")
        assert result.code == 125 and said in result.errors and "filesystem.allowObeyed" in result.errors, str(result)


PACKAGES = """mkdir -p node_modules/m && echo x > node_modules/m/.npmrc && echo y > node_modules/m/plain
python3 -c 'import os; os.rename("node_modules/m", "m")' 2>&1 | tail -1
mv node_modules/m m2 2>&1; mv node_modules other 2>&1; mv node_modules/m node_modules/k; ls -A node_modules/k m2 m other
"""


def test_packages_bring_names_along_and_do_not_take_them_out(hutch, project, supervised):
    hutch.run("sh", "-c", PACKAGES, backend=supervised)
    found = sorted(str(path.relative_to(project)) for path in project.rglob(".npmrc"))
    assert found and all("node_modules" in name for name in found), found


def test_odd_names_are_names_like_others(hutch, project, supervised):
    names = ["n" * 255, ".npmrc" + "x" * 249, ".npmrc\n", " .npmrc", ".NPMRC", ".vscode.", "..npmrc", "\xff.npmrc"]
    outcome = tried(hutch, supervised, "put(name)", names)
    assert written(project, names) == names and outcome["refusals"] == []
    assert "36" in tried(hutch, supervised, "put(name)", ["." + "n" * 255])["stdout"], "ENAMETOOLONG"
