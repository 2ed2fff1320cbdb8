# ./dev bench NAME: runs bench/bench_NAME.py on the release programs.
"""Each benchmark prints a table and, with --json, one object a line."""

import glob
import os
import sys

import cmake_build
import packages
from shell import Failed, path

HELP = "measure: ./dev bench NAME [--json] prints medians, and ratios taken in turn within the same run"
USAGE = "usage: ./dev bench NAME [--json] [OPTION OF THE BENCHMARK...]"


def run(arguments):
    if packages.printed(arguments, "build", "run", "bench"):
        return 0
    known = sorted(os.path.basename(file)[len("bench_"):-3] for file in glob.glob(path("bench", "bench_*.py")))
    if not arguments or arguments[0] not in known:
        raise Failed(f"which benchmark? there are: {', '.join(known)}", 2)
    packages.ensure("build", "run", "bench")
    helpers = {"exec": ["bench_exec"], "pool": ["bench_pool"]}.get(arguments[0], [])
    cmake_build.build("release", ["hutch", "hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack", *helpers])
    program = path("bench", f"bench_{arguments[0]}.py")
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-B", program, *arguments[1:]])
