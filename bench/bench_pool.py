#!/usr/bin/env python3
# What a sandbox of a pool costs: from cold, from warm, and a command in it, beside a plain spawn.
"""usage: ./dev bench pool [--json] [--rounds N] [--backend B]

Every case is timed in turn within one run, by include/hutch/container.h alone. The floor is spawning a static program;
a command is /bin/sh -c true. Where dockerd is installed, and root runs this, one is started for the same with the
backend container, and for what its own client takes. The bar: warm acquire and a command below 3 ms at the median, a
twentieth of `docker exec` and a hundredth of `docker run`.
"""

import argparse
import dataclasses
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import measure
from measure import Case, harness

SPAWN = "spawn a static program"
ENGINE_ROUNDS = 21  # what takes half a second
IMAGE = "hutch-sandbox:latest"
NAMES = {"spawn": SPAWN, "cold": "acquire, cold", "warm": "acquire, warm", "exec": "exec in an acquired one",
         "both": "acquire, warm, and exec"}


def main():
    options = parse()
    base = harness.Base()
    try:
        floor = measure.compile_static("floor.c", base.path / "bin" / "floor")
        built = pathlib.Path(os.environ.get("HUTCH_BIN", measure.ROOT / "build/release/bin"))
        shutil.copy(built / "bench_pool", base.bin / "bench_pool")
        person = base.person("root" if os.geteuid() == 0 else "user")
        cases = pool_cases(base, person, floor, options.backend, options.rounds)
        cases += engine_cases(base, person, floor, options)
    finally:
        base.remove()
    if options.json:
        measure.print_json("pool", cases)
    else:
        measure.print_table(f"pool of {options.backend}: median of {options.rounds} in turn", cases, SPAWN)
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench pool", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=201, help="how often each case is timed")
    parser.add_argument("--backend", default="namespace", help="that the sandboxes have")
    return parser.parse_args()


def engine_cases(base, person, floor, options):
    """None where there is no engine, or no client of it."""
    import engines  # behind measure, which says where it lies
    import host_image
    client = shutil.which("docker")
    if not client:
        return []
    try:
        with engines.running("docker") as engine:
            engine.load(host_image.archive(base.path / "host.tar"), IMAGE)
            rounds = min(options.rounds, ENGINE_ROUNDS)
            docker = [client, "--host", engine.host]
            cases = pool_cases(base, person, floor, "container", rounds, {"DOCKER_HOST": engine.host})
            named = [dataclasses.replace(case, name=f"container: {case.name}") for case in cases[1:]]
            return named + client_cases(docker, rounds)
    except engines.NotHere as why:
        print(f"no engine: {why}", file=sys.stderr)
        return []


def client_cases(docker, rounds):
    name = "hutch-bench"
    made = ["run", "--detach", "--network", "none", "--name", name, IMAGE, "sleep", "1000000"]
    subprocess.run([*docker, *made], check=True, stdout=subprocess.DEVNULL)
    words = {"docker run": ["run", "--rm", "--network", "none", IMAGE, "/bin/sh", "-c", "true"],
             "docker exec": ["exec", name, "/bin/sh", "-c", "true"]}
    times = {case: [] for case in words}
    for _ in range(rounds):
        for case, arguments in words.items():
            began = time.perf_counter()
            subprocess.run([*docker, *arguments], check=True)
            times[case].append((time.perf_counter() - began) * 1e3)
    subprocess.run([*docker, "rm", "--force", name], check=True, stdout=subprocess.DEVNULL)
    return [Case(case, statistics.median(found), "ms", SPAWN) for case, found in times.items()]


def pool_cases(base, person, floor, backend, rounds, environment=None):
    state = person.mkdir(person.home / f"state-{backend}")
    words = [base.bin / "bench_pool", str(rounds), backend, floor]
    ran = harness.run_in(person, words, cwd=person.home, env={"HUTCH_STATE": str(state), **(environment or {})},
                         timeout=1800)
    if ran.code != 0:
        sys.exit(f"bench: {ran}")
    times = {name: [] for name in NAMES}
    begun = False
    for line in ran.text.splitlines():
        name, nanoseconds = line.split("\t")
        begun = begun or name == "begin"
        if begun and name in times:
            times[name].append(int(nanoseconds) / 1e6)
    return [Case(NAMES[name], statistics.median(found), "ms", "" if name == "spawn" else SPAWN)
            for name, found in times.items()]


if __name__ == "__main__":
    sys.exit(main())
