# ./dev fmt: clang-format over every C++ file.
"""The layout is .clang-format's; lint checks the same."""

import packages
import sources
from shell import must

HELP = "lay out every C++ source with clang-format"
USAGE = "usage: ./dev fmt [FILE...]"


def run(arguments):
    if packages.printed(arguments, "lint"):
        return 0
    packages.ensure("lint")
    files = [word for word in arguments if not word.startswith("-")] or sources.cpp()
    if files:
        must(["clang-format-19", "-i", *files])
    return 0
