#!/usr/bin/env python3
# A fuzzer of what hutch holds of git: random changes inside a sandbox, then the person's git outside.
"""A round is known by its seed and its number, and is played again with --first NUMBER --rounds 1. A trip is whatever
the person's git runs, or reads as a setting, that the sandbox wrote; none may be left when hutch run has returned."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import acts  # noqa: E402
import ground as grounds  # noqa: E402
import watch  # noqa: E402

BATCH = 50


def main(argv):
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--hutch", default=HERE.parents[2] / "build/release/bin/hutch", type=pathlib.Path)
    words.add_argument("--backend", default="namespace")
    words.add_argument("--rounds", type=int, default=400)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--first", type=int, default=0, help="the number of the first round")
    words.add_argument("--jobs", type=int, default=1)
    words.add_argument("--batch", type=int, default=BATCH, help="rounds for each start of a sandbox")
    words.add_argument("--depth", type=int, default=0,
                       help="how many directories deeper the repositories lie than where the sandbox starts")
    words.add_argument("--acts", help="only these acts of the rounds: 0,2")
    words.add_argument("--smallest", type=int, default=3, help="for how many trips the acts are found that matter")
    words.add_argument("--json", action="store_true", help="print the outcome as one JSON object")
    words.add_argument("--keep", action="store_true", help="leave the directories of the last batch")
    chosen = words.parse_args(argv)
    outcome = Hunt(chosen).run()
    print(json.dumps(outcome) if chosen.json else summary(chosen, outcome))
    return 1 if outcome["trips"] or outcome["errors"] else 0


def summary(chosen, outcome):
    return (f"{chosen.backend}: {outcome['rounds']} rounds, seed {chosen.seed}, {outcome['commands']} commands of git, "
            f"{outcome['seconds']} s, {len(outcome['trips'])} rounds tripped, {len(outcome['errors'])} errors")


class Hunt:
    def __init__(self, chosen):
        self.chosen = chosen
        self.lock = threading.Lock()
        self.next = chosen.first
        self.outcome = {"rounds": 0, "commands": 0, "trips": [], "errors": []}

    def run(self):
        began = time.monotonic()
        workers = [threading.Thread(target=self.work) for _ in range(self.chosen.jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.outcome["trips"].sort(key=lambda trip: trip["round"])
        self.outcome["seconds"] = round(time.monotonic() - began)
        return self.outcome

    def work(self):
        parent = os.environ.get("HUTCH_TEST_BASE", "/var/tmp")
        top = tempfile.mkdtemp(prefix="hutch-git-fuzz-", dir=parent)
        os.chmod(top, 0o755)
        try:
            ground = grounds.Ground(top, self.chosen.depth)
            while numbers := self.take():
                self.play(ground, numbers)
        except Exception as error:  # a thread's end says nothing by itself
            self.note_error(repr(error))
            raise
        finally:
            if self.chosen.keep:
                print(f"kept: {top}", file=sys.stderr)
            else:
                grounds.remove(top)

    def take(self):
        with self.lock:
            begin, end = self.next, min(self.next + self.chosen.batch, self.chosen.first + self.chosen.rounds)
            self.next = end
        return range(begin, end)

    def play(self, ground, numbers):
        only = [int(index) for index in self.chosen.acts.split(",")] if self.chosen.acts else None
        for number, found, count in self.batch(ground, numbers, only):
            with self.lock:
                self.outcome["rounds"] += 1
                self.outcome["commands"] += count
                wanted = bool(found) and self.chosen.smallest > 0
                self.chosen.smallest -= 1 if wanted else 0
            if found:
                self.note(ground, number, found, wanted, only)

    def batch(self, ground, numbers, only):
        """(number, what tripped, commands) of each round, all played in one sandbox."""
        ground.clear()
        for number in numbers:
            ground.make_round(self.chosen.seed, number)
        words = [self.chosen.hutch, "run", "--backend", self.chosen.backend, "--wide", "--allow-read", ground.trip,
                 "--allow-read", HERE, "--", "/usr/bin/python3", HERE / "inside.py", self.chosen.seed, ground.trip,
                 ground.rounds, "-" if only is None else ",".join(str(index) for index in only), *numbers]
        result = subprocess.run([str(word) for word in words], cwd=ground.start, env=ground.environment, check=False,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                timeout=300)
        if b"hutch:" in result.stderr and result.returncode == 125 or b"Traceback" in result.stderr:
            self.note_error(f"rounds {numbers}: {result.returncode} {result.stderr[-2000:].decode(errors='replace')}")
        for number in numbers:
            yield (number, *watch.watch(ground, self.chosen.seed, number))

    def note(self, ground, number, found, is_made_small, only):
        names = [act.__name__[len("act_"):] for _, act in acts.plan(self.chosen.seed, number)]
        trip = {"round": number, "acts": names, "found": found[:8]}
        if is_made_small:
            trip["smallest"] = self.smallest(number, only)
        with self.lock:
            self.outcome["trips"].append(trip)
            if not self.chosen.json:
                print(json.dumps(trip), flush=True)

    def smallest(self, number, only):
        """The acts without which the round trips no more, as --acts takes them; each try has a ground of its own."""
        kept = list(range(len(acts.plan(self.chosen.seed, number)))) if only is None else list(only)
        with tempfile.TemporaryDirectory(prefix="hutch-git-fuzz-", dir=os.environ.get("HUTCH_TEST_BASE", "/var/tmp"),
                                         ignore_cleanup_errors=True) as top:
            os.chmod(top, 0o755)
            ground = grounds.Ground(pathlib.Path(top) / "small", self.chosen.depth)
            for index in list(kept):
                fewer = [one for one in kept if one != index]
                if fewer and any(found for _, found, _ in self.batch(ground, [number], fewer)):
                    kept = fewer
        return ",".join(str(index) for index in kept)

    def note_error(self, text):
        with self.lock:
            self.outcome["errors"].append(text)
            if not self.chosen.json:
                print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
