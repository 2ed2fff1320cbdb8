# ./dev bench NAME: runs bench/bench_NAME.py on the release programs.
"""Each benchmark prints a table and, with --json, one object a line."""

import glob
import os
import sys

import bench_compare
import cmake_build
import packages
from shell import Failed, path

HELP = "measure: ./dev bench NAME [--json] prints medians, and ratios taken in turn within the same run"
USAGE = """usage: ./dev bench NAME [--json] [OPTION OF THE BENCHMARK...]
       ./dev bench --compare [NAME...]   each three times: which ratios differ from bench/baseline.json
       ./dev bench --keep [NAME...]      likewise, and writes them there"""

PROGRAMS = ["hutch", "hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack"]


def run(arguments):
    if packages.printed(arguments, "build", "run", "bench"):
        return 0
    known = sorted(os.path.basename(file)[len("bench_"):-3] for file in glob.glob(path("bench", "bench_*.py")))
    if arguments and arguments[0] in ("--compare", "--keep"):
        return run_several(arguments[0], arguments[1:] or known, known)
    if not arguments or arguments[0] not in known:
        raise Failed(f"which benchmark? there are: {', '.join(known)}", 2)
    prepare(arguments[:1])
    sys.stdout.flush()
    os.execv(sys.executable, [*command_of(arguments[0]), *arguments[1:]])


def prepare(names):
    """What a benchmark of the build measures, it builds itself."""
    packages.ensure("build", "run", "bench", *(["fuzz"] if "build" in names else []))
    helpers = [f"bench_{name}" for name in names if os.path.exists(path("bench", f"{name}.cc"))]
    if names != ["build"]:
        cmake_build.build("release", [*PROGRAMS, *helpers])


def command_of(name):
    return [sys.executable, "-B", path("bench", f"bench_{name}.py")]


def run_several(option, names, known):
    for name in names:
        if name not in known:
            raise Failed(f"no benchmark '{name}'; there are: {', '.join(known)}", 2)
    prepare(names)
    measured = bench_compare.measure(names, lambda name: [*command_of(name), "--json"])
    code = bench_compare.compare(measured)
    if option == "--keep":
        bench_compare.keep(measured)
        return 0
    return code
