# ./dev works: writes docs/works-inside.md from a run of tests/everyday/works_test.py.
"""Who runs it decides for whom the page speaks: root runs each work as root and as an ordinary user."""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import cmake_build
import packages
from shell import Failed, path, say

HELP = "write docs/works-inside.md anew from a run of the everyday works"
USAGE = "usage: ./dev works [--print-packages]"

PROGRAMS = ["hutch", "hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack"]
WAYS = ["namespace", "bwrap", "agent"]
HEAD = """\
# What works inside

Each line is a small project of `tests/everyday/works.py`. A test runs its commands outside of any sandbox, and then
inside: with `hutch run` on the backends `namespace` and `bwrap`, and in an agent's sandbox. "works" means that it ended
with exit code 0 and printed the same. "refused" means that hutch does not allow it, and that hutch or the program says
so. If a line names Debian packages, `./dev` does not install them: the test is skipped where they are absent.

`./dev works` wrote this page from a run. To add a line, add an entry to the table.
"""


def run(arguments):
    if packages.printed(arguments, "build", "run", "test"):
        return 0
    packages.ensure("build", "run", "test")
    cmake_build.build("release", PROGRAMS)
    found = results()
    sys.path.insert(0, path("tests", "everyday"))
    import works  # pylint: disable=import-outside-toplevel
    with open(path("docs", "works-inside.md"), "w", encoding="utf-8") as page:
        page.write(page_of(works.WORKS, found))
    failed = [name for name, outcomes in found.items() if "fails" in outcomes.values()]
    say(f"docs/works-inside.md: {len(works.WORKS)} works, {len(failed)} fail" + "".join(f"\n  {one}" for one in failed))
    return 1 if failed else 0


def results():
    """{work: {way: outcome}}; an outcome is "works", "fails" or why it was not run. The worst of all users counts."""
    with tempfile.TemporaryDirectory() as place:
        report = os.path.join(place, "report.xml")
        code = subprocess.run(["/usr/bin/python3", "-m", "pytest", "-c", path("tests", "pytest.ini"), "-q", "-n", "4",
                               f"--junitxml={report}", "-k", "test_it_works_as_outside",
                               path("tests", "everyday", "works_test.py")],
                              env={**os.environ, "HUTCH_TEST_ALL": "1",
                                   "HUTCH_BIN": path("build", "release", "bin")}, check=False).returncode
        if code not in (0, 1):
            raise Failed(f"pytest ended with {code}")
        cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase")
        found = {}
        for case in cases:
            name, way = named(case.get("name"))
            outcomes = found.setdefault(name, {})
            outcomes[way] = worse(outcomes.get(way), outcome_of(case))
    return found


def named(test):
    """test_it_works_as_outside[root-NAME-WAY], in whichever order pytest puts them."""
    words = test.partition("[")[2].removesuffix("]")
    way = next(one for one in WAYS if words.endswith(f"-{one}") or words.startswith(f"{one}-") or f"-{one}-" in words)
    for word in (way, "root", "user"):
        words = words.removeprefix(f"{word}-").removesuffix(f"-{word}")
    return words, way


def outcome_of(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "fails"
    skipped = case.find("skipped")
    return "works" if skipped is None else skipped.get("message", "not run")


def worse(one, other):
    """A work that is only for ordinary users is not run as root."""
    if one is None or other == "fails":
        return other
    return one if one in ("fails", "works") else other


def page_of(works, found):
    lines = []
    for kind in dict.fromkeys(work.kind for work in works):
        lines += [f"\n## {kind}\n", "| what | `namespace` | `bwrap` | agent | |", "|---|---|---|---|---|"]
        for work in works:
            if work.kind != kind:
                continue
            outcomes = found.get(work.name, {})
            cells = [shown(work, outcomes.get(way, "not run")) for way in WAYS]
            lines.append(f"| {work.name} | {' | '.join(cells)} | {remark(work)} |")
    return HEAD + "\n".join(lines) + "\n"


def remark(work):
    packages = f"Debian: `{work.debian}`" if work.debian else ""
    return "; ".join(one for one in (work.note, packages) if one)


def shown(work, outcome):
    return "refused" if work.refused and outcome == "works" else outcome
