# What every benchmark needs: compiled helpers, commands timed in turn, a table, one JSON object a line.
"""A case is timed beside the one it is compared with, round by round, so that a busy machine slows both."""

import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "lib"))

import harness  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Case:
    """A figure: `vs` names the case that its ratio is taken over. Without a median the note says why there is none."""

    name: str
    median: float | None
    unit: str
    vs: str = ""
    note: str = ""


def compile_static(source, target):
    subprocess.run(["gcc", "-O2", "-static", str(ROOT / "bench" / source), "-o", str(target)], check=True)
    target.chmod(0o755)
    return target


def time_in_turn(turns, person, cwd, commands, rounds):
    """The median of each command in milliseconds, in the order of `commands` (a dict of argument vectors)."""
    argv = [str(turns), str(rounds)]
    for index, command in enumerate(commands.values()):
        argv += (["--next"] if index else []) + [str(word) for word in command]
    ran = harness.run_in(person, argv, cwd=cwd, timeout=1800)
    if ran.code != 0:
        sys.exit(f"bench: {ran}")
    return medians_of(ran.text, commands)


def medians_of(text, commands):
    """Of what `turns` has printed, in milliseconds."""
    times = [[] for _ in commands]
    for line in text.splitlines():
        index, nanoseconds = line.split()
        times[int(index)].append(int(nanoseconds) / 1e6)
    return {name: statistics.median(times[index]) for index, name in enumerate(commands)}


def ratio(case, cases):
    over = next((other for other in cases if other.name == case.vs), None)
    return round(case.median / over.median, 3) if case.median is not None and over and over.median else None


def print_json(bench, cases):
    for case in cases:
        median = None if case.median is None else round(case.median, 4)
        line = {"bench": bench, "case": case.name, "median": median, "unit": case.unit, "vs": case.vs or None,
                "ratio": ratio(case, cases)}
        print(json.dumps(line | ({"note": case.note} if case.note else {})), flush=True)


def print_table(title, cases, floor=None):
    """`floor` names the case that the last column counts in."""
    width = max(len(case.name) for case in cases)
    base = next((case.median for case in cases if case.name == floor), None)
    print(f"\n{title}")
    for case in cases:
        if case.median is None:
            print(f"  {case.name:<{width}}  {'absent':>9}      {case.note}")
            continue
        times = f"{ratio(case, cases):7.2f} x {case.vs}" if case.vs else ""
        floors = f"{case.median / base:6.1f} x floor" if base and case.unit == "ms" else ""
        print(f"  {case.name:<{width}}  {case.median:9.3f} {case.unit:<4} {floors:<15} {times} {case.note}".rstrip())
