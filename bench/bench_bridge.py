#!/usr/bin/env python3
# What a call to the host costs a program in a sandbox, beside spawning a static program there.
"""usage: ./dev bench bridge [--json] [--rounds N] [--backend B] [--entries N]

Timed in the sandbox of an agent, in turn: the floor, a static program that ends at once; `hutch-host config get`, which
is a start of such a program and a request; and `hutch-host agent memory query` over so many entries, for a word that
is in one of a hundred of them, in one of twenty, and in all. The bars: 20 ms more than `config get` for the first two,
100 ms for the last.
"""

import argparse
import os
import random
import shutil
import sqlite3
import sys

import measure
from measure import Case

import daemons  # behind measure, which says where it lies
import harness

SPAWN = "spawn a static program"
CONFIG = "hutch-host config get"
QUERIES = {"memory query, a word of 1 %": "rare", "memory query, a word of 5 %": "some",
           "memory query, a word of all": "all"}


def main():
    options = parse()
    base = harness.Base()
    try:
        daemon = daemons.Daemon(base, base.person("root" if os.geteuid() == 0 else "user"))
        try:
            medians = run(base, daemon, options)
        finally:
            daemon.stop()
    finally:
        base.remove()
    cases = [Case(SPAWN, medians[SPAWN], "ms"), Case(CONFIG, medians[CONFIG], "ms", SPAWN)]
    cases += [Case(name, medians[name], "ms", CONFIG, f"{medians[name] - medians[CONFIG]:.2f} ms more")
              for name in QUERIES]
    if options.json:
        measure.print_json("bridge", cases)
    else:
        measure.print_table(f"{options.backend}, {options.entries} entries: median of {options.rounds} in turn", cases,
                            SPAWN)
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench bridge", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=101, help="how often each case is timed")
    parser.add_argument("--backend", default="namespace", help="that the agent has")
    parser.add_argument("--entries", type=int, default=100_000, help="that it remembers")
    return parser.parse_args()


def run(base, daemon, options):
    agent = daemon.create(f"backend={options.backend}")
    home = daemon.data / "workspace/agents" / agent
    for source, name in (("turns.c", "turns"), ("floor.c", "floor")):
        shutil.copy(measure.compile_static(source, base.path / "bin" / name), home / name)
    daemon.sh(agent, "hutch-host config set k v; hutch-host agent memory store first").ok()
    daemon("daemon", "stop").ok()
    fill(daemon.data / "memory" / f"{agent}.db", options.entries)
    inside, program = daemon.sh(agent, 'echo "$HUTCH_HOME"; command -v hutch-host').ok().text.split()
    commands = {SPAWN: [f"{inside}/floor"], CONFIG: [program, "config", "get", "k"]}
    commands |= {name: [program, "agent", "memory", "query", word] for name, word in QUERIES.items()}
    argv = [f"{inside}/turns", str(options.rounds)]
    for index, command in enumerate(commands.values()):
        argv += (["--next"] if index else []) + command
    ran = daemon.exec(agent, *argv, timeout=1800)
    if ran.code != 0:
        sys.exit(f"bench: {ran}")
    return measure.medians_of(ran.text, commands)


def fill(path, entries):
    """Texts of twenty words, as a program would have stored them one by one."""
    chance = random.Random(1)
    words = [f"word{number}" for number in range(5000)]
    rows = []
    for number in range(entries):
        text = " ".join(chance.choices(words, k=20)) + " all"
        text += " rare" if number % 100 == 0 else ""
        text += " some" if number % 20 == 0 else ""
        rows.append((text, 700, 1_700_000_000_000 + number, "sandbox"))
    with sqlite3.connect(path) as database:
        database.executemany("INSERT INTO memory (content, salience, created, source) VALUES (?, ?, ?, ?)", rows)
        database.execute("INSERT INTO words(words) VALUES ('rebuild')")


if __name__ == "__main__":
    sys.exit(main())
