# ./dev attacks: writes docs/attacks.md from a run of hutch selftest by each kind of user that there is here.
"""As root it is run as root and as an ordinary user, whose programs are a copy that everybody can reach."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cmake_build
import packages
from shell import Failed, path, say

HELP = "write docs/attacks.md anew from a run of hutch selftest --attacks"
USAGE = "usage: ./dev attacks [--print-packages]"

ORDINARY = 61234
PROGRAMS = ["hutch", "hutch-guest", "hutch-inspect", "hutch-unpack", "hutch_attacks"]
HEAD = """\
# Attacks

`hutch selftest --attacks` runs every attack below on each backend that works on your machine, and says which one held.
It needs the installed package only: no source tree, no compiler. It runs as you: once as an ordinary user and once
with sudo, it tries what each of the two may do.

    hutch selftest --attacks
    hutch selftest --attacks --backend bwrap git      # one backend, attacks with "git" in their name
    hutch selftest --attacks --list                   # their names; --json prints JSON

Each attack also runs on the backend `none`, which isolates nothing. There it has to succeed, or it would show nothing:
that is the control. Root's control runs in namespaces of its own, so that it does not change the host. The exit code is
1 if an attack succeeded in a sandbox, and 125 if a sandbox did not start.

`./dev attacks` wrote this page from a run. To add an attack, add a file to `tests/escape/attacks`, or an entry to a
table in `tests/escape/suite`; [HACKING.md](../HACKING.md) says how the tests use them.
"""
LISTS = """
## The attacks

Without a mark an attack succeeds on the backend `none` for everybody. With (root) or (user) it does so for that user
only. With (nobody) it has no control, for the reason that the program prints: nothing to attack is there.
"""


def run(arguments):
    if packages.printed(arguments, "build", "run"):
        return 0
    packages.ensure("build", "run")
    cmake_build.build("release", PROGRAMS)
    runs = [run_as(uid) for uid in ([0, ORDINARY] if os.geteuid() == 0 else [os.geteuid()])]
    with open(path("docs", "attacks.md"), "w", encoding="utf-8") as page:
        page.write(page_of(runs))
    fell = sum(one["counts"][name]["fell"] for one in runs for name in one["backends"])
    say(f"docs/attacks.md: {len(runs[0]['cases'])} attacks, {fell} fell")
    return 1 if fell else 0


def run_as(uid):
    say(f"attacks, as user {uid}")
    with tempfile.TemporaryDirectory(prefix="hutch-attacks-", dir="/var/tmp") as place:
        os.chmod(place, 0o755)
        shutil.copytree(path("build", "release", "bin"), os.path.join(place, "bin"))
        os.mkdir(os.path.join(place, "home"))
        os.chown(os.path.join(place, "home"), uid, uid)
        drop = ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"] if uid != os.geteuid() else []
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
                       "HOME": os.path.join(place, "home"), "HUTCH_STATE": os.path.join(place, "home", "state")}
        done = subprocess.run([*drop, os.path.join(place, "bin", "hutch"), "selftest", "--attacks", "--json"],
                              stdout=subprocess.PIPE, env=environment, cwd=place, check=False)
    if done.returncode not in (0, 1):
        sys.stderr.write(done.stdout.decode(errors="replace")[-4000:])
        raise Failed(f"hutch selftest ended with {done.returncode}")
    return json.loads(done.stdout)


def page_of(runs):
    return HEAD + results_of(runs) + LISTS + "".join(list_of(kind, runs[0]) for kind in kinds(runs[0]))


def kinds(one):
    return list(dict.fromkeys(case["kind"] for case in one["cases"]))


def results_of(runs):
    lines = ["\n## A run\n"]
    for one in runs:
        who = "root" if one["uid"] == 0 else "an ordinary user"
        lines += [f"hutch {one['version']} on Linux {one['kernel'].split('-')[0]}, {one['machine']}, as {who}:\n",
                  "| kind | attacks | succeed on `none` | " + " | ".join(f"`{name}` held, fell, not run"
                                                                        for name in one["backends"]) + " |",
                  "|---|---|---|" + "---|" * len(one["backends"])]
        lines += [row_of(kind, [case for case in one["cases"] if case["kind"] == kind], one) for kind in kinds(one)]
        lines += [row_of("all", one["cases"], one), ""]
        lines += [f"Not run on `{name}`: {reason}." for name, reason in one["unavailable"].items()]
        lines.append("")
    return "\n".join(lines)


def row_of(kind, cases, one):
    bite = sum(case["control"]["verdict"] == "bites" for case in cases)
    cells = []
    for name in one["backends"]:
        verdicts = [case["backends"][name]["verdict"] for case in cases]
        cells.append(", ".join(str(verdicts.count(word)) for word in ("held", "fell", "not run")))
    return f"| {kind} | {len(cases)} | {bite} | " + " | ".join(cells) + " |"


def list_of(kind, one):
    cases = [case for case in one["cases"] if case["kind"] == kind]
    lines = [f"\n### {kind}\n", "| attack | attempts | what |", "|---|---|---|"]
    for attack in dict.fromkeys(case["name"].split(".")[0] for case in cases):
        of_it = [case for case in cases if case["name"].split(".")[0] == attack]
        names = ", ".join(named(case) for case in of_it)
        first = of_it[0]["what"]
        # Where each attempt has a sentence of its own, what they have in common stands before a colon or a "by".
        alike = len({case["what"] for case in of_it}) == 1
        shared = first if alike else re.split(": | by ", first)[0].rstrip(".") + "."
        lines.append(f"| `{attack}` | {names} | {shared.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def named(case):
    mark = "" if case["bites"] == "everybody" else f" ({case['bites']})"
    return f"`{case['name'].split('.', 1)[1]}`{mark}"
