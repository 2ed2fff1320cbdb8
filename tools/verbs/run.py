# ./dev run: hutch run on a fresh release build.
"""Replaces itself by hutch, so that streams, signals and the exit code are hutch's own."""

import os

import cmake_build
import packages
from shell import Failed, path, say

HELP = "hutch run ... on a fresh release build: ./dev run -- python3 -c 'print(1)'"
# hutch-helper and hutch-unpack serve other verbs: `hutch init`, images. ./dev build makes them.
PROGRAMS = ["hutch", "hutch-guest", "hutch-inspect"]
USAGE = "usage: ./dev run [OPTION OF hutch run...] [--] COMMAND [ARGUMENT...]"


def run(arguments):
    if packages.printed(arguments[:1], "build", "run"):
        return 0
    program = path("build", "release", "bin", "hutch")
    if writable(path("build", "release")):
        packages.ensure("build", "run")
        cmake_build.build("release", PROGRAMS)
    elif os.path.exists(program):
        say("build/release belongs to someone else: running it as it is")
    else:
        raise Failed(f"cannot write {path('build')}, and there is no build yet", 125)
    os.execv(program, ["hutch", "run", *arguments])


def writable(directory):
    """Whether this user can build there: the nearest directory that exists decides."""
    while not os.path.exists(directory):
        directory = os.path.dirname(directory)
    return os.access(directory, os.W_OK)
