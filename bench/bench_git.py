#!/usr/bin/env python3
# What hutch's looks at a repository of git cost: before a command starts, and after its end.
"""usage: ./dev bench git [--json] [--rounds N] [--files N,N,...]

`hutch run` in repositories of several sizes, each beside a directory without one, in turn within one run, as an
ordinary user. A command that changes nothing shows the look at the start; one that changes a file shows the look at the
end as well, beside the same in a directory without a repository. At the end hutch knows an index that has not changed
by its version, and reads one that has changed. The cost is the difference of two commands that do the same, but
for the name that the copy of the index gets.
"""

import argparse
import sys

import measure
from measure import Case, harness

FILES_IN_A_DIRECTORY = 100
NONE = "no repository"
WRITE = ("sh", "-c", "echo x > a")
COPY = "cp .git/index .git/copy && mv .git/copy .git/{}"


def main():
    options = parse()
    base = harness.Base()
    try:
        turns = measure.compile_static("turns.c", base.path / "bin" / "turns")
        person = base.person("user")
        top = person.mkdir(person.home / "projects")
        none = person.mkdir(top / "none")
        commands = {NONE: run_in(base, none, "true"), f"{NONE}, one change": run_in(base, none, *WRITE)}
        for files in options.files:
            project = repository(person, top, files)
            commands[f"{files} files"] = run_in(base, project, "true")
            commands[f"{files} files, one change"] = run_in(base, project, *WRITE)
            for what, name in (("other", f"{files} files, index copied"), ("index", f"{files} files, index changed")):
                commands[name] = run_in(base, project, "sh", "-c", COPY.format(what))
        medians = measure.time_in_turn(turns, person, top, commands, options.rounds)
        show(options, medians)
    finally:
        base.remove()
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench git", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=41, help="how often each command is timed")
    parser.add_argument("--files", type=lambda text: [int(one) for one in text.split(",")], default=[400, 4000, 40000],
                        help="how many files the repositories have")
    return parser.parse_args()


def run_in(base, project, *command):
    return ["/usr/bin/env", "-C", project, base.bin / "hutch", "run", "--backend", "namespace", "--", *command]


def repository(person, top, files):
    """All files are committed."""
    project = person.mkdir(top / f"of-{files}")
    script = (f"git init -q; i=0; while [ $((i * {FILES_IN_A_DIRECTORY})) -lt {files} ]; do mkdir d$i; "
              f"(cd d$i; seq {FILES_IN_A_DIRECTORY} | split -l 1 -a 3 - f); i=$((i + 1)); done; "
              "git add .; git -c user.name=a -c user.email=a@b.example commit -q -m all")
    harness.run_in(person, ["/bin/sh", "-ec", script], cwd=project, timeout=1800).ok()
    return project


def compared(name):
    files, _, what = name.partition(", ")
    if what == "index changed":
        return f"{files}, index copied"
    if what == "one change":
        return files
    return NONE if name != NONE and not what else ""


def show(options, medians):
    cases = []
    for name, median in medians.items():
        over = compared(name)
        note = f"{median - medians[over]:+.2f} ms" if over else ""
        cases.append(Case(name, median, "ms", over, note))
    if options.json:
        measure.print_json("git", cases)
    else:
        measure.print_table(f"git: median of {options.rounds} in turn", cases)


if __name__ == "__main__":
    sys.exit(main())
