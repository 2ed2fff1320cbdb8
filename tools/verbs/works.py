# ./dev works: writes docs/works-inside.md from a run of tests/everyday/works_test.py and elsewhere_test.py.
"""Who runs it decides for whom the page speaks: root runs each work as root and as an ordinary user."""

import os
import re
import string
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import cmake_build
import packages
from shell import Failed, path, say

HELP = "write docs/works-inside.md anew from a run of the everyday works"
USAGE = """usage: ./dev works [--print-packages] [--only WAY,...] [--lines EXPRESSION]

WAYS are columns, and EXPRESSION is one of pytest -k for the lines. Other cells of the page stay as they are."""

PROGRAMS = ["hutch", "hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack"]
WAYS = ["namespace", "bwrap", "agent"]
BACKENDS = ["container", "vm", "user"]
COLUMNS = [*WAYS, *BACKENDS]
TITLES = ["`namespace`", "`bwrap`", "agent", "`container`", "`vm`", "`user`"]
HEAD = """\
# What works inside

Each line is a small project of `tests/everyday/works.py`. A test runs its commands outside of any sandbox, and then
inside: with `hutch run` on the backends `namespace` and `bwrap`, in an agent's sandbox, and in agents of the backends
`container`, `vm` and `user`. "works" means that it ended with exit code 0 and printed the same. "refused" means that
hutch does not allow it, and that hutch or the program says so. "no" means that it was tried and does not work. A
letter leads to [the reason](#reasons). If a line names Debian packages, `./dev` does not install them: the test is
skipped where they are absent.

Containers and virtual machines run an image's programs. Here the image has the same packages as the host. An agent of
`vm` or `user` works in its own home, so the files of the line are copied there first.

`./dev works` wrote this page from a run. To add a line, add an entry to the table.
"""
REASONS = """
## Reasons

"""
WHOSE = {"test_it_works_as_outside": WAYS, "test_it_works_elsewhere": BACKENDS}


def run(arguments):
    if packages.printed(arguments, "build", "run", "test"):
        return 0
    ways, lines = chosen(arguments)
    packages.ensure("build", "run", "test")
    cmake_build.build("release", PROGRAMS)
    found = results(ways, lines)
    sys.path.insert(0, path("tests", "everyday"))
    import reasons  # pylint: disable=import-outside-toplevel
    import works  # pylint: disable=import-outside-toplevel
    page = Page(works.WORKS, reasons.of, found, ways)
    with open(path("docs", "works-inside.md"), "r+", encoding="utf-8") as file:
        page.keep(file.read())
        file.seek(0)
        file.truncate()
        file.write(page.text())
    failed = [name for name, outcomes in found.items() if "fails" in outcomes.values()]
    say(f"docs/works-inside.md: {len(works.WORKS)} works, {len(failed)} fail" + "".join(f"\n  {one}" for one in failed))
    return 1 if failed else 0


def chosen(arguments):
    options = dict(zip(arguments[::2], arguments[1::2]))
    ways = options.get("--only", ",".join(COLUMNS)).split(",")
    if len(arguments) % 2 or set(options) - {"--only", "--lines"} or set(ways) - set(COLUMNS):
        raise Failed(f"{USAGE}\nThe ways are {', '.join(COLUMNS)}.")
    return ways, options.get("--lines", "")


def results(ways, lines):
    """{work: {way: outcome}}; an outcome is "works", "fails" or why it was not run. The worst of all users counts."""
    tests = " or ".join(test for test, own in WHOSE.items() if set(own) & set(ways))
    chosen_tests = f"({tests}) and ({lines})" if lines else tests
    with tempfile.TemporaryDirectory() as place:
        report = os.path.join(place, "report.xml")
        code = subprocess.run(["/usr/bin/python3", "-m", "pytest", "-c", path("tests", "pytest.ini"), "-q", "-n", "4",
                               "--dist", "loadgroup", f"--junitxml={report}", "-k", chosen_tests,
                               path("tests", "everyday")],
                              env={**os.environ, "HUTCH_TEST_ALL": "1", "HUTCH_WORKS": ",".join(ways),
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
    """test_it_works_as_outside[root-NAME-WAY], in whichever order pytest puts them; with @GROUP where it has one."""
    test, _, words = test.rpartition("@")[0 if "]@" in test else 2].partition("[")
    words, ways = words.removesuffix("]"), WHOSE[test]
    way = next(one for one in ways if words.endswith(f"-{one}") or words.startswith(f"{one}-") or f"-{one}-" in words)
    for word in (way, *(("root", "user") if ways is WAYS else ())):
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


class Page:
    def __init__(self, works, reason_of, found, ways):
        self.works, self.reason_of, self.found, self.ways = works, reason_of, found, ways
        self.kept, self.letters = {}, {}

    def keep(self, text):
        """The cells of ways that were not run stay as they are in that page."""
        titles = []
        for line in text.splitlines():
            name, *cells = [cell.strip() for cell in line.split("|")[1:-1]] or [""]
            if name == "what":
                titles = [COLUMNS[TITLES.index(cell)] for cell in cells if cell]
            elif name:
                self.kept[name] = dict(zip(titles, cells))

    def text(self):
        lines = []
        for kind in dict.fromkeys(work.kind for work in self.works):
            lines += [f"\n## {kind}\n", f"| what | {' | '.join(TITLES)} | |", "|---" * (len(TITLES) + 2) + "|"]
            for work in self.works:
                if work.kind == kind:
                    cells = [self.cell(work, way) for way in COLUMNS]
                    lines.append(f"| {work.name} | {' | '.join(cells)} | {remark(work)} |")
        told = [f"- ({letter}) {text}" for text, letter in self.letters.items()]
        return HEAD + "\n".join(lines) + "\n" + REASONS + "\n".join(told) + "\n"

    def cell(self, work, way):
        reason = self.reason_of(work, way)
        letter = reason and self.letters.setdefault(reason.text, string.ascii_lowercase[len(self.letters)])
        if way not in self.ways or work.name not in self.found:
            kept = self.kept.get(work.name, {}).get(way, "not run")
            return re.sub(r" \([a-z]\)$", "", kept) + f" ({letter})" * bool(letter)
        outcome = self.found[work.name].get(way, "not run")
        if reason and not reason.tried:
            return f"not tried ({letter})"
        if reason and reason.fault and outcome == reason.text:
            return f"no ({letter})"
        if outcome != "works":
            return outcome
        if reason:
            return f"{'works' if reason.works else 'no'} ({letter})"
        return "refused" if work.refused else "works"


def remark(work):
    packages = f"Debian: `{work.debian}`" if work.debian else ""
    return "; ".join(one for one in (work.note, packages) if one)
