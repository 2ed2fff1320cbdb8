# ./dev fuzz [TARGET]: libFuzzer on one target or on each in turn.
"""What is found goes to build/fuzz/found, what is learnt to build/fuzz/learnt; the corpus in tests/ is read alone."""

import glob
import os

import cmake_build
import packages
from shell import Failed, call, path, say

HELP = "run the fuzz targets: ./dev fuzz [TARGET] [--seconds N]"
USAGE = "usage: ./dev fuzz [TARGET] [--seconds N] [--print-packages]"


def run(arguments):
    if packages.printed(arguments, "build", "fuzz"):
        return 0
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
