#!/usr/bin/env python3
# What the supervisor of file changes costs: single calls, many creations, and a build, beside the same outside.
"""usage: ./dev bench access [--json] [--rounds N] [--files N] [--builds N]

A call is timed by the program that makes it: outside of every sandbox, in `hutch run` with workload and supervisor on
one processor, and where the kernel puts them; and in `hutch run` with somebody who can be asked, where looks at files
are held as well. `let through` is a call of a kind that the supervisor is asked about, on
a file that it has no say about. The build is configure and make of GNU hello, from Debian's source archive by the
machine's own package manager; without that archive it is left out, and said so.
"""

import argparse
import os
import shutil
import socket
import statistics
import sys

import measure
from measure import Case, harness

import debian_source

PLACES = {"outside": [], "hutch run, one processor": ["taskset", "-c", "0"], "hutch run": []}
ASKING = {"hutch run that asks, one processor": ["taskset", "-c", "0"], "hutch run that asks": []}
SOURCE = "hello"


def main():
    options = parse()
    base = harness.Base()
    try:
        person = base.person("user" if os.geteuid() == 0 else "root")
        place = Place(base, person)
        cases = [*place.calls(options.rounds), *place.creations(options.files), *place.builds(options.builds)]
    finally:
        base.remove()
    if options.json:
        measure.print_json("access", cases)
    else:
        measure.print_table(f"access, as {person.name}: median of {options.rounds} calls", cases)
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench access", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=2001, help="how often each call is timed")
    parser.add_argument("--files", type=int, default=20_000, help="how many files are made")
    parser.add_argument("--builds", type=int, default=3, help="how often the build is done in each place")
    return parser.parse_args()


class Place:
    def __init__(self, base, person):
        self.base, self.person, self.hutch = base, person, base.bin / "hutch"
        self.project = person.mkdir(person.home / "projects" / "access")
        program = measure.compile_static("calls.c", base.path / "bin" / "calls")
        self.program = self.project / "calls"
        shutil.copy(program, self.program)
        person.own(self.program)

    def command(self, where, control, *words):
        asks = ["--control-fd", str(control)] if where in ASKING else []
        sandbox = [] if where == "outside" else [self.hutch, "run", "--backend", "namespace", *asks, "--"]
        return [*{**PLACES, **ASKING}[where], *sandbox, *words]

    def run(self, where, *words, cwd=None):
        state = self.person.home / "state"
        ours, its = socket.socketpair()
        with ours, its:
            ran = harness.run_in(self.person, self.command(where, its.fileno(), *words), cwd=cwd or self.project,
                                 timeout=1800, env={"HUTCH_STATE": str(state)}, pass_fds=[its.fileno()])
        if ran.code != 0:
            sys.exit(f"bench: {ran}")
        return ran

    def calls(self, rounds):
        """Microseconds of each kind of call, in each place in turn."""
        times = {}
        for turn in range(3):
            for index, where in enumerate([*PLACES, *ASKING]):
                folder = self.person.mkdir(self.project / f"calls-{turn}-{index}")
                # A file on a file system of the sandbox's own; outside it is the same kind of place.
                other = "/tmp/hutch-bench-other" if where != "outside" else str(folder / "other")
                for line in self.run(where, str(self.program), str(folder), other, str(rounds)).text.splitlines():
                    kind, nanoseconds = line.split("\t")
                    times.setdefault((kind, where), []).append(int(nanoseconds) / 1000)
        return [Case(f"{kind}: {where}", statistics.median(taken), "us",
                     "" if where == "outside" else f"{kind}: outside",
                     more(statistics.median(taken), statistics.median(times[kind, "outside"]), where))
                for (kind, where), taken in times.items()]

    def creations(self, files):
        """In a new directory each time: file systems are slow to reuse what has just gone."""
        times = {where: [] for where in PLACES}
        for turn in range(3):
            for index, where in enumerate(PLACES):
                folder = self.person.mkdir(self.project / f"creations-{turn}-{index}")
                line = self.run(where, str(self.program), "creations", str(folder), str(files)).text
                times[where].append(int(line.split("\t")[1]) / 1e6)
        return in_turn(f"{files} files made", times)

    def builds(self, builds):
        if builds == 0:
            return []
        archive = debian_source.archive(SOURCE, self.base.path / "source")
        if archive is None:
            print("bench: no source archive of Debian's can be had here: no build", file=sys.stderr)
            return []
        script = "./configure -q > /dev/null 2>&1 && make -s -j2 > /dev/null 2>&1 && ./hello > /dev/null"
        times = {where: [] for where in PLACES if "one" not in where}
        for turn in range(builds):
            for where in times:
                folder = self.person.mkdir(self.project / f"build-{turn}-{len(times[where])}-{len(where)}")
                harness.run_in(self.person, ["tar", "-xf", str(archive), "--strip-components=1"], cwd=folder).ok()
                times[where].append(self.run(where, "sh", "-c", script, cwd=folder).seconds * 1000)
        return in_turn(f"configure and make of {SOURCE}", times)


def more(median, outside, where):
    return "" if where == "outside" else f"{median - outside:+.1f} us"


def in_turn(what, times):
    return [Case(f"{what}: {where}", statistics.median(taken), "ms", "" if where == "outside" else f"{what}: outside")
            for where, taken in times.items()]


if __name__ == "__main__":
    sys.exit(main())
