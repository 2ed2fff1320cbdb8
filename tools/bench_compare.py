# ./dev bench --compare and --keep: the ratios of benchmarks beside those that bench/baseline.json keeps.
"""Ratios only: a figure in milliseconds says more about the machine than about hutch. Each benchmark runs several
times; a ratio has moved when it differs from the kept one by more than the spread of both."""

import json
import statistics
import subprocess
import sys

from shell import Failed, path, say

BASELINE = ("bench", "baseline.json")
RUNS = 3
# Two runs of the same program differ by this much even where the spread of three happens to be small.
LEAST_NOISE = 0.03


def measure(names, programs_of):
    """{benchmark: {case: {"ratio": median, "noise": half of the spread, relative}}}"""
    return {name: ratios_of(name, programs_of(name)) for name in names}


def ratios_of(name, command):
    seen = {}
    for run in range(RUNS):
        say(f"bench {name}, run {run + 1} of {RUNS}")
        ran = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if ran.returncode != 0:
            raise Failed(f"bench {name} ended with {ran.returncode}")
        for line in ran.stdout.decode().splitlines():
            case = json.loads(line)
            if case.get("ratio"):
                seen.setdefault(case["case"], []).append(case["ratio"])
    return {case: summary(ratios) for case, ratios in seen.items()}


def summary(ratios):
    middle = statistics.median(ratios)
    return {"ratio": round(middle, 3), "noise": round((max(ratios) - min(ratios)) / 2 / middle, 3)}


def moved(kept, now):
    """How far the ratio is from the kept one, relative; None within the noise of both."""
    change = now["ratio"] / kept["ratio"] - 1
    return change if abs(change) > max(LEAST_NOISE, kept["noise"] + now["noise"]) else None


def read_baseline():
    try:
        with open(path(*BASELINE), encoding="utf-8") as opened:
            return json.load(opened)
    except FileNotFoundError:
        return {}


def keep(measured):
    """Benchmarks that were not run keep what they had."""
    kept = {**read_baseline(), **measured}  # before the file is opened, which empties it
    with open(path(*BASELINE), "w", encoding="utf-8") as opened:
        json.dump(kept, opened, indent=1, sort_keys=True)
        opened.write("\n")


def compare(measured):
    """Prints every case; the exit code is 1 when a ratio has grown beyond its noise."""
    baseline, worse = read_baseline(), 0
    for name, cases in measured.items():
        for case, now in cases.items():
            kept = baseline.get(name, {}).get(case)
            change = moved(kept, now) if kept else None
            before = f"{kept['ratio']:.3f}" if kept else "-"
            mark = "" if change is None else f"  {change:+.0%}"
            worse += change is not None and change > 0
            print(f"{name:8} {case[:60]:60} {before:>8} -> {now['ratio']:.3f}{mark}")
    print(f"{worse} ratios have grown beyond their noise" if worse else "no ratio has grown beyond its noise")
    sys.stdout.flush()
    return 1 if worse else 0
