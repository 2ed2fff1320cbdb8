# ./dev build: the programs at build/release/bin, or another preset.
"""With no change this takes a second or less. A target is a program, as hutch or policy_test; without one, all."""

import json

import cmake_build
import packages
from shell import Failed, path

HELP = "build the programs into build/release/bin; presets beside release: dev, quick, tsan, clang, fuzz, coverage"
USAGE = "usage: ./dev build [PRESET [TARGET...]] [--verbose] [--print-packages]"
GROUPS = {"release": ("build", "run"), "dev": ("build", "test", "fuzz"), "fuzz": ("build", "fuzz"),
          "quick": ("build", "fuzz"), "clang": ("build", "lint")}


def run(arguments):
    unknown = [word for word in arguments if word.startswith("-") and word not in ("--verbose", "--print-packages")]
    if unknown:
        raise Failed(f"no option '{unknown[0]}'\n{USAGE}", 2)
    names = [word for word in arguments if not word.startswith("-")]
    preset = names[0] if names else "release"
    with open(path("CMakePresets.json"), encoding="utf-8") as presets:
        known = [entry["name"] for entry in json.load(presets)["configurePresets"] if not entry.get("hidden")]
    if preset not in known:
        raise Failed(f"no preset '{preset}'; there are {', '.join(known)}", 2)
    groups = GROUPS.get(preset, ("build", "test"))
    if packages.printed(arguments, *groups):
        return 0
    packages.ensure(*groups)
    cmake_build.build(preset, names[1:], verbose="--verbose" in arguments)
    return 0
