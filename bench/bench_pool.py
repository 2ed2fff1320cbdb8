#!/usr/bin/env python3
# What a sandbox of a pool costs: from cold, from warm, and a command in it, beside a plain spawn.
"""usage: ./dev bench pool [--json] [--rounds N] [--backend B]

Every case is timed in turn within one run, by include/hutch/container.h alone. The floor is spawning a static program;
a command is /bin/sh -c true. The bar: warm acquire and a command below 3 ms at the median.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import sys

import measure
from measure import Case, harness

SPAWN = "spawn a static program"
NAMES = {"spawn": SPAWN, "cold": "acquire, cold", "warm": "acquire, warm", "exec": "exec in an acquired one",
         "both": "acquire, warm, and exec"}


def main():
    options = parse()
    base = harness.Base()
    try:
        floor = measure.compile_static("floor.c", base.path / "bin" / "floor")
        built = pathlib.Path(os.environ.get("HUTCH_BIN", measure.ROOT / "build/release/bin"))
        shutil.copy(built / "bench_pool", base.bin / "bench_pool")
        person = base.person("root" if os.geteuid() == 0 else "user")
        cases = pool_cases(base, person, floor, options)
    finally:
        base.remove()
    if options.json:
        measure.print_json("pool", cases)
    else:
        measure.print_table(f"pool of {options.backend}: median of {options.rounds} in turn", cases, SPAWN)
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench pool", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=201, help="how often each case is timed")
    parser.add_argument("--backend", default="namespace", help="that the sandboxes have")
    return parser.parse_args()


def pool_cases(base, person, floor, options):
    state = person.mkdir(person.home / "state")
    words = [base.bin / "bench_pool", str(options.rounds), options.backend, floor]
    ran = harness.run_in(person, words, cwd=person.home, env={"HUTCH_STATE": str(state)}, timeout=1800)
    if ran.code != 0:
        sys.exit(f"bench: {ran}")
    times = {name: [] for name in NAMES}
    begun = False
    for line in ran.text.splitlines():
        name, nanoseconds = line.split("\t")
        begun = begun or name == "begin"
        if begun and name in times:
            times[name].append(int(nanoseconds) / 1e6)
    return [Case(NAMES[name], statistics.median(found), "ms", "" if name == "spawn" else SPAWN)
            for name, found in times.items()]


if __name__ == "__main__":
    sys.exit(main())
