# What a refusal says to type works when it is typed exactly, whatever the path is called.
import os
import re
import shlex

import harness
import pytest

pytestmark = pytest.mark.usefixtures("backend")

NAMES = {
    "plain": "plain",
    "blanks": " my  proj ",
    "quotes and a shell's signs": "it's \"$HOME\" `id` & ~;#!",
    "lines and tabs": "a\nb\tc",
    "an escape": "a\x1b[2Jb'\\n",
    "bytes that are no text": os.fsdecode(b"\xff\xc3("),
    "a direction": "a\u202eb",
    "wildcards": "sta*r [x]? {a,b}",
    "escaped wildcards": "a\\*b\\",
    "an option": "-rf",
    "a home": "~root",
    "long": "x" * 250,
}
REMEDY = re.compile(rb"; (?:`(?P<first>.*)` outside, and then )?(?P<option>--allow-(?:write|read) .+?)"
                    rb"(?: allows it|, allow it| shows it| shows them| makes a directory| lets git work)", re.DOTALL)
SHELL = ["/bin/sh", "-c"]


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


def typed(hutch, script, **options):
    """The line as a person types it, in bash: "hutch" is the program."""
    line = script.replace("hutch run", f"{shlex.quote(str(hutch.program))} run --backend {hutch.backend}")
    return harness.run_in(hutch.person, ["/bin/bash", "-c", line], **options)


def remedy_in(ran):
    found = REMEDY.search(ran.err)
    assert found, ran
    first = os.fsdecode(found["first"]) if found["first"] else ""
    return first, os.fsdecode(found["option"])


def prepare(as_user, place, script):
    person = 'git() { command git -c user.name=A -c user.email=a@b.example "$@"; }\n'
    harness.run_in(as_user, [*SHELL, person + script], cwd=place).ok()


# What is made before, what is run in the directory of that name, its options, and the file that it writes.
CASES = {
    "obeyed": ("git init -q", [*SHELL, "echo x > .envrc"], [], ".envrc"),
    "obeyed, there already": ("git init -q; echo y > .envrc", [*SHELL, "echo x > .envrc"], [], ".envrc"),
    "in a new directory": ("git init -q", [*SHELL, "mkdir -p .vscode; echo x > .vscode/settings.json"], [], None),
    "a hook": ("git init -q; rm -rf .git/hooks/*; echo y > .git/hooks/pre-push",
               [*SHELL, "echo x > .git/hooks/pre-push"], [], ".git/hooks/pre-push"),
    "an absent hook": ("git init -q", [*SHELL, "echo x > .git/hooks/pre-commit"], [], ".git/hooks/pre-commit"),
    "git's settings": ("git init -q", ["git", "config", "core.pager", "evil"], [], None),
    "a file beside it": ("echo y > ../beside", [*SHELL, "echo x > ../beside"], ["--allow-read", "../beside"],
                         "../beside"),
    "a new file beside it": ("echo x > a", ["cp", "a", "../copy"], [], "../copy"),
    "a new file in a shown directory": ("mkdir ../shown", [*SHELL, "echo x > ../shown/new"],
                                        ["--allow-read", "../shown"], "../shown/new"),
    "a new directory beside it": ("true", ["mkdir", "-p", "../made"], [], None),
    "a new directory in a shown one": ("mkdir ../shown", ["mkdir", "-p", "../shown/made"], ["--allow-read", "../shown"],
                                       None),
    "a hidden program": ("mkdir ../bin; printf '#!/bin/sh\\necho x > here' > ../bin/tool; chmod 755 ../bin/tool",
                         ["../bin/tool"], [], "here"),
}


@pytest.mark.parametrize("name", NAMES)
def test_it_works_as_it_is_typed(hutch, as_user, project, name):
    wrong = []
    for number, (case, (before, command, options, file)) in enumerate(CASES.items()):
        above = as_user.mkdir(project / f"{number}" / NAMES[name])
        place = as_user.mkdir(above / NAMES[name])
        prepare(as_user, place, before)
        command = [str(above / "bin/tool") if word == "../bin/tool" else word for word in command]
        refused = hutch.run(*command, options=options, cwd=place)
        if not REMEDY.search(refused.err):
            wrong.append(f"{case}: no remedy: {refused}")
            continue
        first, option = remedy_in(refused)
        listed = sorted(os.listdir(above.parent)), sorted(os.listdir(above))
        more = "" if "--allow-read" in option else " ".join(map(shlex.quote, options))
        # A note about a program that is hidden names it by its own directory.
        ran = typed(hutch, f"{first}\nhutch run {option} {more} -- {shlex.join(command)}", cwd=place)
        again = [line for line in ran.errors.splitlines() if "refused" in line and "mkdir" not in case]
        there = file is None or (place / file).read_text() == "x\n"
        stray = {*os.listdir(above.parent)} - {*listed[0]} or {*os.listdir(above)} - {*listed[1]} - {"copy", "made"}
        if ran.code != 0 or again or not there or stray:
            wrong.append(f"{case}: {refused.errors}\n{first!r} {option!r} {stray}\n{ran}")
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_a_part_of_a_repository_is_named_for_a_shell(hutch, as_user, project, name):
    place = as_user.mkdir(project / "r" / NAMES[name])
    prepare(as_user, project / "r", "git init -q; git commit -q --allow-empty -m first")
    told = hutch.run("git", "status", cwd=place)
    said = re.search(rb"start hutch there, with (--cwd .+?)(?:; |\n|$)", told.err, re.DOTALL)
    assert said, told
    typed(hutch, f"hutch run {os.fsdecode(said[1])} -- git status", cwd=project / "r").ok()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["file.txt", "directory/"])
def test_what_is_to_be_made_first_is_named_for_a_shell(hutch, as_user, project, name, kind, base):
    above = as_user.mkdir(base.unused("elsewhere") / NAMES[name])
    path = f"{above}/{kind}"
    note = hutch.run("true", options=["--allow-write", re.sub(r"([*?\[\\])", r"\\\1", path)])
    said = re.search(rb"; ((?:touch|mkdir -p) .+) first\n", note.err)
    assert said, note
    harness.run_in(as_user, ["/bin/bash", "-c", os.fsdecode(said[1])], cwd=project).ok()
    assert os.path.isdir(path) if kind.endswith("/") else os.path.isfile(path)
