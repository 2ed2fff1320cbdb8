# Configures a CMake preset when that is needed and builds it, quiet when there is nothing to build.
"""A lock for each build directory: two ./dev at once wait for each other."""

import contextlib
import fcntl
import os
import re
import subprocess
import sys

from shell import Failed, call, jobs, path, say

QUIET = re.compile(rb"ninja: (Entering|no work)|\[\d+/\d+\] (Re-checking|Re-running)|^-- |^$")


def build(preset, targets=()):
    """Builds `targets` (all, when empty) of build/PRESET; progress goes to stderr, and only while it builds."""
    directory = path("build", preset)
    os.makedirs(directory, exist_ok=True)
    with lock(directory):
        configure(preset, directory)
        run_ninja(preset, directory, targets)


@contextlib.contextmanager
def lock(directory):
    with open(os.path.join(directory, ".dev-lock"), "w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def configure(preset, directory):
    """Only the first time, or when the presets are newer: after that ninja itself runs cmake again as needed."""
    ninja_file = os.path.join(directory, "build.ninja")
    presets = path("CMakePresets.json")
    if os.path.exists(ninja_file) and os.path.getmtime(ninja_file) >= os.path.getmtime(presets):
        return
    say(f"configuring build/{preset}")
    command = ["cmake", "--preset", preset]
    result = subprocess.run(command, cwd=path(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, check=False)
    if result.returncode != 0:
        sys.stderr.write(result.stdout.decode(errors="replace"))
        raise Failed(f"cmake --preset {preset} failed", 125)


def run_ninja(preset, directory, targets):
    command = ["ninja", "-C", directory, f"-j{jobs()}", *targets]
    if sys.stderr.isatty() and has_work(command):
        code = call(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)  # ninja draws its own progress line
    else:
        code = run_piped(command)
    if code != 0:
        raise Failed(f"the build of build/{preset} failed", 125)


def has_work(command):
    dry = subprocess.run([*command, "-n"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    return re.search(rb"\] (Building|Linking|Generating|Re-running)", dry.stdout) is not None


def run_piped(command):
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as ninja:
        for line in ninja.stdout:
            if not QUIET.search(line):
                sys.stderr.buffer.write(line)
                sys.stderr.flush()
    return ninja.returncode
