# ./dev lint: everything that judges the sources without running them.
"""Each check says what it found; all run, and the exit code tells whether one failed."""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys

import cmake_build
import packages
import sources
from shell import Failed, call, jobs, path, say

INCLUDE = re.compile(r'^#include [<"]([^">]+)[">]', re.MULTILINE)

HELP = "check the sources: clang-format, the second compiler, clang-tidy, shellcheck, the style tests"
USAGE = "usage: ./dev lint [format|clang|tidy|shell|style ...] [--print-packages]"


def run(arguments):
    if packages.printed(arguments, "build", "lint"):
        return 0
    checks = {"format": check_format, "clang": check_clang, "tidy": check_tidy, "shell": check_shell,
              "style": check_style}
    chosen = arguments or list(checks)
    for name in chosen:
        if name not in checks:
            raise Failed(f"no check '{name}'; there are {', '.join(checks)}", 2)
    packages.ensure("build", "lint")
    failed = [name for name in chosen if not run_check(name, checks[name])]
    say("lint: " + ("failed: " + ", ".join(failed) if failed else "clean"))
    return 1 if failed else 0


def run_check(name, check):
    say(f"lint: {name}")
    try:
        return check()
    except Failed as failure:
        say(str(failure))
        return False


def check_format():
    files = sources.cpp()
    return not files or call(["clang-format-19", "--dry-run", "-Werror", *files]) == 0


def check_clang():
    cmake_build.build("clang")
    return True


def check_shell():
    return call(["shellcheck", *sources.shell()]) == 0


def check_style():
    return call(["/usr/bin/python3", "-m", "pytest", "-c", path("tests", "pytest.ini"), "-q",
                 path("tests", "style")], cwd=path()) == 0


def check_tidy():
    """clang-tidy on each file of src that has changed, or whose headers have, since it was last clean."""
    cmake_build.configure("clang", path("build", "clang"))
    with open(path("build", "clang", "compile_commands.json"), encoding="utf-8") as database:
        files = sorted({entry["file"] for entry in json.load(database)
                        if entry["file"].startswith(path("src") + os.sep) and not entry["file"].endswith("_test.cc")})
    stamps = path("build", "clang", "tidy")
    os.makedirs(stamps, exist_ok=True)
    todo = [(file, os.path.join(stamps, digest([path(".clang-tidy"), *with_headers(file)]))) for file in files]
    todo = [(file, stamp) for file, stamp in todo if not os.path.exists(stamp)]
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        return all(list(pool.map(lambda entry: tidy_one(*entry), todo)))


def with_headers(file):
    """The file and every header of the project that it includes, itself or by way of others, in a fixed order."""
    found, todo = {file}, [file]
    while todo:
        with open(todo.pop(), encoding="utf-8") as opened:
            for name in INCLUDE.findall(opened.read()):
                for header in (path("src", name), path("include", name)):
                    if header not in found and os.path.exists(header):
                        found.add(header)
                        todo.append(header)
    return sorted(found)


def tidy_one(file, stamp):
    result = subprocess.run(["clang-tidy-19", "--quiet", "--use-color=false", "-p", path("build", "clang"), file],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if result.returncode != 0:
        sys.stderr.write(result.stdout.decode(errors="replace"))
        if not result.stdout:
            sys.stderr.write(result.stderr.decode(errors="replace"))
        return False
    with open(stamp, "w", encoding="utf-8"):
        return True


def digest(files):
    sha = hashlib.sha256()
    for file in files:
        with open(file, "rb") as opened:
            sha.update(file.encode() + b"\0" + opened.read())
    return sha.hexdigest()[:32]
