#!/usr/bin/env python3
# What a clean build costs, by folder and by source, and what its sources read.
"""usage: ./dev bench build [--json] [--preset NAME] [--sources N]

Builds a preset from nothing in a directory of its own, without a compiler cache, and prints the CPU seconds by folder,
the slowest translation units, the sources that make the compiler read the most lines, and, of those, which headers cost
the most (clang's -ftime-trace). The ratio is that of the CPU seconds to compiling one plain source of this machine."""

import argparse
import collections
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import measure

sys.path.insert(0, str(measure.ROOT / "tests" / "lib"))

import lines_read  # noqa: E402

PROGRAMS = ["hutch", "hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack"]
# What the standard library's most used headers cost, compiled as release is: what the rest is counted in.
PLAIN = "#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\nint main() { return 0; }\n"
PLAIN_ROUNDS = 5


def main():
    options = parse()
    with tempfile.TemporaryDirectory(prefix="hutch-bench-build-", dir=measure.ROOT / "build") as scratch:
        costs = build(options.preset, pathlib.Path(scratch))
        plain = plain_source(pathlib.Path(scratch))
        headers = slowest_headers(options.sources, pathlib.Path(scratch))
    total = sum(costs.values())
    cases = [measure.Case("one plain source", plain, "s"),
             measure.Case(f"clean build of {options.preset}", total, "s", vs="one plain source")]
    folders = by_folder(costs)
    cases += [measure.Case(f"folder {folder}", spent, "s", vs="one plain source") for folder, spent in folders]
    if options.json:
        measure.print_json("build", cases)
        return
    measure.print_table(f"CPU seconds, {options.preset}, {len(costs)} objects", cases)
    print_list("slowest units", [(name, f"{spent:.1f} s") for name, spent in largest(costs, options.sources)])
    print_list("most lines read", [(name, f"{lines} lines") for name, lines
                                   in largest(lines_read.of_sources(), options.sources)])
    print_list("headers, of these sources compiled alone", headers)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--preset", default="release", help="of CMakePresets.json")
    parser.add_argument("--sources", type=int, default=20, help="how many of the slowest are shown")
    return parser.parse_args()


def build(preset, scratch):
    """{object: CPU seconds} of everything that a clean build compiles."""
    costs, directory = scratch / "costs", scratch / "build"
    launcher = f"{measure.ROOT / 'bench' / 'timed_compiler.py'};{costs}"
    run("cmake", "--preset", preset, "-B", directory, f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
    run("ninja", "-C", directory, f"-j{len(os.sched_getaffinity(0))}",
        *(["tests"] if preset == "dev" else PROGRAMS))
    lines = [line.rsplit(" ", 1) for line in costs.read_text().splitlines()]
    return {name: float(spent) for name, spent in lines}


def run(*command):
    ran = subprocess.run(command, cwd=measure.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False)
    if ran.returncode != 0:
        sys.exit(f"bench: {command[0]} ended with {ran.returncode}\n" + ran.stdout.decode(errors="replace")[-4000:])


def plain_source(scratch):
    source = scratch / "plain.cc"
    source.write_text(PLAIN)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(PLAIN_ROUNDS):
        run("g++", "-std=c++23", "-O2", "-c", source, "-o", scratch / "plain.o")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / PLAIN_ROUNDS


def by_folder(costs):
    """A folder is a target of CMake: hutch_plan.dir is src/plan."""
    folders = collections.Counter()
    for name, spent in costs.items():
        found = re.search(r"CMakeFiles/([^/]+)\.dir/", name)
        folders[found.group(1) if found else "other"] += spent
    return folders.most_common()


def largest(figures, count):
    return sorted(figures.items(), key=lambda entry: entry[1], reverse=True)[:count]


def slowest_headers(count, scratch):
    """Where clang's front end spends its time in the sources that read the most, header by header."""
    spent = collections.Counter()
    for name, _ in largest(lines_read.of_sources(), count):
        made = scratch / "traced.o"
        run("clang++-19", "-std=c++23", "-O0", "-ftime-trace", "-D_GNU_SOURCE", '-DHUTCH_VERSION="0"',
            f"-I{measure.ROOT / 'src'}", f"-I{measure.ROOT / 'include'}", "-c", measure.ROOT / name, "-o", made)
        for event in json.loads(made.with_suffix(".json").read_text())["traceEvents"]:
            if event["name"] == "Source" and "dur" in event:
                spent[event["args"]["detail"]] += event["dur"] / 1e6
    return [(header, f"{seconds:.1f} s") for header, seconds in spent.most_common(count)]


def print_list(title, rows):
    print(f"\n{title}")
    for name, figure in rows:
        print(f"  {figure:>14}  {name}")


if __name__ == "__main__":
    main()
