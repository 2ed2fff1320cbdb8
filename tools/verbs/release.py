# ./dev release VERSION: moves the notes of changes/ into CHANGELOG.md, sets the version everywhere, commits and tags.
"""Each change that a user notices has a file changes/NAME.KIND.md, so that no two branches edit one list."""

import datetime
import os
import re
import subprocess

from shell import Failed, must, say
import shell

HELP = "release a version: collect changes/ in CHANGELOG.md, set the version, commit and tag"
USAGE = """usage: ./dev release VERSION
       ./dev release --show

VERSION is a semantic version (semver.org) above the current one. --show prints what CHANGELOG.md would get."""

KINDS = ("added", "changed", "deprecated", "removed", "fixed", "security")
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
PROJECT = re.compile(r"(project\(hutch VERSION )([0-9.]+)")
PACKAGE = re.compile(r'("version": ")([0-9.]+)(")')
PACKAGES = ("augure", "mastra", "pi", "typescript")


def run(arguments):
    if len(arguments) != 1:
        raise Failed(USAGE, 2)
    notes = notes_in(shell.path("changes"))
    if arguments == ["--show"]:
        print(section("Unreleased", notes), end="")
        return 0
    version = arguments[0]
    check(version, notes)
    today = datetime.date.today().isoformat()
    edit("CHANGELOG.md", lambda text: with_section(text, section(f"[{version}] - {today}", notes)))
    edit("CMakeLists.txt", lambda text: PROJECT.sub(rf"\g<1>{version}", text, count=1))
    for name in PACKAGES:
        edit(f"clients/{name}/package.json", lambda text: PACKAGE.sub(rf"\g<1>{version}\g<3>", text, count=1))
    for name, _, _ in notes:
        os.unlink(shell.path("changes", name))
    must(["git", "-C", shell.ROOT, "add", "-A", "changes", "CHANGELOG.md", "CMakeLists.txt", "clients"])
    must(["git", "-C", shell.ROOT, "commit", "-q", "-m", f"Release {version}"])
    must(["git", "-C", shell.ROOT, "tag", "-a", f"v{version}", "-m", f"hutch {version}"])
    say(f"committed and tagged v{version}; build the packages with ./dev package, then push the branch and the tag")
    return 0


def notes_in(directory):
    """(file, kind, text) of each note, by name."""
    notes = []
    for name in sorted(os.listdir(directory)):
        if name == "README.md":
            continue
        parts = name.split(".")
        if len(parts) != 3 or parts[1] not in KINDS or parts[2] != "md":
            raise Failed(f"changes/{name}: name it NAME.KIND.md; a kind is one of {', '.join(KINDS)}")
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            text = " ".join(file.read().split())
        if not text:
            raise Failed(f"changes/{name} is empty")
        notes.append((name, parts[1], text))
    return notes


def section(title, notes):
    lines = [f"## {title}", ""]
    for kind in KINDS:
        of_kind = [text for _, one, text in notes if one == kind]
        if of_kind:
            lines += [f"### {kind.capitalize()}", "", *(f"- {text}" for text in of_kind), ""]
    return "\n".join(lines) + "\n"


def with_section(text, new):
    """The newest version comes first, behind the introduction."""
    at = text.find("\n## ")
    if at < 0:
        return text.rstrip("\n") + "\n\n" + new.rstrip("\n") + "\n"
    return text[:at + 1] + new + text[at + 1:]


def check(version, notes):
    current = PROJECT.search(read("CMakeLists.txt")).group(2)
    if not VERSION.fullmatch(version):
        raise Failed(f"{version} is not a semantic version such as 1.2.3", 2)
    if as_numbers(version) <= as_numbers(current):
        raise Failed(f"{version} is not above the current version, {current}")
    if not notes:
        raise Failed("changes/ has no note, so there is nothing to release")
    changed = subprocess.run(["git", "-C", shell.ROOT, "status", "--porcelain"], capture_output=True, text=True,
                             check=True).stdout
    if changed:
        raise Failed("the work tree has changes that are not committed; commit or stash them first")


def as_numbers(version):
    return tuple(int(part) for part in version.split("."))


def read(name):
    with open(shell.path(name), encoding="utf-8") as file:
        return file.read()


def edit(name, change):
    text = change(read(name))
    with open(shell.path(name), "w", encoding="utf-8") as file:
        file.write(text)
