#!/usr/bin/env python3
# What a command in a running sandbox costs: through the library, through the daemon, by MCP, beside a plain spawn.
"""usage: ./dev bench exec [--json] [--rounds N] [--files N]

Every case is timed in turn within one run. The floor is spawning a static program. The library is include/hutch alone.
Search is by sandbox_search_files beside ripgrep itself on a tree of that many files; a stream is what a command writes
into a pipe of its caller's. `docker exec` is timed where an engine answers, in a container of the floor's program.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

import measure
from measure import Case, harness

SPAWN = "spawn a static program"
NAMES = {"spawn": SPAWN, "library": "exec, by the library", "daemon": "exec, by the daemon's socket",
         "mcp": "sandbox_exec, by MCP", "write": "write 4 KiB, by tool", "read": "read 4 KiB, by tool",
         "docker": "docker exec"}
AGENT = "bench"
STREAM_BYTES = 4 << 30


def main():
    options = parse()
    base = harness.Base()
    try:
        floor = measure.compile_static("floor.c", base.path / "bin" / "floor")
        built = pathlib.Path(os.environ.get("HUTCH_BIN", measure.ROOT / "build/release/bin"))
        shutil.copy(built / "bench_exec", base.bin / "bench_exec")
        person = base.person("root" if os.geteuid() == 0 else "user")
        cases = Place(base, person, floor).measure(options)
    finally:
        base.remove()
    if options.json:
        measure.print_json("exec", cases)
    else:
        measure.print_table(f"exec: median of {options.rounds} in turn", cases, SPAWN)
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench exec", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=501, help="how often each case is timed")
    parser.add_argument("--files", type=int, default=100_000, help="files of the tree that is searched")
    return parser.parse_args()


class Place:
    def __init__(self, base, person, floor):
        self.person, self.hutch = person, base.bin / "hutch"
        self.state = person.mkdir(person.home / "state")
        self.work = person.mkdir(person.home / "work")
        self.floor = self.work / "floor"
        shutil.copy(floor, self.floor)
        person.own(self.floor)

    def run(self, *words, **options):
        ran = harness.run_in(self.person, list(words), cwd=self.work, env={"HUTCH_STATE": str(self.state)},
                             timeout=1800, **options)
        if ran.code != 0:
            sys.exit(f"bench: {ran}")
        return ran

    def measure(self, options):
        try:
            self.run(self.hutch, "agent", "create", AGENT, f"dir={self.work}", "autonomousExec.enabled=true",
                     "autonomousExec.maxCommandsPerTurn=0")
            return [*self.exec_cases(options.rounds), *self.search_cases(options.files), *self.stream_cases()]
        finally:
            self.run(self.hutch, "daemon", "stop")

    def exec_cases(self, rounds):
        program = self.hutch.parent / "bench_exec"
        times = {name: [] for name in NAMES}
        begun = False
        with Container(self.floor) as container:
            ran = self.run(program, str(rounds), self.floor, AGENT, *container.words)
        for line in ran.text.splitlines():
            name, nanoseconds = line.split("\t")
            begun = begun or name == "begin"
            if begun and name in times:
                times[name].append(int(nanoseconds) / 1e6)
        cases = [Case(NAMES[name], statistics.median(found), "ms", "" if name == "spawn" else SPAWN)
                 for name, found in times.items() if found]
        if not container.words:
            cases.append(Case(NAMES["docker"], None, "ms", note=container.absent))
        return cases

    def search_cases(self, files):
        """ripgrep itself and the tool, in turn."""
        tree = self.person.mkdir(self.work / "tree")
        make_tree(self.person, tree, files)
        arguments = json.dumps({"pattern": "needle_[0-9]+", "path": "tree", "max_results": 500})
        plain = ["rg", "--no-config", "--json", "needle_[0-9]+", str(tree)]
        tool = [str(self.hutch), "tool", "call", AGENT, "sandbox_search_files", arguments]
        times = {"plain": [], "tool": []}
        for _ in range(9):
            for name, command in (("plain", plain), ("tool", tool)):
                began = time.monotonic()
                self.run(*command)
                times[name].append((time.monotonic() - began) * 1e3)
        plain_name = f"ripgrep, {files} files"
        return [Case(plain_name, statistics.median(times["plain"][1:]), "ms"),
                Case("sandbox_search_files", statistics.median(times["tool"][1:]), "ms", plain_name)]

    def stream_cases(self):
        """What a command writes into a pipe of its caller's, beside the same command outside."""
        command = ["head", "-c", str(STREAM_BYTES), "/dev/zero"]
        inside = [str(self.hutch), "exec", AGENT, "--", *command]
        speeds = {"pipe": [], "exec": []}
        for _ in range(5):
            speeds["pipe"].append(self.speed(command))
            speeds["exec"].append(self.speed(inside))
        return [Case("a pipe", statistics.median(speeds["pipe"]), "GB/s"),
                Case("stdout of hutch exec", statistics.median(speeds["exec"]), "GB/s", "a pipe")]

    def speed(self, command):
        began = time.monotonic()
        process = harness.start_in(self.person, command, cwd=self.work, env={"HUTCH_STATE": str(self.state)},
                                   stderr=subprocess.DEVNULL)
        total = 0
        buffer = bytearray(1 << 20)
        while count := os.readv(process.stdout.fileno(), [buffer]):
            total += count
        process.stdin.close()
        if process.wait(600) != 0 or total != STREAM_BYTES:
            sys.exit(f"bench: {command} wrote {total} bytes")
        return total / (time.monotonic() - began) / 1e9


class Container:
    """One that runs, with the program at /floor. Where there is none `words` is empty, and `absent` says why."""

    def __init__(self, floor):
        self.floor, self.words, self.absent, self.image = floor, [], "", ""

    def __enter__(self):
        if shutil.which("docker") is None:
            self.absent = "there is no docker on this machine"
            return self
        try:
            with tempfile.NamedTemporaryFile(suffix=".tar") as archive:
                with tarfile.open(archive.name, "w") as tar:
                    tar.add(self.floor, "floor")
                self.image = self.docker("import", archive.name)
            self.words = [self.docker("run", "--detach", "--interactive", "--network=none", self.image, "/floor",
                                      "sleep")]
        except subprocess.SubprocessError as error:
            said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
            self.absent = f"no engine answers: {said[-1] if said else error}"
        return self

    def __exit__(self, *_):
        for words in [["rm", "--force", *self.words]] * bool(self.words) + [["rmi", self.image]] * bool(self.image):
            subprocess.run(["docker", *words], capture_output=True, check=False)

    @staticmethod
    def docker(*words):
        return subprocess.run(["docker", *words], capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def make_tree(person, tree, files):
    """A hundred files in each directory, of which one in a thousand has what is looked for."""
    line = "int value = compute(argument, other); // nothing of interest here\n"
    for number in range(files):
        directory = pathlib.Path(tree) / f"d{number // 100}"
        if number % 100 == 0:
            directory.mkdir()
        needle = f"needle_{number}\n" if number % 1000 == 0 else ""
        (directory / f"f{number}.c").write_text(line * 10 + needle, encoding="ascii")
    if person.uid is not None:
        subprocess.run(["chown", "-R", f"{person.uid}:{person.uid}", str(tree)], check=True)


if __name__ == "__main__":
    sys.exit(main())
