# Which sources somebody is working on: they are compiled by themselves, so that a change costs one source, not a unit.
"""The list is build/PRESET/edited.txt, which cmake/HutchUnits.cmake reads. A source stays on it until others push it
off: its unit is compiled again whenever the list changes."""

import os

from shell import path

LISTED_SOURCES = 8


def mark(directory):
    """Puts the sources that have changed since the last build at the front of the list. Nothing where there was no
    build, or where more than a person edits has changed at once, as after a pull."""
    try:
        built = os.stat(os.path.join(directory, ".ninja_log")).st_mtime
    except OSError:
        return
    changed = sorted(source for source in sources() if os.stat(path(source)).st_mtime > built)
    before = listed(directory)
    new = [source for source in changed if source not in before]
    if not new or len(changed) > LISTED_SOURCES:
        return
    with open(os.path.join(directory, "edited.txt"), "w", encoding="utf-8") as opened:
        opened.write("".join(f"{source}\n" for source in (new + before)[:LISTED_SOURCES]))


def sources():
    for folder, _, names in os.walk(path("src")):
        for name in names:
            if name.endswith(".cc"):
                yield os.path.relpath(os.path.join(folder, name), path())


def listed(directory):
    try:
        with open(os.path.join(directory, "edited.txt"), encoding="utf-8") as opened:
            return opened.read().split()
    except OSError:
        return []
