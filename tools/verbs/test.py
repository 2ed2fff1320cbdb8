# ./dev test: builds what the tests need and runs ctest, whose lines are the last.
"""Unit tests and fuzz targets run from the dev build (ASan, UBSan); the suites run the release programs."""

import json
import os
import re
import xml.etree.ElementTree

import changed
import cmake_build
import packages
from shell import Failed, call, jobs, path, say

HELP = "build and run the tests: ./dev test [--all] [GROUP...], a group being unit, style, conformance, escape, ..."
USAGE = """usage: ./dev test [--all] [--changed[=COMMIT]] [--keep-times] [--preset tsan|coverage] [--verbose] [GROUP...]
       [--print-packages]

GROUP is the beginning of a test's name up to a dot (unit, unit.policy, fuzz, fuzz.smoke, style, e2e, conformance,
escape, faults, soak). --all adds the slow tests. --changed runs the groups that the changes since COMMIT (HEAD, when it
is not given) can reach. --keep-times writes how long each group took into bench/test-times.json. --preset runs the unit
tests with another sanitizer."""

# One of the slow cases may take most of its group's hour (pytest.ini has fifteen minutes for each).
ALL = {"HUTCH_TEST_ALL": "1", "PYTEST_TIMEOUT": "3500"}

PROGRAMS = ["hutch", "hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack", "hutch_shared",
            "hutch_attacks"]
TIMES = ("bench", "test-times.json")
SHOWN_GROUPS = 25


def run(arguments):
    options, groups = parse(arguments)
    needed = ["build", "run", "test", "fuzz", *(["all"] if options["all"] else [])]
    if packages.printed(arguments, *needed):
        return 0
    if options["preset"]:
        return run_preset(options["preset"], groups, options["verbose"])
    if options["changed"]:
        reached = changed.groups_since(options["changed"])
        if reached == []:
            say(f"nothing that a test can see has changed since {options['changed']}")
            return 0
        groups += reached or []
        say("groups: " + (" ".join(groups) or "all"))
    packages.ensure(*needed)
    cmake_build.build("release", PROGRAMS, options["verbose"])
    cmake_build.build("dev", ["tests"], options["verbose"])
    code = ctest("dev", groups, ALL if options["all"] else {})
    if options["keep"]:
        keep_times(read_times())
    return code


def parse(arguments):
    options = {"all": False, "preset": None, "changed": None, "keep": False, "verbose": False}
    groups, rest = [], list(arguments)
    while rest:
        word = rest.pop(0)
        if word in ("--all", "--verbose"):
            options[word[2:]] = True
        elif word == "--keep-times":
            options["keep"] = True
        elif word == "--changed" or word.startswith("--changed="):
            options["changed"] = word.partition("=")[2] or "HEAD"
        elif word == "--preset" and rest:
            options["preset"] = rest.pop(0)
        elif word.startswith("-") and word != "--print-packages":
            raise Failed(f"no option '{word}'\n{USAGE}", 2)
        elif not word.startswith("-"):
            groups.append(word)
    if options["preset"] not in (None, "tsan", "coverage"):
        raise Failed(f"no test preset '{options['preset']}'; there are tsan, coverage", 2)
    return options, groups


def run_preset(preset, groups, verbose):
    packages.ensure("build", "test", *(["coverage"] if preset == "coverage" else []))
    cmake_build.build(preset, ["tests"], verbose)
    if preset == "coverage":
        report_coverage()
    return ctest(preset, groups or ["unit", "fuzz.replay"], {})


def report_coverage():
    """The lines that the unit tests ran, a file a line; ctest, which follows, has the last word."""
    call(["ctest", "--test-dir", path("build", "coverage"), "-Q", "-R", "^unit"])
    # gcov may count -1 for a branch of code that was inlined (GCC bug 68080); such a branch is no reason for no report.
    reported = call(["gcovr", "--root", path(), "--filter", path("src") + "/", "--exclude", ".*_test\\.cc",
                     "--gcov-ignore-parse-errors", path("build", "coverage")])
    if reported != 0:
        raise Failed("gcovr could not make the report")


def ctest(preset, groups, extra):
    command = ["ctest", "--test-dir", path("build", preset), f"-j{jobs()}", "--output-on-failure",
               "--no-tests=error", "--output-junit", times_file()]
    if groups:
        command += ["-R", "^(" + "|".join(re.escape(group) for group in groups) + r")(\.|$)"]
    code = call(command, cwd=path(), env={**os.environ, **extra})
    show_times(read_times())
    show_counts()
    return code


def times_file():
    return path("build", "test-times.xml")


def read_times():
    """{group: seconds} of the run that has just ended; the parts of unit and fuzz are groups of their own."""
    try:
        suite = xml.etree.ElementTree.parse(times_file()).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return {}
    return {case.get("name"): round(float(case.get("time")), 1) for case in suite.iter("testcase")
            if case.get("status") != "disabled"}


def show_counts():
    """The last line: how many groups there were, whatever was printed before."""
    root = xml.etree.ElementTree.parse(times_file()).getroot() if os.path.exists(times_file()) else {}
    count = {name: int(root.get(name, 0)) for name in ("tests", "failures", "skipped", "disabled")}
    skipped = count["skipped"] + count["disabled"]
    passed = count["tests"] - count["failures"] - skipped
    print(f"{passed} passed, {count['failures']} failed" + (f", {skipped} skipped" if skipped else ""), flush=True)


def kept_times():
    try:
        with open(path(*TIMES), encoding="utf-8") as opened:
            return json.load(opened)
    except (OSError, ValueError):
        return {}


def show_times(times):
    """The slowest first, beside the times that bench/test-times.json keeps."""
    kept = kept_times()
    for name in sorted(times, key=times.get, reverse=True)[:SHOWN_GROUPS]:
        before = f"   kept {kept[name]:.0f}" if name in kept else ""
        say(f"{times[name]:7.1f} s  {name}{before}")


def keep_times(times):
    """Groups that were not run keep the time that they had."""
    with open(path(*TIMES), "w", encoding="utf-8") as opened:
        json.dump({**kept_times(), **times}, opened, indent=1, sort_keys=True)
        opened.write("\n")
