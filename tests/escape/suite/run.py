# hutch selftest --attacks: runs the attacks on this host's backends and says which one held.
"""The standard library only: this is what the package ships. `hutch selftest` starts it; it is no interface of its own.
Exit code: 0 if every attack was held, 1 if one fell, 125 if a case could not be judged, or nothing could be run."""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import pwd
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
for directory in (HERE.parents[1] / "access", HERE.parents[1] / "lib", HERE.parent, HERE):
    sys.path.insert(0, str(directory))

import catalogue  # noqa: E402
import lanes  # noqa: E402
import report  # noqa: E402
import rig as rigs  # noqa: E402
from cases import HELD, NOT_RUN  # noqa: E402

# hutch run has no vm: an agent's virtual machine is attacked by the agents' own tests.
RUN_BACKENDS = ("namespace", "bwrap", "user", "container")


def parse(words):
    parser = argparse.ArgumentParser(prog="hutch selftest", add_help=False)
    parser.add_argument("--hutch", required=True)
    parser.add_argument("--backend", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--lane")
    parser.add_argument("--directory")
    parser.add_argument("filters", nargs="*")
    return parser.parse_args(words)


def complain(text):
    print(f"hutch: {text}", file=sys.stderr)
    return 125


def main(words):
    options = parse(words)
    cases = catalogue.every()
    if options.lane:
        lanes.run(options.lane, cases, options.hutch, HERE, options.directory)
        return 0
    cases = catalogue.chosen(cases, options.filters)
    if not cases:
        return complain(f"no attack is named {', '.join(options.filters)}; hutch selftest --attacks --list names them")
    if options.list:
        sys.stdout.write(report.list_json(cases) + "\n" if options.json else report.listing(cases))
        return 0
    backends, unavailable = backends_of(options)
    if not backends:
        return complain("no backend isolates on this host; hutch doctor says what to do")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with rigs.scratch() as directory:
        results, reason = run_all(["none", *backends], cases, options.hutch, directory)
    if reason:
        unavailable["none"] = reason
    run = report.Run(cases, ["none", *backends], unavailable, results, facts(options.hutch))
    sys.stdout.write(report.as_json(run) + "\n" if options.json else report.table(run))
    return run.exit_code()


def facts(hutch):
    version = subprocess.run([hutch, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    uid = os.geteuid()
    names = [line.pw_name for line in pwd.getpwall() if line.pw_uid == uid]
    return {"version": version.strip().removeprefix("hutch "), "kernel": platform.release(),
            "machine": platform.machine(), "uid": uid, "user": "root" if uid == 0 else (names or [f"user {uid}"])[0]}


def backends_of(options):
    """(those to run on, {those not: reason})."""
    told = subprocess.run([options.hutch, "doctor", "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {entry["name"]: entry for entry in json.loads(told)["backends"]}
    usable, unavailable = [], {}
    for name in options.backend or RUN_BACKENDS:
        if name not in RUN_BACKENDS:
            raise SystemExit(complain(f"--backend: no attacks are made on {name}; use {', '.join(RUN_BACKENDS)}"))
        if found[name]["available"]:
            usable.append(name)
        elif options.backend:
            raise SystemExit(complain(f"--backend {name}: {found[name]['reason']}; {found[name]['remedy']}"))
        else:
            unavailable[name] = found[name]["reason"]
    return usable, unavailable


def run_all(backends, cases, hutch, directory):
    """({backend: {key: outcome}}, why there is no control)."""
    reason = lanes.missing()
    started = {}
    results = {name: {} for name in backends if name != "none" or not reason}
    progress = Progress(len(cases) * len(results))
    with contextlib.ExitStack() as closing:
        readers = []
        for name in results:
            lane = lanes.start(name, ["--hutch", hutch, "--directory", str(directory)])
            closing.callback(end_lane, lane)
            started[name] = lane
            lane.stdin.write(json.dumps([case.key for case in cases]).encode() + b"\n")
            lane.stdin.flush()
            readers.append(threading.Thread(target=read_lane, args=(lane, results[name], progress), daemon=True))
            readers[-1].start()
        for reader in readers:
            reader.join()
        progress.clear()
    for name, lane in started.items():
        for case in cases:
            results[name].setdefault(case.key, {"verdict": "error", "seconds": 0.0,
                                                "how": f"the runner of {name} ended with {lane.returncode}"})
    leave_out_what_is_absent(results)
    return results, reason


def leave_out_what_is_absent(results):
    """Where the host itself does not have what a case is about, a sandbox does not show that it holds it."""
    for key, control in results.get("none", {}).items():
        if control["verdict"] == NOT_RUN:
            for name in results:
                if results[name][key]["verdict"] == HELD:
                    results[name][key] = control


def read_lane(lane, results, progress):
    for line in lane.stdout:
        outcome = json.loads(line)
        results[outcome.pop("key")] = outcome
        progress.count()


def end_lane(lane):
    """It takes away what it has made when its input ends; what does not end is killed."""
    lane.stdin.close()
    try:
        lane.wait(30)
    except subprocess.TimeoutExpired:
        lane.kill()
    lane.wait()


class Progress:
    """A line on a terminal, written over."""

    def __init__(self, total):
        self.total, self.done, self.shown = total, 0, sys.stderr.isatty()
        self.began = self.last = time.monotonic()
        self.lock = threading.Lock()

    def count(self):
        with self.lock:
            self.done += 1
            now = time.monotonic()
            if not self.shown or now - self.last < 0.1:
                return
            self.last = now
            sys.stderr.write(f"\r{self.done} of {self.total} attacks made, {now - self.began:.0f} s \x1b[K")
            sys.stderr.flush()

    def clear(self):
        if self.shown:
            sys.stderr.write("\r\x1b[K")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
