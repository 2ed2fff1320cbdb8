# Configures a CMake preset when that is needed and builds it, quiet when there is nothing to build.
"""A lock for each build directory: two ./dev at once wait for each other. The compiler's output goes to
build/PRESET/build.log, and to the caller only when something fails, or with `verbose`."""

import contextlib
import fcntl
import os
import subprocess

import edited
from progress import Progress
from shell import Failed, jobs, path, say

# What ninja prints of each step that is done; anything else is output of a command.
STATUS = "@%f/%t@ "
STATUS_MARK = b"@"


def build(preset, targets=(), verbose=False):
    """Builds `targets` (all, when empty) of build/PRESET; progress goes to stderr, and only while it builds."""
    directory = path("build", preset)
    os.makedirs(directory, exist_ok=True)
    with lock(directory):
        edited.mark(directory)
        configure(preset, directory)
        run_ninja(preset, directory, targets, verbose)


@contextlib.contextmanager
def lock(directory):
    with open(os.path.join(directory, ".dev-lock"), "w", encoding="utf-8") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another ./dev that builds {os.path.relpath(directory, path())}")
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
    log = os.path.join(directory, "configure.log")
    with open(log, "wb") as kept:
        kept.write(result.stdout)
    if result.returncode != 0:
        raise Failed(f"cmake --preset {preset} failed; its output, also in {log}:\n"
                     + result.stdout.decode(errors="replace").rstrip(), 125)


def run_ninja(preset, directory, targets, verbose):
    log = os.path.join(directory, "build.log")
    command = ["ninja", "-C", directory, f"-j{jobs()}", *(["-v"] if verbose else []), *targets]
    environment = {**os.environ, "NINJA_STATUS": STATUS}
    progress = Progress(preset, verbose)
    with open(log, "wb") as kept, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                   stderr=subprocess.STDOUT, env=environment) as ninja:
        try:
            for line in ninja.stdout:
                kept.write(line)
                read_line(line, progress)
        except KeyboardInterrupt:
            # ninja has the same signal: it removes what is half written, and the next run continues from there.
            ninja.wait()
            progress.end()
            say(f"build/{preset}: interrupted; the same command continues")
            raise
    progress.end()
    if ninja.returncode != 0:
        progress.show_failure()
        raise Failed(f"the build of build/{preset} failed; the whole log is {log}", 125)


def read_line(line, progress):
    if not line.startswith(STATUS_MARK):
        progress.output(line)
        return
    counts, _, what = line[1:].partition(STATUS_MARK)
    done, total = counts.split(b"/")
    progress.step(int(done), int(total), what.decode(errors="replace").strip())
