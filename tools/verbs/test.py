# ./dev test: builds what the tests need and runs ctest, whose lines are the last.
"""Unit tests run from the dev build (ASan, UBSan); the suites run the release programs."""

import os
import re

import cmake_build
import packages
from shell import Failed, call, jobs, path

HELP = "build and run the tests: ./dev test [--all] [GROUP...], a group being unit, style, conformance, escape, ..."
USAGE = """usage: ./dev test [--all] [--preset tsan|coverage] [GROUP...] [--print-packages]

GROUP is the beginning of a test's name up to a dot (unit, unit.policy, fuzz, fuzz.smoke, style, e2e, conformance,
escape, faults, soak). --all adds the slow tests. --preset runs the unit tests with another sanitizer."""

# One of the slow cases may take most of its group's hour (pytest.ini has fifteen minutes for each).
ALL = {"HUTCH_TEST_ALL": "1", "PYTEST_TIMEOUT": "3500"}


def run(arguments):
    options, groups = parse(arguments)
    needed = ["build", "run", "test", "fuzz", *(["all"] if options["all"] else [])]
    if packages.printed(arguments, *needed):
        return 0
    if options["preset"]:
        return run_preset(options["preset"], groups)
    packages.ensure(*needed)
    cmake_build.build("release", ["hutch", "hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack",
                                  "hutch_shared"])
    cmake_build.build("dev")
    if wants_fuzz(groups):
        cmake_build.build("fuzz", ["fuzz_targets"])
    return ctest("dev", groups, ALL if options["all"] else {})


def parse(arguments):
    options, groups, rest = {"all": False, "preset": None}, [], list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--all":
            options["all"] = True
        elif word == "--preset" and rest:
            options["preset"] = rest.pop(0)
        elif word.startswith("-") and word != "--print-packages":
            raise Failed(f"no option '{word}'\n{USAGE}", 2)
        elif not word.startswith("-"):
            groups.append(word)
    if options["preset"] not in (None, "tsan", "coverage"):
        raise Failed(f"no test preset '{options['preset']}'; there are tsan, coverage", 2)
    return options, groups


def wants_fuzz(groups):
    return not groups or any(group.split(".")[0] == "fuzz" and group != "fuzz.replay" for group in groups)


def run_preset(preset, groups):
    packages.ensure("build", "test", *(["coverage"] if preset == "coverage" else []))
    cmake_build.build(preset)
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
               "--no-tests=error"]
    if groups:
        command += ["-R", "^(" + "|".join(re.escape(group) for group in groups) + r")(\.|$)"]
    return call(command, cwd=path(), env={**os.environ, **extra})
