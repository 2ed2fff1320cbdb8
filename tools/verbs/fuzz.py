# ./dev fuzz [TARGET]: libFuzzer on one target or on each in turn; ./dev fuzz git: random repositories.
"""What is found goes to build/fuzz/found, what is learnt to build/fuzz/learnt; the corpus in tests/ is read alone."""

import glob
import os
import sys

import cmake_build
import packages
from shell import Failed, call, path, say

HELP = "run the fuzz targets: ./dev fuzz [TARGET] [--seconds N], ./dev fuzz git [--rounds N]"
USAGE = "usage: ./dev fuzz [TARGET] [--seconds N] [--print-packages]\n       ./dev fuzz git [OPTION...]"


def run(arguments):
    if packages.printed(arguments, "build", "fuzz"):
        return 0
    if arguments[:1] == ["git"]:
        return fuzz_git(arguments[1:])
    seconds, names = 60, []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--seconds" and rest and rest[0].isdigit():
            seconds = int(rest.pop(0))
        elif word.startswith("-"):
            raise Failed(f"no option '{word}'\n{USAGE}", 2)
        else:
            names.append(word)
    known = sorted(os.path.basename(file)[:-len("_fuzz.cc")] for file in glob.glob(path("tests", "fuzz", "*_fuzz.cc")))
    for name in names:
        if name not in known:
            raise Failed(f"no fuzz target '{name}'; there are: {', '.join(known)}", 2)
    packages.ensure("build", "fuzz")
    cmake_build.build("fuzz", ["fuzz_targets"])
    return max([fuzz_one(name, seconds) for name in names or known], default=0)


def fuzz_one(name, seconds):
    learnt, found = path("build", "fuzz", "learnt", name), path("build", "fuzz", "found", "")
    os.makedirs(learnt, exist_ok=True)
    os.makedirs(found, exist_ok=True)
    say(f"fuzzing {name} for {seconds} s")
    return call([path("build", "fuzz", "bin", f"{name}_fuzz"), learnt, path("tests", "fuzz", "corpus", name),
                 f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
                 f"-artifact_prefix={found}{name}-", "-print_final_stats=1"])


def fuzz_git(options):
    """Its target is hutch itself: what a sandbox leaves in a repository, and the git of the person outside."""
    cmake_build.build("release", ["hutch", "hutch-guest"])
    return call([sys.executable, "-B", path("tests", "escape", "git_fuzz", "hunt.py"), *options])
