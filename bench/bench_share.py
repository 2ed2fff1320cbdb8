#!/usr/bin/env python3
# What it takes to share a large tree with another user, and to take that back, beside setfacl -R.
"""usage: ./dev bench share [--json] [--files N] [--rounds N]

A tree of N files, a hundred in each directory, is shared and unshared by hutch and by setfacl(1), in turn within one
run. Both give the same: the files' own lists, and the directories' defaults, for which setfacl goes through the tree
twice. hutch also looks at all of it before it changes anything, and after it has taken all back, for what was moved
meanwhile. setfacl -x leaves a mask in each list, which goes untimed. The bar: sharing is faster than setfacl -R.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import measure
from measure import Case, harness

SETFACL, UNSETFACL = "setfacl -R, twice", "setfacl -R -x, twice"
FILES_A_DIRECTORY = 100


def main():
    options = parse()
    if os.geteuid() != 0:
        sys.exit("bench: sharing takes a second user, and so root: sudo ./dev bench share")
    base = harness.Base()
    try:
        cases = share_cases(base, options)
    finally:
        base.remove()
    if options.json:
        measure.print_json("share", cases)
    else:
        measure.print_table(f"a tree of {options.files} files: median of {options.rounds} in turn", cases)
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench share", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--files", type=int, default=100_000, help="how many files")
    parser.add_argument("--rounds", type=int, default=5, help="how often each case is timed")
    return parser.parse_args()


def share_cases(base, options):
    person = base.person("user")
    tree = make_tree(person, options.files)
    passwd = base.path / "passwd"
    users = pathlib.Path("/etc/passwd").read_text(encoding="utf-8")
    passwd.write_text(f"{users}hutch:x:61301:61301::/nowhere:/bin/sh\n", encoding="utf-8")
    own = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", f'mount --bind {passwd} /etc/passwd && exec "$@"', "sh"]
    grant = f"u:hutch:rwX,u:{person.uid}:rwX"
    commands = {
        "hutch share": [base.bin / "hutch", "share", "--traverse", tree],
        "hutch unshare": [base.bin / "hutch", "unshare", tree],
        SETFACL: ["sh", "-c", f"setfacl -R -m u:hutch:rwX {tree} && setfacl -R -d -m {grant} {tree}"],
        UNSETFACL: ["sh", "-c", f"setfacl -R -x u:hutch {tree} && setfacl -R -d -x u:hutch,u:{person.uid} {tree}"],
    }
    times = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, command in commands.items():
            if "setfacl" in name and not shutil.which("setfacl"):
                continue
            times[name].append(seconds(own + person.command(command), person))
            if name == UNSETFACL:
                seconds(person.command(["setfacl", "-R", "-b", tree]), person)
    vs = {"hutch share": SETFACL, "hutch unshare": UNSETFACL}
    return [case(name, times[name], vs.get(name, "")) for name in commands]


def make_tree(person, count):
    tree = person.mkdir(person.home / "tree")
    for number in range(count):
        if number % FILES_A_DIRECTORY == 0:
            directory = person.mkdir(tree / f"{number // FILES_A_DIRECTORY:05}")
        (directory / f"{number:06}").touch()
    subprocess.run(["chown", "-R", str(person.uid), str(tree)], check=True)
    return tree


def seconds(command, person):
    begin = time.monotonic()
    environment = person.environment({"HUTCH_STATE": str(person.home / "state")})
    done = subprocess.run([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    taken = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"bench: {done.args}: {done.stderr}")
    return taken


def case(name, times, vs):
    if not times:
        return Case(name, None, "s", note="setfacl is not installed (package acl)")
    return Case(name, statistics.median(times), "s", vs)


if __name__ == "__main__":
    sys.exit(main())
